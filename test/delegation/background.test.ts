/** Background tasks in one process: the run goes on beside them, and is told what became of each. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Agent, agent, delegate, memory, type StoreDefinition } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { type ScriptedAnswer, scripted, type TestRuntime, testRuntime } from "../../src/testing.ts";
import { above, helper, look, resultOf, runsOf, tasks } from "./family.ts";

const stores: Readonly<Record<string, () => StoreDefinition>> = {
  memory,
  sqlite: () => sqlite(join(mkdtempSync(join(tmpdir(), "holdfast-background-")), "runs.db")),
};

/** Waits for a person before it says what it has found. */
const patient = (): Agent => helper({ calls: [{ tool: "pay", input: { to: "ana" } }] }, "found");

function lead(child: Agent, ...answers: readonly ScriptedAnswer[]): Agent {
  return above(child, { answers, options: { background: true } });
}

/** Every message of the run's thread, in short. */
async function said({ runtime }: TestRuntime, run: string): Promise<readonly string[]> {
  const { thread } = await runtime.runs.get(run).status();
  const { items } = await runtime.threads.messages(thread, { limit: 1_000 });
  return items
    .toReversed()
    .map(({ message: { role, parts } }) =>
      parts.map((part) => (part.type === "text" ? `${role}: ${part.text}` : `${role}: ${part.type}`)).join(" "),
    );
}

function told(call: string, more: object): string {
  return `user: ${JSON.stringify({ background: "helper", task: `${call}.run`, ...more })}`;
}

async function approve({ runtime }: TestRuntime): Promise<void> {
  const [ticket] = await runtime.tickets.list({ kind: "approval", status: "open" });
  if (ticket?.kind === "approval") await ticket.approve();
}

test.each(Object.entries(stores))(
  "BT2 BT3 XA-29 a handle at once, a wait with only background work left, and one message, over a kill, on %s",
  async (_name, store) => {
    const boss = lead(patient(), tasks("helper"), "I wait", "done");
    await using t = await testRuntime({ agents: [boss], store: store() });
    const { id } = await t.runtime.start(boss, "Go");
    const call = `${id}.1.0`;
    await t.settle();
    expect(await resultOf(t, call)).toEqual({ kind: "value", value: { task: `${call}.run`, status: "running" } });
    expect(await t.runtime.runs.get(id).status()).toMatchObject({ status: "waiting", steps: 2 });
    expect(await t.runtime.tickets.list({ run: id, status: "open" })).toMatchObject([
      { kind: "background", child: { run: `${call}.run`, agent: "helper" } },
    ]);
    expect(await t.runtime.runs.get(id).tasks()).toMatchObject([{ id: `${call}.run`, call, status: "running" }]);
    await t.restart();
    await approve(t);
    expect(await t.runtime.runs.get(id).result()).toMatchObject({ outcome: "completed", output: "done" });
    expect(await said(t, id)).toEqual([
      ...["user: Go", "assistant: tool-call", "tool: tool-result", "assistant: I wait"],
      told(call, { status: "completed", result: "found" }),
      "assistant: done",
    ]);
    expect(await t.runtime.runs.get(id).tasks()).toMatchObject([{ status: "completed", output: "found" }]);
  },
);

test("two tasks and a tool beside them: what ends first is told first, and each once", async () => {
  const boss = agent({
    name: "lead",
    model: scripted([tasks("helper", "slow"), { calls: [{ tool: "look" }] }, "I wait", "still", "done"]),
    instructions: "Delegate.",
    tools: [look],
    delegates: [
      delegate(helper("quick"), { background: true }),
      delegate(patient(), { name: "slow", background: true }),
    ],
  });
  await using t = await testRuntime({ agents: [boss] });
  const run = await t.runtime.start(boss, "Go");
  await t.settle();
  expect((await run.tasks()).map(({ status }) => status)).toEqual(["completed", "running"]);
  await approve(t);
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  const ends = (await said(t, run.id)).filter((text) => text.includes('"background"'));
  expect(ends.map((text) => /"task":"[^"]*\.(\d\.\d)\.run"/.exec(text)?.[1])).toEqual(["1.0", "1.1"]);
});

test("a message to the run while only a task is left is answered before the task has ended", async () => {
  const boss = lead(patient(), tasks("helper"), "I wait", "not yet", "done");
  await using t = await testRuntime({ agents: [boss] });
  const run = await t.runtime.start(boss, "Go");
  await t.settle();
  await run.send("Well?");
  await t.settle();
  expect((await said(t, run.id)).slice(-2)).toEqual(["user: Well?", "assistant: not yet"]);
  expect(await run.status()).toMatchObject({ status: "waiting" });
  await approve(t);
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "done" });
});

test("a task that is cancelled by its id is told as cancelled, and the run goes on", async () => {
  const boss = lead(patient(), tasks("helper"), "I wait", "done");
  await using t = await testRuntime({ agents: [boss] });
  const run = await t.runtime.start(boss, "Go");
  await t.settle();
  const [task] = await run.tasks();
  await t.runtime.runs.get(task?.id as string).cancel({ reason: "too slow" });
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "done" });
  expect(await run.tasks()).toMatchObject([{ status: "cancelled", error: "helper was cancelled: too slow" }]);
  expect((await said(t, run.id)).at(-2)).toBe(
    told(`${run.id}.1.0`, { status: "cancelled", error: "helper was cancelled: too slow" }),
  );
});

test("BT1 C7 the parent's cancel reaches its tasks: each has ended, is told once, and no ticket is left", async () => {
  const boss = lead(patient(), tasks("helper"), "I wait", "done");
  await using t = await testRuntime({ agents: [boss] });
  const run = await t.runtime.start(boss, "Go");
  await t.settle();
  const cancelled = await run.cancel();
  expect(await cancelled.receipt()).toMatchObject({
    outcome: "cancelled",
    descendants: [{ agent: "helper", how: "stopped" }],
  });
  const [, below] = await runsOf(t);
  expect(await t.runtime.runs.get(below?.run as string).status()).toMatchObject({ outcome: { kind: "cancelled" } });
  expect(await t.runtime.tickets.list({ status: "open" })).toEqual([]);
  expect((await said(t, run.id)).filter((text) => text.includes('"background"'))).toHaveLength(1);
});

test("BT3 a run that fails ends its tasks", async () => {
  const boss = lead(patient(), tasks("helper"), { error: "model-not-found", message: "no such model" });
  await using t = await testRuntime({ agents: [boss] });
  const run = await t.runtime.start(boss, "Go");
  await t.settle();
  await t.advance("1m");
  expect(await run.result()).toMatchObject({ outcome: "failed" });
  expect(await run.tasks()).toMatchObject([{ status: "cancelled" }]);
  expect(await t.runtime.tickets.list({ status: "open" })).toEqual([]);
});

const usage = { inputTokens: 100, outputTokens: 10 };

function metered(budget: { readonly tokens?: number }, ...texts: readonly string[]): Agent {
  const child = agent({ name: "helper", model: scripted([{ text: "found", usage }]), instructions: "Help." });
  const answers = [{ ...(tasks("helper") as object), usage }, ...texts.map((text) => ({ text, usage }))];
  return agent({
    name: "lead",
    model: scripted(answers as readonly ScriptedAnswer[]),
    instructions: "Delegate.",
    budget: { tokens: 60_000 },
    delegates: [delegate(child, { background: true, budget })],
  });
}

test("BT4 a step that cannot be paid for waits for what the task gives back", async () => {
  const boss = metered({ tokens: 59_880 }, "done");
  await using t = await testRuntime({ agents: [boss] });
  const run = await t.runtime.start(boss, "Go");
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "done", steps: 2 });
  expect((await said(t, run.id)).at(-2)).toBe(told(`${run.id}.1.0`, { status: "completed", result: "found" }));
});

test("BT1 a task without a limit of its own takes a part of the budget, and the run goes on beside it", async () => {
  const boss = metered({}, "I wait", "done");
  await using t = await testRuntime({ agents: [boss] });
  const run = await t.runtime.start(boss, "Go");
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "done" });
  const { spent } = await run.status();
  expect(spent?.tokens).toBe(440); // three calls of its own and one of its task
});

test("an ephemeral task is gone once its end was told", async () => {
  const boss = above(helper("found"), {
    answers: [tasks("helper"), "I wait", "done"],
    options: { background: true, ephemeral: true },
  });
  await using t = await testRuntime({ agents: [boss] });
  const run = await t.runtime.start(boss, "Go");
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  await t.advance("10s");
  expect(await runsOf(t)).toEqual([{ agent: "lead", run: run.id }]);
});
