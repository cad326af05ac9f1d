/** The server that all test files of one run share: says its URL, and goes when the process that asked for it has gone. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createTestServer } from "./embedded.ts";

const [owner, file] = process.argv.slice(2);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const server = await createTestServer();
writeFileSync(`${file}.new`, server.url);
renameSync(`${file}.new`, file!);
while (isAlive(Number(owner))) await delay(300);
await server.remove();
rmSync(dirname(file!), { recursive: true, force: true });
process.exit(0);
