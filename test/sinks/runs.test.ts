/** Whole runs and their sinks: who is told what, and by whom it was written. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { RuntimeSettings } from "../../src/compose.ts";
import { declare } from "../../src/domain/manifest.ts";
import { agent, memory, type Sink, type SinkMessage, tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";
import { countingIds, startProcess } from "../../src/testing/test-process.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";

const output = z.object({ note: z.string() });
const good = '{"note":"done"}';

function recorder(): { readonly told: SinkMessage[]; readonly sink: Sink } {
  const told: SinkMessage[] = [];
  return { told, sink: { deliver: (message) => void told.push(message) } };
}

function clerk(answers: readonly ScriptedAnswer[], options: object = {}) {
  const sinks = ["crm"];
  return agent({ name: "clerk", model: scripted(answers), instructions: "Help.", sinks, ...options });
}

async function toldOf(one: ReturnType<typeof clerk>): Promise<readonly SinkMessage[]> {
  const { told, sink } = recorder();
  await using t = await testRuntime({ agents: [one], settings: { sinks: { crm: sink } } });
  await t.runtime.run(one, "canary-input", { thread: "t" });
  await t.advance("2m");
  return told;
}

test("a validated output and the end are told, with who, where and how much", async () => {
  const told = await toldOf(clerk([good], { output }));
  const facts = { scope: "default", run: "id-1", thread: "t", agent: "clerk", at: expect.any(Number) };
  const ended = { kind: "completed", reason: "natural" };
  expect(told).toEqual([
    { type: "output", ...facts, output: { note: "done" } },
    { type: "run-ended", ...facts, outcome: ended, steps: 1, usage: expect.any(Object) },
  ]);
});

test("of an agent whose answer is text only the end is told: nothing that anybody said", async () => {
  const told = await toldOf(clerk(["canary-answer"]));
  expect(told.map(({ type }) => type)).toEqual(["run-ended"]);
  expect(JSON.stringify(told)).not.toContain("canary");
});

test("O1 an answer that never fitted is told to nobody, nor are the words of the error", async () => {
  const told = await toldOf(clerk(['{"note":"canary"}'], { output: z.object({ canary: z.number() }), repairs: 0 }));
  expect(told).toMatchObject([{ type: "run-ended", outcome: { kind: "failed", code: "output-invalid" } }]);
  expect(JSON.stringify(told)).not.toContain("canary");
});

test("an agent without sinks tells nobody, though its worker has some", async () => {
  expect(await toldOf(clerk(["Hi."], { sinks: undefined }))).toEqual([]);
});

test("the sinks are part of the manifest, whatever their order", () => {
  const print = (sinks: readonly string[]): unknown => declare(clerk(["Hi."], { sinks })).sinks;
  expect(print(["b", "a"])).toEqual(["a", "b"]);
  expect(declare(clerk(["Hi."], { sinks: [] }))).not.toHaveProperty("sinks");
});

test("a dead letter is what run.evidence() shows", async () => {
  const one = clerk(["Hi."]);
  const crm: Sink = { deliver: () => Promise.reject(new Error("gone")), attempts: 2 };
  await using t = await testRuntime({ agents: [one], settings: { sinks: { crm } } });
  const run = await t.runtime.start(one, "go");
  await run.result();
  await t.advance("10m");
  expect(await run.evidence()).toMatchObject([
    {
      kind: "dead-delivery",
      body: {
        attempts: 2,
        error: "gone",
        delivery: { to: "sink", sink: "crm", body: { type: "run-ended", run: run.id } },
      },
    },
  ]);
});

test("a run that waited for days and restarts tells its end once", async () => {
  const { told, sink } = recorder();
  const ask = tool({ name: "ask", description: "Asks", input: z.object({}), needsApproval: true, execute: () => 1 });
  const one = clerk([{ calls: [{ tool: "ask", input: {} }] }, "Done."], { tools: [ask] });
  await using t = await testRuntime({ agents: [one], settings: { sinks: { crm: sink } } });
  const { id } = await t.runtime.start(one, "go");
  await t.advance("3d");
  await t.restart();
  const [ticket] = await t.runtime.tickets.list({ status: "open" });
  if (ticket?.kind !== "approval") throw new Error("There is no approval to give");
  await ticket.approve({ by: "ana" });
  await t.advance("1d");
  await t.restart();
  await t.advance("1d");
  expect(told.map(({ type, run }) => [type, run])).toEqual([["run-ended", id]]);
});

test("the run that reads what another left unread tells its own end too", async () => {
  const { told, sink } = recorder();
  const sends: (() => Promise<unknown>)[] = [];
  const look = tool({ name: "look", description: "Looks", input: z.object({}), execute: async () => sends.pop()?.() });
  const answers = [{ calls: [{ tool: "look", input: {} }] }, "Done."];
  const one = clerk(answers, { tools: [look], budget: { steps: 1 } });
  await using t = await testRuntime({ agents: [one], settings: { sinks: { crm: sink } } });
  const run = await t.runtime.start(one, "go");
  sends.push(() => run.send("One more thing."));
  await run.result();
  await t.advance("5m");
  const runs = (await t.runtime.runs.list()).items;
  expect(runs).toHaveLength(2);
  expect(new Set(told.map((message) => message.run))).toEqual(new Set(runs.map((each) => each.run)));
});

/** One store, several processes, each with its own sinks and agents. */
async function processOn(
  store: StoreDefinition,
  part: { settings: RuntimeSettings; agents: ReturnType<typeof clerk>[] },
) {
  const clock = createFakeClock();
  const made = await startProcess({ store, clock, ids: countingIds(), ...part });
  onTestFinished(() => made.runtime.close());
  return { ...made, clock };
}

test("D1 a process that has no sinks ends the run: the message waits for one that has", async () => {
  const store = memory();
  const one = clerk([good], { output });
  const without = await processOn(store, { settings: { pollMs: 1_000 }, agents: [one] });
  const run = await without.runtime.start(one, "go");
  await run.result();
  await without.clock.advance(3_600_000);
  const { told, sink } = recorder();
  const other = agent({ name: "other", model: scripted([]), instructions: "" });
  const having = await processOn(store, { settings: { pollMs: 1_000, sinks: { crm: sink } }, agents: [other] });
  await having.clock.advance(7_200_000);
  expect(told.map(({ type, run: of }) => [type, of])).toEqual([
    ["output", run.id],
    ["run-ended", run.id],
  ]);
});

test('a worker of scopes: "all" tells the ends of runs of every scope', async () => {
  const store = memory();
  const { told, sink } = recorder();
  const one = clerk(Array.from({ length: 250 }, () => "Hi."));
  const settings = { pollMs: 1_000, scope: "own", scopes: "all", sinks: { crm: sink } } as const;
  const worker = await processOn(store, { settings, agents: [one] });
  const scopes = Array.from({ length: 250 }, (_, n) => `scope ${n}`);
  for (const scope of scopes) {
    const desk = await processOn(store, { settings: { scope }, agents: [] });
    await desk.runtime.start(one, "go");
  }
  await worker.clock.advance(20_000);
  expect(new Set(told.map(({ scope }) => scope))).toEqual(new Set(scopes));
  expect(told).toHaveLength(250);
});

test("runs of two scopes have different keys", async () => {
  const store = memory();
  const keys: string[] = [];
  const crm: Sink = { deliver: (_message, { key }) => void keys.push(key) };
  const one = clerk(["Hi.", "Hi."]);
  for (const scope of ["ä b", "b"]) {
    const made = await processOn(store, { settings: { pollMs: 1_000, scope, sinks: { crm } }, agents: [one] });
    await made.runtime.run(one, "go");
    await made.clock.advance(60_000);
  }
  expect(keys.map((key) => key.split(":").slice(0, 2))).toEqual([
    ["%C3%A4%20b", "id-1"],
    ["b", "id-1"],
  ]);
});
