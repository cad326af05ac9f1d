/** kill -9 of our own process in the middle of a call: the outcome is unknown, and nobody calls again. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime } from "holdfast";
import type { McpServerOptions } from "holdfast/mcp";
import { sqlite } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { secretary } from "./secretary.ts";
import { kinds, script, startHttp, until } from "./world.ts";

// One of each way by default; HOLDFAST_MCP_KILLED=all has every server that the other tests have.
const killed = process.env.HOLDFAST_MCP_KILLED === "all" ? kinds : (["stdio-now", "http-before"] as const);

test.each(killed)("%s: the server's own log shows one call", async (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
  const logFile = join(folder, "log");
  const file = join(folder, "runs.db");
  const count = (line: string): number =>
    existsSync(logFile)
      ? readFileSync(logFile, "utf8")
          .split("\n")
          .filter((each) => each === line).length
      : 0;
  const where = await whereOf(kind, logFile);

  const caller = join(import.meta.dirname, "children/caller.ts");
  const args = ["--conditions=holdfast-source", caller, file, JSON.stringify(where)];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  await until(() => count("work begun") === 1, "the call is with the server");
  child.kill("SIGKILL");
  await once(child, "exit");

  const { agent, server } = await secretary(where);
  await using runtime = await createRuntime({ agents: [agent], store: sqlite(file), leaseMs: 400 });
  onTestFinished(() => server.close());
  const run = await runtime.start(agent, "Work", { key: "work-1" });
  await run.idle();
  const [ticket] = await runtime.tickets.list({ status: "open" });
  if (ticket?.kind !== "unknown-outcome") throw new Error(`The run waits for ${ticket?.kind ?? "nothing"}`);
  await sleep(Math.max(0, (ticket.decidableFrom ?? 0) - Date.now()) + 20);
  await ticket.markDone("500 steps", { by: "ana@example.com" });
  expect(await run.output()).toBe("It is done.");
  expect(count("work begun")).toBe(1);
});

async function whereOf(kind: string, logFile: string): Promise<Pick<McpServerOptions, "stdio" | "http">> {
  const env = { LOG_FILE: logFile };
  if (kind.startsWith("stdio")) return { stdio: { command: process.execPath, args: [script(kind)], env } };
  const { child, port } = await startHttp(kind, env);
  onTestFinished(() => void child.kill("SIGKILL"));
  return { http: { url: `http://127.0.0.1:${port}/mcp` } };
}
