/**
 * Root, local child, remote agent, gated tool: two workers of ours and the remote are killed, each by itself and all together,
 * while a person is asked; the answer is given at the root, and the remote's own log has its tool once.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createRuntime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { expect, it, onTestFinished } from "vitest";
import { lead } from "./tree.ts";
import { type Far, openFar, until } from "./world.ts";

interface Worker {
  readonly child: ChildProcess;
  readonly said: string;
}

async function work(far: Far, what: "start" | "help"): Promise<Worker> {
  const script = join(import.meta.dirname, "children", "tree-worker.ts");
  const args = ["--no-warnings", "--conditions=holdfast-source", script, join(far.folder, "runs.db"), far.url, what];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, said: line.toString().trim() };
}

async function kill({ child }: Worker): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

const combinations = {
  "the first worker": ["first"],
  "the second worker": ["second"],
  "the remote": ["remote"],
  "all of them": ["first", "second", "remote"],
};
const all = Object.entries(combinations);
const chosen = process.env.HOLDFAST_A2A_CUTS === "all" ? all : all.slice(-1);

it.each(chosen)("%s killed while a person is asked: the tool runs once", async (_name, dead) => {
  const far = await openFar();
  const first = await work(far, "start");
  const second = await work(far, "help");
  await using desk = await createRuntime({ store: sqlite(join(far.folder, "runs.db")), pollMs: 50 }); // it never executes
  const run = desk.runs.get(first.said as never);
  const asked = async () => (await desk.tickets.list({ root: run.id, kind: "input", status: "open" }))[0];
  let ticket = await asked();
  while (ticket === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    ticket = await asked();
  }
  if (dead.includes("remote")) await far.kill();
  if (dead.includes("first")) await kill(first);
  if (dead.includes("second")) await kill(second);

  expect(ticket).toMatchObject({ agent: "far", prompt: "May I refund it?", rootRun: run.id });
  expect(ticket.path?.map(({ agent, delegate }) => `${agent} → ${delegate}`)).toEqual([
    "lead → middle",
    "middle → far",
  ]);
  await ticket.answer("yes", { by: "ana@example.com" });

  if (dead.includes("remote")) await far.restart();
  if (dead.includes("first") && dead.includes("second")) await work(far, "help");
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "lead is done" });
  expect([far.count("refund ran"), far.count("task"), far.count("message")]).toEqual([1, 1, 2]);
});

it.each(["refund order 42", "slow 60000"])(
  "a cancel at the root while the remote is at %s reaches it; the second gives the same receipt",
  async (task) => {
    const far = await openFar();
    const agent = lead(far.url, task);
    await using runtime = await createRuntime({ agents: [agent] });
    const run = await runtime.start(agent, "Go");
    if (task.startsWith("slow")) await until(() => far.count("task") === 1);
    else await run.idle();
    const receipt = await (await run.cancel({ by: "ana@example.com" })).receipt();
    expect(await run.result()).toMatchObject({ outcome: "cancelled" });
    expect(JSON.stringify(receipt)).toContain('"stopped"');
    expect(await (await run.cancel({ by: "bob@example.com" })).receipt()).toEqual(receipt);
    await until(() => far.count("cancel") === 1);
    expect(await runtime.tickets.list({ root: run.id, status: "open" })).toEqual([]);
  },
);
