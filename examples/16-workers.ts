// Two worker processes and a front desk on one store. One worker is told to go in the middle; the other takes over at once.
// expect: 6 of 6 orders checked, 0 left
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, createRuntime, runWorker, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const file = process.argv[2] ?? join(mkdtempSync(join(tmpdir(), "holdfast-workers-")), "runs.db");
const isWorker = process.argv[2] !== undefined;

// #region agent
const checkOrder = tool({
  name: "check-order",
  description: "Check an order",
  input: z.object({}),
  effect: "pure",
  execute: () => sleep(150, "in stock"),
});

const checker = agent({
  name: "checker",
  model: scripted([{ calls: [{ tool: "check-order", input: {} }] }, "Checked."]),
  instructions: "Check orders.",
  tools: [checkOrder],
});
// #endregion agent

if (isWorker) {
  // #region worker
  await runWorker({
    store: sqlite(file),
    agents: [checker],
    concurrency: 2, // runs in hand at once
    pollMs: 50, // how soon the work of other processes is found
    logger: { warn: console.error, note: () => undefined },
  });
  // #endregion worker
} else {
  await frontDesk();
}

async function frontDesk(): Promise<void> {
  // #region desk
  await using desk = await createRuntime({ store: sqlite(file) }); // no agents: it starts, watches and answers
  const orders = ["1", "2", "3", "4", "5", "6"];
  const runs = await Promise.all(
    orders.map((order) => desk.start(checker, `Order ${order}`, { key: `order-${order}` })),
  );
  // #endregion desk
  const workers = [startWorker(), startWorker()];
  await Promise.race(runs.map((run) => run.result()));
  workers[0]?.kill("SIGTERM"); // a deploy: it hands its runs over and ends

  const said = await Promise.all(runs.map((run) => run.output()));
  const { queueDepth } = await desk.metrics();
  console.log(
    `${said.filter((text) => text === "Checked.").length} of ${orders.length} orders checked, ${queueDepth} left`,
  );
  workers[1]?.kill("SIGTERM");
}

function startWorker(): ChildProcess {
  return spawn(process.execPath, [...process.execArgv, import.meta.filename, file], { stdio: "inherit" });
}
