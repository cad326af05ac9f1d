/** Delegation in one process: a call of a delegate is a run of its own. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, delegate, policy, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { above, helper, look, pay, resultOf, runsOf, tasks } from "./family.ts";

test("LB-030 the child's second text is the result, neither its tool's message nor its first text", async () => {
  const child = helper({ text: "first", calls: [{ tool: "look" }] }, "second");
  const lead = above(child);
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "done" });
  expect(await resultOf(t, `${run.id}.1.0`)).toEqual({ kind: "value", value: "second" });
  const [, below] = await runsOf(t);
  expect(await t.runtime.runs.get(below?.run as string).result()).toMatchObject({ outcome: "completed", steps: 2 });
});

test("LB-017 a child is a subagent: it has its parent's run, thread and call, a thread of its own, and the root", async () => {
  const lead = above(helper("ok"));
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go", { thread: "talk" });
  await run.result();
  const { items } = await t.runtime.runs.list({ parent: run.id });
  expect(items).toMatchObject([{ agent: "helper", parent: run.id, run: `${run.id}.1.0.run` }]);
  const status = await t.runtime.runs.get(items[0]?.run as string).status();
  expect(status).toMatchObject({
    ...{ parentRun: run.id, parentThread: "talk", parentCall: `${run.id}.1.0`, rootRun: run.id },
    ...{ origin: "subagent", agent: "helper", thread: `${run.id}.1.0.thread` },
  });
  const threads = await t.runtime.threads.list({ parent: "talk" });
  expect(threads.items.map(({ id }) => id)).toEqual([status.thread]);
});

test("LB-012 a child sees nothing of its parent's thread but its task", async () => {
  const seen: string[] = [];
  const child = helper(({ messages }) => {
    seen.push(JSON.stringify(messages));
    return "ok";
  });
  const lead = above(child);
  await using t = await testRuntime({ agents: [lead] });
  await t.runtime.run(lead, "A secret of the parent");
  expect(seen).toHaveLength(1);
  expect(seen[0]).toContain("for helper");
  expect(seen[0]).not.toContain("secret");
});

test("a typed input is checked before the gate, and a typed output is the result's value", async () => {
  const child = agent({
    name: "adder",
    model: scripted(['{"sum":3}']),
    instructions: "Add.",
    output: z.object({ sum: z.number() }),
  });
  const bad = { calls: [{ tool: "adder", input: { a: "one" } }] };
  const good = { calls: [{ tool: "adder", input: { a: 1, b: 2 } }] };
  const lead = agent({
    name: "lead",
    model: scripted([bad, good, "done"]),
    instructions: "Ask.",
    delegates: [delegate(child, { input: z.object({ a: z.number(), b: z.number() }) })],
  });
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  await run.result();
  expect(await resultOf(t, `${run.id}.1.0`)).toMatchObject({ kind: "error", code: "invalid-input" });
  expect(await resultOf(t, `${run.id}.2.0`)).toEqual({ kind: "value", value: { sum: 3 } });
  expect(await runsOf(t)).toHaveLength(2);
});

test("C5 a child that fails gives an error with its reason, and the parent goes on", async () => {
  const child = helper({ error: "model-not-found", message: "no such model" });
  const lead = above(child);
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  expect(await resultOf(t, `${run.id}.1.0`)).toMatchObject({
    kind: "error",
    code: "delegate-failed",
    message: "helper failed: no such model",
  });
});

test("children of one step run side by side, with tools beside them, and each call has its own", async () => {
  const child = helper("ok");
  const lead = above(child, { answers: [tasks("helper", "helper", "helper"), "done"] });
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  await run.result();
  const runs = await runsOf(t);
  expect(runs.slice(1).map((each) => each.run)).toEqual([0, 1, 2].map((n) => `${run.id}.1.${n}.run`));
});

test("a delegate of a delegate: three levels, one root", async () => {
  const lead = above(above(helper("deep"), { name: "middle" }));
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  const runs = await runsOf(t);
  expect(runs.map((each) => each.agent)).toEqual(["lead", "middle", "helper"]);
  expect(await t.runtime.runs.get(runs[2]?.run as string).status()).toMatchObject({
    rootRun: run.id,
    parentRun: runs[1]?.run,
  });
});

test("beyond its depth a call is refused as a result, and the parent is intact", async () => {
  const seven = Array.from({ length: 9 }, (_, n) => `level-${n}`);
  let last = helper("deep");
  for (const name of seven) last = above(last, { name });
  await using t = await testRuntime({ agents: [last] });
  const run = await t.runtime.start(last, "Go");
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  const runs = await runsOf(t);
  expect(runs).toHaveLength(9); // the root and eight levels
  expect(runs.map(({ agent }) => agent)).not.toContain("helper");
});

test("beyond the number of children a call is refused, and the model reads why", async () => {
  const lead = agent({
    name: "lead",
    model: scripted([tasks("helper", "helper", "helper"), "done"]),
    instructions: "Delegate.",
    delegates: [delegate(helper("ok"))],
    budget: { children: 2 },
  });
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  await run.result();
  expect(await runsOf(t)).toHaveLength(3);
  expect(await resultOf(t, `${run.id}.1.2`)).toMatchObject({ kind: "error", code: "not-run" });
});

test("G1 the parent's policy holds for the child, before the child's own", async () => {
  const house = policy({
    name: "house",
    "tool-call": ({ call }) => (call.tool === "pay" ? { deny: "no payments" } : "allow"),
  });
  const child = helper({ calls: [{ tool: "pay", input: { to: "Ada" } }] }, "ok");
  const lead = agent({
    name: "lead",
    model: scripted([tasks("helper"), "done"]),
    instructions: "Delegate.",
    policy: house,
    delegates: [delegate(child)],
  });
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  await run.result();
  expect(t.effects(pay)).toEqual([]);
  const [, below] = await runsOf(t);
  expect(await resultOf(t, `${below?.run}.1.0`)).toMatchObject({ code: "denied" });
});

test("G1 a delegate that may only read has pure tools only, and neither has what it delegates to", async () => {
  const act = tool({ name: "act", description: "Act", input: z.object({}), execute: () => "acted" });
  const deep = agent({
    name: "deep",
    model: scripted([{ calls: [{ tool: "act" }] }, "ok"]),
    instructions: "Act.",
    tools: [act, look],
  });
  const lead = above(above(deep, { name: "middle" }), { options: { readOnly: true } });
  await using t = await testRuntime({ agents: [lead] });
  await t.runtime.run(lead, "Go");
  expect(t.effects(act)).toEqual([]);
  const [, , below] = await runsOf(t);
  const { declared } = await t.runtime.runs.manifest(below?.run as string);
  expect(declared.tools.map(({ name }) => name)).toEqual(["look"]);
  expect(declared.under).toEqual(["lead/middle", "middle/deep"]);
});

test("an ephemeral child is dropped, with all below it, once its parent has the result", async () => {
  const lead = above(above(helper("deep"), { name: "middle" }), { options: { ephemeral: true } });
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  await t.settle();
  await t.advance("10s");
  expect(await runsOf(t)).toEqual([{ agent: "lead", run: run.id }]);
  expect(await resultOf(t, `${run.id}.1.0`)).toEqual({ kind: "value", value: "done" });
});

test("what cannot be a delegate is refused by name", () => {
  const child = helper("ok");
  const make = (delegates: unknown) => () =>
    agent({ name: "lead", model: scripted(["x"]), instructions: "", delegates: delegates as never });
  expect(make([child])).toThrow(/delegates\[0\]: must come from delegate/);
  expect(make([delegate(child), delegate(child)])).toThrow(/the name helper is used twice/);
  expect(() => delegate(child, { background: 1 as never })).toThrow(/background: must be true or false/);
  const withContext = agent({
    name: "c",
    model: scripted(["x"]),
    instructions: "",
    context: z.object({ a: z.string() }),
  });
  expect(() => delegate(withContext as never)).toThrow(/takes a context/);
  const priced = { description: { prices: { inputPerMillion: 1, outputPerMillion: 1 } } };
  const inDollars = () =>
    agent({
      name: "l",
      model: scripted(["x"], priced),
      instructions: "",
      budget: { usd: 1 },
      delegates: [delegate(child)],
    });
  expect(inDollars).toThrow(/the model of helper has no prices/);
});
