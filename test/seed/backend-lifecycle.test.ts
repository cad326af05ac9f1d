/** The seeds' items about the life of a run that executes elsewhere, each by its id. Differences name their D-row. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { BackendResult } from "../../src/domain/backend/result.ts";
import { HoldfastError } from "../../src/domain/errors.ts";
import { defaultScope, type RunId, type ThreadId } from "../../src/domain/ids.ts";
import { plugin, stateKey } from "../../src/index.ts";
import { refuses, waitsFor } from "../../src/testing/fake-remote.ts";
import type { PortCall } from "../../src/testing/intercept.ts";
import { eventsOf, gate, never, warnings, world } from "./backend-world.ts";

const completed = { kind: "completed" } as const;

test("B-031 a delegate's turn goes to executeDelegate with its lineage, and has nothing that is the root's own", async () => {
  await using w = await world(["root", "child"]);
  const run = await w.start();
  await run.result();
  const [created] = await w.entries(run);
  if (created?.type !== "run-created") throw new Error("no birth");
  const { seq: _seq, at: _at, epoch: _epoch, ...birth } = created;
  const identity = {
    ...birth.identity,
    run: "child" as RunId,
    thread: "child-thread" as ThreadId,
    parentRun: run.id as RunId,
    origin: "subagent" as const,
  };
  const row = await w.store().manifest(defaultScope, birth.manifest.fingerprint);
  const manifest = row as NonNullable<typeof row>;
  const entry = { ...birth, identity };
  await w.store().create({ key: "child", requestHash: "h", entry, manifest, whenBusy: "queue", by: "x" } as never);
  await w.t.advance("2m");
  const turn = w.backend.turns.find(({ identity: of }) => of.run === "child");
  expect(turn?.parent).toEqual({ run: run.id });
  for (const own of ["overrides", "decisions", "frontendTools", "store", "inbox"]) expect(turn).not.toHaveProperty(own);
});

test("B-065 D-16 a cancel that is committed first ends the run as cancelled; a settlement that is committed first stands", async () => {
  await using w = await world([{ task: "t", result: { status: completed }, until: never }, "answered"]);
  const first = await w.start();
  await w.t.settle();
  await first.cancel();
  expect(await first.result()).toMatchObject({ outcome: "cancelled" });
  const second = await w.start();
  expect(await second.result()).toMatchObject({ outcome: "completed", output: "answered" });
  await second.cancel().catch(() => undefined);
  expect(await second.result()).toMatchObject({ outcome: "completed" });
});

const marks = stateKey({ name: "marks", schema: z.number(), initial: 0 });
const marker = plugin({
  name: "marker",
  state: [marks],
  create: () => ({ hooks: { "before-step": () => [marks.set(7)] } }),
})();

test.each([
  ["an error", [refuses("boom")], "failed"],
  ["a cancel", [{ task: "t", result: { status: completed }, until: never }], "cancelled"],
] as const)(
  "B-067 B-087 on %s the state is the latest that was stored, and an abort is shown it",
  async (_name, script, outcome) => {
    await using w = await world(script, { agent: { plugins: [marker] } });
    const run = await w.start();
    await w.t.settle();
    if (outcome === "cancelled") await run.cancel();
    expect(await run.result()).toMatchObject({ outcome });
    expect((await run.state()).values).toMatchObject({ marks: 7 });
    expect(w.backend.aborts.map(({ state }) => state.marks)).toEqual(outcome === "cancelled" ? [7] : []);
  },
);

test.each([
  ["none", 0],
  ["cooperative-token", 0],
  ["remote-abort", 1],
  ["cooperative-token-and-remote-abort", 1],
] as const)("B-068 D-17 with cancellation %s an abort is asked %i times", async (cancellation, times) => {
  await using w = await world([{ task: "t", result: { status: completed }, until: never }], {
    capabilities: { cancellation },
  });
  const run = await w.start();
  await w.t.settle();
  await run.cancel();
  expect(await run.result()).toMatchObject({ outcome: "cancelled" });
  expect(w.backend.aborts).toHaveLength(times);
});

test("B-070 an abort that fails is logged with agent and run, and changes nothing", async () => {
  const { logger, said } = warnings();
  const { createRuntime } = await import("../../src/create-runtime.ts");
  const { agent } = await import("../../src/agent.ts");
  const { fakeRemote } = await import("../../src/testing/fake-remote.ts");
  const script = [{ task: "t", result: { status: completed }, until: never }];
  const backend = fakeRemote(script, { abortFails: new Error("deaf") });
  await using runtime = await createRuntime({ agents: [agent({ name: "clerk", backend })], logger });
  const run = await runtime.start("clerk", "hi");
  while (backend.turns.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await run.cancel();
  expect(await run.result()).toMatchObject({ outcome: "cancelled" });
  expect(
    said.filter((line) => line.includes("deaf") && line.includes('"agent":"clerk"') && line.includes(run.id)),
  ).toHaveLength(1);
});

test("B-071 a cancelled run has no text, and the pending call is left alone", async () => {
  await using w = await world([{ task: "t", result: { status: completed, output: { text: "late" } }, until: never }]);
  const run = await w.start();
  await w.t.settle();
  await run.cancel();
  const events = await eventsOf(run);
  expect(events.filter(({ type }) => type === ("text-delta" as string))).toEqual([]);
  expect(await run.status()).toMatchObject({ outcome: { kind: "cancelled" }, steps: 1 });
  expect((await run.status()).answer).toBeUndefined();
});

const texts: readonly (readonly [string, Omit<BackendResult, "status">, string | undefined, object | undefined])[] = [
  ["B-072 the output's text", { output: { text: "a" }, response: "b" }, "a", { text: "a" }],
  ["B-072 else the response, which becomes the output's text", { response: "b" }, "b", { text: "b" }],
  [
    "B-073 an empty text wins, and the output is there all the same",
    { output: { text: "" }, response: "b" },
    undefined,
    { text: "" },
  ],
  ["B-076 nothing", {}, undefined, undefined],
  [
    "B-086 artifacts without a text",
    { output: { artifacts: [{ content: 1 }] } },
    undefined,
    { artifacts: [{ content: 1 }] },
  ],
];

test.each(texts)("%s is what was said (B-075 B-082 B-084)", async (...[, result, said, kept]) => {
  const { open, until } = gate();
  await using w = await world([{ result: { status: completed, ...result }, until }]);
  const run = await w.start();
  const events = await eventsOf(run, open);
  const replies = events.filter((event) => event.type === "message-appended" && event.message?.role === "assistant");
  const deltas = events.filter(({ type }) => type === ("text-delta" as string));
  expect(deltas.map(({ text }) => text)).toEqual(said === undefined ? [] : [said]);
  expect(replies).toHaveLength(said === undefined ? 0 : 1);
  expect((await run.state()).values.__runtime_backend_output).toEqual(kept);
  expect((await run.status()).answer === undefined).toBe(said === undefined);
});

test.each(["waiting", "failed", "timeout"] as const)(
  "B-075 the text of a result that is %s is told and kept too",
  async (how) => {
    const status = {
      waiting: { kind: "waiting_input" },
      failed: { kind: "failed", message: "m" },
      timeout: { kind: "timeout" },
    } as const;
    await using w = await world([{ result: { status: status[how], output: { text: "words" } } }]);
    const run = await w.start();
    await run.idle();
    const said = (await w.entries(run)).filter(
      (entry) => entry.type === "message-appended" && entry.body.kind === "here",
    );
    expect(said).toHaveLength(1);
  },
);

test("B-074 state that the backend returns joins the run's, but never over a key of ours", async () => {
  const state = { theirs: 1, marks: 99, __runtime_backend_output: "x" };
  await using w = await world([{ result: { status: completed, state } }], { agent: { plugins: [marker] } });
  const run = await w.start();
  await run.result();
  expect((await run.state()).values).toEqual({ theirs: 1, marks: 7 });
});

test.each([
  ["natural_end", "stop"],
  ["behavior_requested", "stop"],
  ["error", undefined],
  ["cancelled", undefined],
] as const)("B-077 the model is complete only by its own end: %s", async (type, finish) => {
  const termination = type === "error" ? { type, value: "v" } : { type };
  await using w = await world([{ result: { status: completed, termination } }]);
  const run = await w.start();
  await run.result();
  const settled = await w.settled(run);
  expect(settled.finish).toBe(finish);
  expect(settled.usage).toBeUndefined();
  expect(settled.remote?.tookMs).toBeGreaterThanOrEqual(0);
  expect((await w.t.runtime.runs.manifest(run.id)).declared.model).toEqual({ provider: "fake", model: "clerk" });
});

test("B-078 D-03 durable events come after their commit, in the seed's order", async () => {
  const { open, until } = gate();
  await using w = await world([{ result: { status: completed, output: { text: "words" } }, until }]);
  const run = await w.start();
  const types = (await eventsOf(run, open)).map(({ type }) => type as string);
  const order = ["text-delta", "effect-settled", "message-appended", "step-ended", "run-ended"];
  expect(types.filter((type) => order.includes(type)).slice(-5)).toEqual(order);
});

test("B-080 the caller's result is the run, the response, how it ended and its steps", async () => {
  await using w = await world(["words"]);
  const run = await w.start();
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "words" });
  expect(await run.status()).toMatchObject({
    run: run.id,
    outcome: { kind: "completed", reason: "natural" },
    steps: 1,
  });
});

test("B-081 a reason of the backend's own is stored with the settlement", async () => {
  await using w = await world([{ result: { status: completed, statusReason: "because" } }, "other"]);
  const run = await w.start();
  await run.result();
  expect((await w.settled(run)).remote).toMatchObject({ statusReason: "because", status: completed });
  const other = await w.start();
  await other.result();
  expect((await w.settled(other)).remote).not.toHaveProperty("statusReason");
});

test("B-088 D-04 an end that cannot be written is written later, once: nothing is told before", async () => {
  let failures = 3;
  const intercept = async <T>(call: PortCall, proceed: () => Promise<T>): Promise<T> => {
    const entries = call.method === "commit" ? (call.args[0] as { entries: { type: string }[] }).entries : [];
    if (entries.some(({ type }) => type === "run-ended") && failures > 0) {
      failures -= 1;
      throw new HoldfastError("store-unavailable", "away");
    }
    return proceed();
  };
  await using w = await world(["words"], { runtime: { intercept } });
  const run = await w.start();
  await w.t.advance("1m");
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  const types = (await w.entries(run)).map(({ type }) => type);
  expect(types.filter((type) => type === "run-ended")).toHaveLength(1);
  expect(failures).toBe(0);
  expect(w.backend.turns).toHaveLength(1);
});

test("B-098 D-25 tokens are those that the remote reports; one that does not is unknown, not 0", async () => {
  const usage = { inputTokens: 3, outputTokens: 4 };
  await using w = await world(["silent", { result: { status: completed, usage } }]);
  const silent = await w.start();
  await silent.result();
  expect(await silent.status()).toMatchObject({ inputTokens: 0, outputTokens: 0, uncountedReplies: 1 });
  const counted = await w.start();
  await counted.result();
  expect(await counted.status()).toMatchObject(usage);
  expect((await counted.status()).uncountedReplies).toBeUndefined();
});

test("B-100 C-008 D-30 without a store of one's own there is one in memory, and nothing fails", async () => {
  const { createRuntime } = await import("../../src/create-runtime.ts");
  const { agent } = await import("../../src/agent.ts");
  const { fakeRemote } = await import("../../src/testing/fake-remote.ts");
  await using runtime = await createRuntime({ agents: [agent({ name: "clerk", backend: fakeRemote(["words"]) })] });
  expect(await runtime.run("clerk", "hi")).toMatchObject({ outcome: "completed" });
});

test("B-101 C-011 a record that cannot be read is no empty record: the run is read again, and its turn made once", async () => {
  let failures = 2;
  const intercept = async <T>(call: PortCall, proceed: () => Promise<T>): Promise<T> => {
    if (call.method === "snapshot" && failures > 0) {
      failures -= 1;
      throw new HoldfastError("store-unavailable", "away");
    }
    return proceed();
  };
  await using w = await world([{ task: "t", result: waitsFor("input", "which?") }, "done"], { runtime: { intercept } });
  const run = await w.start();
  await w.t.advance("1m");
  const [ticket] = await w.t.runtime.tickets.list({ kind: "input" });
  await ticket?.answer("42");
  await w.t.advance("1m");
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  expect(w.backend.turns).toHaveLength(2);
  expect(failures).toBe(0);
});

test("C-005 C-006 C-007 a step's commit has no end; the last one has outcome, answer and error", async () => {
  await using w = await world([
    { task: "t", result: waitsFor("input", "which?") },
    { result: { status: { kind: "failed", message: "no" } } },
  ]);
  const run = await w.start();
  await run.idle();
  const half = await run.status();
  expect([half.outcome, half.error, half.steps]).toEqual([undefined, undefined, 1]);
  const [ticket] = await w.t.runtime.tickets.list({ kind: "input" });
  await ticket?.answer("42");
  await run.result();
  expect(await run.status()).toMatchObject({ outcome: { kind: "failed" }, error: { message: "no" }, steps: 2 });
});

test("C-024 messages and run move in one write: of a commit that fails, neither has", async () => {
  let isAway = true;
  const intercept = async <T>(call: PortCall, proceed: () => Promise<T>): Promise<T> => {
    const entries = call.method === "commit" ? (call.args[0] as { entries: { type: string }[] }).entries : [];
    if (isAway && entries.some(({ type }) => type === "effect-settled"))
      throw new HoldfastError("store-unavailable", "storage failed: away");
    return proceed();
  };
  await using w = await world(["words"], { runtime: { intercept } });
  const run = await w.start("hi", "t-1");
  await w.t.settle();
  const messages = await w.store().readThread({ scope: defaultScope, thread: "t-1" as ThreadId, limit: 10 });
  expect(messages.map(({ role }) => role)).toEqual(["user"]);
  expect(await run.status()).toMatchObject({ status: "running", steps: 0 });
  isAway = false;
  await w.t.advance("1m");
  expect(await run.result()).toMatchObject({ outcome: "completed" });
});
