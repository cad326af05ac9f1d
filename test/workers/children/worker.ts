/**
 * A worker process of a test: node worker.ts <orders>. It works until it is told to go; with an ordeal it freezes (SIGSTOP),
 * blocks its event loop or dies, exactly where it is told to.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { note } from "../../../scripts/processes/notes.ts";
import type { EntryBody } from "../../../src/domain/entry.ts";
import type { Commit } from "../../../src/ports/store.ts";
import { postgres } from "../../../src/postgres.ts";
import { runWorker } from "../../../src/run-worker.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { type Intercept, interceptStore } from "../../../src/testing/intercept.ts";
import { createClerk, type PlannedCall } from "../clerk.ts";
import type { Ordeal, Orders, StoreCall, WorkerNews } from "../orders.ts";

const orders = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Orders;
const { folder, store, world, calls, timeoutMs, ordeal, tools } = orders;
let isOver = false;

function suffer(at: Ordeal["at"], call?: PlannedCall): void {
  if (!ordeal || ordeal.at !== at || ordeal.tag !== call?.tag) return;
  if (ordeal.tag === undefined && !isFirst()) return;
  note(calls, { method: ordeal.kind });
  if (ordeal.kind === "die") process.kill(process.pid, "SIGKILL");
  if (ordeal.kind === "freeze") process.kill(process.pid, "SIGSTOP");
  else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ordeal.ms);
  isOver = true;
}

/** Only one process can make the file. */
function isFirst(): boolean {
  try {
    writeFileSync(join(folder, "ordeal"), "", { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

const isToolIntent = (entry: EntryBody): boolean => entry.type === "effect-intended" && entry.kind === "tool";
const isToolResult = (entry: EntryBody): boolean =>
  entry.type === "message-appended" && entry.body.kind === "here" && entry.body.message.role === "tool";

const intercept: Intercept = async ({ method, args }, proceed) => {
  if (!["commit", "release", "renew"].includes(method)) return proceed();
  const { run, epoch, entries = [] } = args[0] as Commit;
  if (entries.some(isToolResult)) suffer("before-settlement");
  const isLate = isOver; // an answer from before the ordeal may be told after it
  const answer = await proceed();
  note(calls, { method, run, epoch, isLate, answer: (answer as { kind: string }).kind } satisfies StoreCall);
  if (entries.some(isToolIntent)) suffer("after-intent");
  return answer;
};

const real = "path" in store ? sqlite(store.path, { durability: "normal" }) : postgres(store);
const clerk = createClerk({
  world,
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
  ...(tools === undefined ? {} : { tools }),
  inTool: (call) => suffer("in-tool", call),
});
const { leaseMs, pollMs = 100, concurrency = 256, closeGraceMs = 5_000 } = orders;
await runWorker({
  agents: [clerk],
  store: { ...real, open: async (deps) => interceptStore(await real.open(deps), intercept) },
  logger: { warn: () => undefined, note: (message) => process.send?.({ kind: "said", message } satisfies WorkerNews) },
  ...{ leaseMs, pollMs, concurrency, closeGraceMs },
});
