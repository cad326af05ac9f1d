/** Real processes on one SQLite file: the one that works and serves is killed by SIGKILL in the middle of a message. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { createRuntime } from "../../src/index.ts";
import type { WatchEvent } from "../../src/runtime/runtime.ts";
import { sqlite } from "../../src/sqlite.ts";
import { saidBy, slowTeller } from "./children/slow-teller.ts";
import { type Client, durable, follow, newClient, take, transcript } from "./client.ts";

const kills = 4;

/** Serves the client until it has seen this many pieces of the message, then dies; or until the run is over. */
async function serve(client: Client, args: readonly string[], pieces: number): Promise<"killed" | "over"> {
  const script = new URL("children/serve-frames.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, ...args, client.cursor ?? ""], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const frame = parse(line);
    if (!frame) break; // cut in the middle of a line
    take(client, frame);
    if (frame.type === "text-delta") seen += 1;
    if (seen === pieces) child.kill("SIGKILL");
  }
  await closed;
  return child.signalCode === "SIGKILL" ? "killed" : "over";
}

function parse(line: string): WatchEvent | undefined {
  try {
    return JSON.parse(line) as WatchEvent;
  } catch {
    return undefined;
  }
}

test(`a process killed by SIGKILL ${kills} times: who polls the file and who reconnects fold the same transcript`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-watch-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "runs.db");
  const logger = { warn: () => undefined, note: () => undefined };
  await using desk = await createRuntime({ store: sqlite(path, { durability: "normal" }), logger });
  const run = await desk.start(slowTeller, "Go", { thread: "t" });
  const [near, far] = [newClient(), newClient()];
  const watching = follow(far, run.watch());
  for (let killed = 0; killed < kills; killed += 1)
    expect(await serve(near, [path, run.id], 2 + killed * 3)).toBe("killed");
  expect(await serve(near, [path, run.id], Number.POSITIVE_INFINITY)).toBe("over");
  expect(await watching).toBe("over");

  const { items } = await desk.threads.messages("t", { order: "oldest" });
  const stored = items.map(({ message }) => message);
  for (const client of [near, far]) {
    expect(durable(client.frames).map(({ seq }) => seq)).toEqual(durable(far.frames).map((_, index) => index + 1));
    expect(JSON.stringify(transcript(client.frames))).toBe(JSON.stringify(stored));
    expect(client.screen.size).toBe(0);
  }
  const retracted = near.frames.filter((frame) => frame.type === "message-retracted").map(({ attempt }) => attempt);
  expect(retracted).toEqual([1, 2, 3, 4]);
  expect(stored.at(-1)?.parts).toEqual([{ type: "text", text: saidBy(kills + 1) }]);
});
