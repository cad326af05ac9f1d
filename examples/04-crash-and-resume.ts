// A process is killed after the effect and before that could be written down. Another process finishes the run.
// expect: 2 attempts, 1 refund
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, createRuntime, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { z } from "zod";

// The same program twice: without an argument it is the parent, with a folder it is the process that dies.
const isVictim = process.argv[2] !== undefined;
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "holdfast-crash-"));

// #region receiver
/** Stands for a payment provider: files outside our store. It takes every request and ignores a key that it has seen. */
function receive(key: string, order: string): void {
  const isNew = !lines("refunds.log").some((line) => line.startsWith(key));
  appendFileSync(join(folder, "requests.log"), `${key} ${order}\n`);
  if (isNew) appendFileSync(join(folder, "refunds.log"), `${key} ${order}\n`);
}
// #endregion receiver

// #region tool
const refund = tool({
  name: "refund",
  description: "Refund an order",
  input: z.object({ order: z.string() }),
  effect: "idempotent",
  execute: ({ order }, { idempotencyKey, attempt }) => {
    receive(idempotencyKey, order);
    console.log(`process ${process.pid}: attempt ${attempt}, refunded order ${order}`);
    if (isVictim) process.kill(process.pid, "SIGKILL"); // the refund is made, and nobody here will ever say so
    return { refunded: order };
  },
});
// #endregion tool

const support = agent({
  name: "support",
  model: scripted([{ calls: [{ tool: "refund", input: { order: "42" } }] }, "Refunded."]),
  instructions: "Resolve refund requests politely.",
  tools: [refund],
});

// #region processes
if (!isVictim) {
  const { signal } = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, folder], {
    stdio: "inherit",
  });
  console.log(`the first process ended by ${signal}`);
}

// Both processes say the same. A short lease, so that we do not wait 30 s for the dead owner's to run out.
await using runtime = await createRuntime({ agents: [support], store: sqlite(join(folder, "runs.db")), leaseMs: 300 });
const run = await runtime.start(support, "Refund order 42", { key: "ticket-981" }); // same key, same run
console.log(`process ${process.pid}: ${await run.output()}`);
// #endregion processes

console.log(`${lines("requests.log").length} attempts, ${lines("refunds.log").length} refund`);

function lines(name: string): string[] {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
}
