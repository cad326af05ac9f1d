/** kill -9 of our process, of the remote, and of both, at several moments: one task, one message each, the tool once. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createRuntime, type Runtime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { expect, it, onTestFinished } from "vitest";
import { farAgent } from "./turn.ts";
import { type Far, openFar, until } from "./world.ts";

/** HOLDFAST_A2A_CUTS=all kills each side by itself too, and at every moment of a run. */
const campaign = process.env.HOLDFAST_A2A_CUTS === "all";

interface Begun {
  readonly child: ChildProcess;
  readonly file: string;
  /** Lines that it has written. */
  lines(): readonly string[];
}

function begin(far: Far, input: string): Begun {
  const file = join(far.folder, "runs.db");
  const worker = join(import.meta.dirname, "children", "worker.ts");
  const args = ["--no-warnings", "--conditions=holdfast-source", worker, file, far.url, input];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  return { child, file, lines: () => text.split("\n") };
}

async function kill({ child }: Begun): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** The same run, in this process. */
async function resume(far: Far, { file }: Begun): Promise<Runtime> {
  return createRuntime({ agents: [farAgent(far.url)], store: sqlite(file), leaseMs: 400, pollMs: 50 });
}

/** Each message once, and each that began a task began one. */
function expectOnce(far: Far): void {
  const messages = far
    .log()
    .filter((line) => line.startsWith("message"))
    .map((line) => line.split(" ")[1]);
  const tasks = far
    .log()
    .filter((line) => line.startsWith("task"))
    .map((line) => line.split(" ")[2]);
  expect(messages).toEqual([...new Set(messages)]);
  expect(tasks).toEqual([...new Set(tasks)]);
}

it("our process dies while the remote works: the run goes on with the same task", async () => {
  const far = await openFar();
  const begun = begin(far, "slow 800");
  await until(() => far.count("task") === 1);
  await new Promise((resolve) => setTimeout(resolve, 150)); // the id is durable, or it is found by ours: both are right
  await kill(begun);
  await using runtime = await resume(far, begun);
  const run = await runtime.start("far", "slow 800", { key: "k-1" });
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "slowly done" });
  expectOnce(far);
});

it.each(campaign ? ["ours", "theirs", "both"] : ["both"])(
  "%s dies while a person is asked: the answer goes to the same task, the tool runs once",
  async (who) => {
    const far = await openFar();
    const begun = begin(far, "refund order 42");
    await until(() => begun.lines().includes("idle"));
    if (who !== "ours") await far.kill();
    if (who !== "theirs") await kill(begun);
    await using runtime = await resume(far, begun);
    const [ticket] = await runtime.tickets.list({ kind: "input", status: "open" });
    expect(ticket?.prompt).toBe("May I refund it?");
    await ticket?.answer("yes", { by: "ana@example.com" });
    if (who !== "ours") await far.restart();
    const run = await runtime.start("far", "refund order 42", { key: "k-1" });
    expect(await run.result()).toMatchObject({ outcome: "completed", output: "refunded" });
    expect([far.count("refund ran"), far.count("task")]).toEqual([1, 1]);
    expectOnce(far);
  },
);

it("our process dies between the request to cancel and the cancel: the remote is told by the next", async () => {
  const far = await openFar();
  const begun = begin(far, "slow 60000");
  await until(() => far.count("task") === 1);
  await new Promise((resolve) => setTimeout(resolve, 150));
  await kill(begun);
  const desk = await createRuntime({ store: sqlite(begun.file) }); // it never executes
  await desk.runs.get(begun.lines()[0] as never).cancel({ reason: "enough" });
  await desk.close();
  expect(far.count("cancel")).toBe(0);
  await using runtime = await resume(far, begun);
  const run = await runtime.start("far", "slow 60000", { key: "k-1" });
  expect(await run.result()).toMatchObject({ outcome: "cancelled" });
  await until(() => far.count("cancel") === 1);
  expectOnce(far);
});

const moments = [
  "run-created",
  "run-started",
  "step-started",
  "effect-intended",
  "state-changed",
  "effect-settled",
  "run-ended",
];
const cuts = campaign ? moments : ["effect-intended", "state-changed"];

it.each(cuts)(
  "killed when %s is told: one message and one task at most, and unknown only where no task was named",
  async (moment) => {
    const far = await openFar();
    const begun = begin(far, "slow 150");
    await until(() => begun.lines().includes(moment));
    await kill(begun);
    await using runtime = await resume(far, begun);
    const run = await runtime.start("far", "slow 150", { key: "k-1" });
    const idle = await run.idle();
    expectOnce(far);
    expect(far.count("task")).toBeLessThanOrEqual(1);
    if (idle.status === "done")
      return expect(idle.result).toMatchObject({ outcome: "completed", output: "slowly done" });
    expect(idle.tickets.map(({ kind }) => kind)).toEqual(["unknown-outcome"]);
    expect(begun.lines()).not.toContain("state-changed"); // its task was never seen
    expect(far.count("message")).toBe(0); // and it is not there: what is there is found
  },
);
