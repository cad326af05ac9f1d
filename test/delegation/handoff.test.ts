/** Handoff in one process: the same run goes on as another agent, until that one hands it back. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import {
  type Agent,
  agent,
  createRuntime,
  delegate,
  memory,
  plugin,
  policy,
  type StoreDefinition,
  tool,
} from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { sqlite } from "../../src/sqlite.ts";
import { type ScriptedAnswer, scripted, type TestRuntime, testRuntime } from "../../src/testing.ts";
import { pay, resultOf } from "./family.ts";

const stores: Readonly<Record<string, () => StoreDefinition>> = {
  memory,
  sqlite: () => sqlite(join(mkdtempSync(join(tmpdir(), "holdfast-handoff-")), "runs.db")),
};

const over: ScriptedAnswer = { calls: [{ tool: "transfer_to_payer", input: {} }] };
const back: ScriptedAnswer = { calls: [{ tool: "hand_back", input: { note: "paid" } }] };
const paying: ScriptedAnswer = { calls: [{ tool: "pay", input: { to: "ana" } }] };

/** Answers by the step of the run, whoever has it. */
type Told = Readonly<Record<number, ScriptedAnswer>>;

function speaking(told: Told, seen: ModelRequest[] = []) {
  const steps = Array.from({ length: 9 }, (_, n): ScriptedAnswer => {
    const answer = told[n + 1] ?? "?";
    return (request) => {
      seen.push(request);
      return typeof answer === "function" ? answer(request) : answer;
    };
  });
  return scripted(steps);
}

function payer(told: Told, seen?: ModelRequest[]): Agent {
  return agent({ name: "payer", model: speaking(told, seen), instructions: "Pay.", tools: [pay] });
}

function desk(told: Told, to: readonly Agent<unknown>[], seen?: ModelRequest[]): Agent {
  return agent({ name: "desk", model: speaking(told, seen), instructions: "Welcome.", handoffs: to });
}

async function approve({ runtime }: TestRuntime): Promise<string | undefined> {
  const [ticket] = await runtime.tickets.list({ kind: "approval", status: "open" });
  if (ticket?.kind === "approval") await ticket.approve();
  return ticket?.agent;
}

const shown = (request: ModelRequest | undefined): unknown => [
  request?.instructions,
  request?.tools.map(({ name }) => name),
];

test.each(Object.entries(stores))(
  "HO1 HO2 HO4 the run goes on as the other agent, over a kill, until it is handed back, on %s",
  async (_name, store) => {
    const seen: ModelRequest[] = [];
    const other = payer({ 2: paying, 3: back }, seen);
    const first = desk({ 1: over, 4: "done" }, [other], seen);
    await using t = await testRuntime({ agents: [first], store: store() });
    const { id } = await t.runtime.start(first, "Go");
    const { fingerprint } = await t.runtime.runs.manifest(id);
    await t.settle();
    expect(await resultOf(t, `${id}.1.0`)).toEqual({ kind: "value", value: { handedTo: "payer" } });
    await t.restart();
    expect(await approve(t)).toBe("payer");
    expect(await t.runtime.runs.get(id).result()).toMatchObject({ outcome: "completed", output: "done", steps: 4 });
    expect(await resultOf(t, `${id}.3.0`)).toEqual({ kind: "value", value: { handedTo: "desk" } });
    expect(seen.map(shown)).toEqual([
      ["Welcome.", ["transfer_to_payer"]],
      ["Pay.", ["hand_back", "pay"]],
      ["Pay.", ["hand_back", "pay"]],
      ["Welcome.", ["transfer_to_payer"]],
    ]);
    expect((await t.runtime.runs.manifest(id)).fingerprint).toBe(fingerprint);
  },
);

test("it is sticky in the run only: a new run on the thread begins with the agent it is given", async () => {
  const seen: ModelRequest[] = [];
  const first = desk({ 1: over }, [payer({ 2: "I am the payer", 3: "Still me" }, seen)], seen);
  await using t = await testRuntime({ agents: [first] });
  const run = await t.runtime.start(first, "Go", { thread: "t" });
  expect(await run.output()).toBe("I am the payer");
  const next = await t.runtime.start(first, "Again", { thread: "t" });
  await next.result();
  expect(seen.map(({ instructions }) => instructions)).toEqual(["Welcome.", "Pay.", "Welcome.", "Pay."]);
});

test("HO1 what the step calls besides is done by the agent that called it, and HO5 only one gets the run", async () => {
  const note = tool({
    name: "note",
    description: "Note",
    input: z.object({}),
    effect: "pure",
    execute: () => "noted",
  });
  const [one, two] = [payer({ 2: "from the payer" }), agent({ name: "two", model: scripted(["?"]), instructions: "" })];
  const first = agent({
    name: "desk",
    model: scripted([{ calls: [{ tool: "transfer_to_payer" }, { tool: "note" }, { tool: "transfer_to_two" }] }]),
    instructions: "",
    tools: [note],
    handoffs: [one, two],
  });
  await using t = await testRuntime({ agents: [first] });
  const run = await t.runtime.start(first, "Go");
  expect(await run.output()).toBe("from the payer");
  expect(await resultOf(t, `${run.id}.1.1`)).toEqual({ kind: "value", value: "noted" });
  expect(await resultOf(t, `${run.id}.1.2`)).toMatchObject({ kind: "error", code: "not-run" });
});

test("a handoff passes the gate: what its policy denies is not done", async () => {
  const first = agent({
    name: "desk",
    model: scripted([over, "I keep it"]),
    instructions: "",
    handoffs: [payer({})],
    policy: policy({
      name: "stay",
      version: "1",
      "tool-call": () => ({ deny: "Stay." }),
    }),
  });
  await using t = await testRuntime({ agents: [first] });
  expect(await t.runtime.run(first, "Go")).toMatchObject({ outcome: "completed", output: "I keep it" });
});

test("HO3 each agent's plugins hear of the run when it comes to them, and only while it is theirs", async () => {
  const heard: string[] = [];
  const listener = (name: string) => {
    const hear = (phase: string) => () => {
      heard.push(`${name} ${phase}`);
      return [];
    };
    const hooks = { "before-run": hear("before-run"), "after-step": hear("after-step") };
    return plugin({ name, version: "1", create: () => ({ hooks }) });
  };
  const other = agent({
    name: "payer",
    model: speaking({ 2: back }),
    instructions: "",
    plugins: [listener("theirs")()],
  });
  const first = agent({
    name: "desk",
    model: speaking({ 1: over, 3: "done" }),
    instructions: "",
    plugins: [listener("ours")()],
    handoffs: [other],
  });
  await using t = await testRuntime({ agents: [first] });
  expect(await t.runtime.run(first, "Go")).toMatchObject({ output: "done" });
  expect(heard).toEqual([
    ...["ours before-run", "ours after-step"],
    ...["theirs before-run", "theirs after-step"],
    ...["ours before-run", "ours after-step"],
  ]);
});

test("the steps of all agents are the run's: a circle of handoffs ends by its budget", async () => {
  const other = agent({ name: "payer", model: scripted(Array(9).fill(back)), instructions: "" });
  const first = agent({
    name: "desk",
    model: scripted(Array(9).fill(over)),
    instructions: "",
    handoffs: [other],
    budget: { steps: 5 },
  });
  await using t = await testRuntime({ agents: [first] });
  expect(await t.runtime.run(first, "Go")).toMatchObject({ outcome: "stopped", steps: 5 });
});

test("a run that was handed over can be cancelled while the other agent waits", async () => {
  const first = desk({ 1: over }, [payer({ 2: paying })]);
  await using t = await testRuntime({ agents: [first] });
  const run = await t.runtime.start(first, "Go");
  await t.settle();
  expect(await (await run.cancel()).receipt()).toMatchObject({ outcome: "cancelled" });
  expect(await t.runtime.tickets.list({ status: "open" })).toEqual([]);
});

test("HO2 a worker without the other agent lets the run wait, and one that has it goes on", async () => {
  const store = sqlite(join(mkdtempSync(join(tmpdir(), "holdfast-handoff-")), "runs.db"));
  const first = desk({ 1: over }, [payer({ 2: paying, 3: "paid" })]);
  const open = (agents: readonly Agent[]) => createRuntime({ agents, store, leaseMs: 500, pollMs: 50 });
  const begun = await open([first]);
  const { id } = await begun.start(first, "Go");
  await begun.runs.get(id).idle();
  await begun.close();
  const lacking = await open([desk({ 1: over }, [])]);
  const [ticket] = await lacking.tickets.list({ kind: "approval", status: "open" });
  if (ticket?.kind === "approval") await ticket.approve();
  await vi.waitFor(async () => {
    const [missing] = await lacking.tickets.list({ run: id, status: "open" });
    expect(missing).toMatchObject({ kind: "missing-capability", agent: "payer" });
  });
  await lacking.close();
  await using whole = await open([first]);
  expect(await whole.runs.get(id).result()).toMatchObject({ outcome: "completed", output: "paid" });
});

test("G4 a delegate that could hand its run over cannot while it is lent", async () => {
  const seen: ModelRequest[] = [];
  const child = desk({ 1: "ok" }, [payer({})], seen);
  const lead = agent({
    name: "lead",
    model: scripted([{ calls: [{ tool: "desk", input: { task: "x" } }] }, "done"]),
    instructions: "",
    delegates: [delegate(child)],
  });
  await using t = await testRuntime({ agents: [lead] });
  expect(await t.runtime.run(lead, "Go")).toMatchObject({ outcome: "completed" });
  expect(seen.map(shown)).toEqual([["Welcome.", []]]);
});

test("what cannot be handed to is refused by name", () => {
  const make =
    (handoffs: unknown, more: object = {}) =>
    () =>
      agent({ name: "desk", model: scripted(["x"]), instructions: "", handoffs: handoffs as never, ...more });
  const other = payer({});
  expect(make("payer")).toThrow(/handoffs: must be a list of agents/);
  expect(make(["payer"])).toThrow(/handoffs\[0\]: must come from agent/);
  expect(make([other, other])).toThrow(/handoffs\[1\]: the name transfer_to_payer is used twice/);
  expect(make([desk({}, [])])).toThrow(/desk would be handed to itself/);
  const middle = agent({ name: "middle", model: scripted(["x"]), instructions: "", handoffs: [desk({}, [])] });
  expect(make([middle])).toThrow(/desk would be handed to itself/);
  expect(make([other], { output: z.object({ a: z.string() }) })).toThrow(/payer has another output/);
  expect(make([other], { budget: { usd: 1 } })).toThrow(/no prices/);
  const withContext = agent({ name: "c", model: scripted(["x"]), instructions: "", context: z.object({}) });
  expect(make([withContext])).toThrow(/takes a context/);
});
