/** A run that executes elsewhere is the same run: its entries, events, ends and waits. */
import { expect, test } from "vitest";
import { agent } from "../../src/agent.ts";
import { fakeRemote, refuses, waitsFor } from "../../src/testing/fake-remote.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

async function typesOf(
  run: { watch(options: { until: "end" | "idle" }): AsyncIterable<{ type: string }> },
  until: "end" | "idle" = "end",
) {
  const types: string[] = [];
  for await (const event of run.watch({ until })) types.push(event.type);
  return types;
}

test("B-063 B-075 B-078 a remote turn is a step with one delta, one message and its end", async () => {
  const { promise: until, resolve: open } = Promise.withResolvers<void>();
  const backend = fakeRemote([{ result: { status: { kind: "completed" }, output: { text: "Paris." } }, until }]);
  await using t = await testRuntime({ agents: [agent({ name: "geo", backend })] });
  const run = await t.runtime.start("geo", "What is the capital of France?");
  const events: Record<string, unknown>[] = [];
  for await (const event of run.watch({ until: "end" })) {
    events.push(event as never);
    if (event.type === "effect-intended") open();
  }
  expect(events.map(({ type }) => type)).toEqual([
    "run-created",
    "run-started",
    "message-appended",
    "step-started",
    "effect-intended",
    "text-delta",
    "state-changed",
    "effect-settled",
    "message-appended",
    "step-ended",
    "run-ended",
  ]);
  const result = await run.result();
  expect(result).toMatchObject({ outcome: "completed", output: "Paris." });
});

test("B-110 B-111 a wait is a ticket whose prompt is the remote's text, and its answer continues the same task", async () => {
  const backend = fakeRemote([{ task: "t1", result: waitsFor("input", "Which order?") }, "Refunded."]);
  await using t = await testRuntime({ agents: [agent({ name: "refunds", backend })] });
  const run = await t.runtime.start("refunds", "Refund me");
  expect(await typesOf(run, "idle")).toEqual(expect.arrayContaining(["step-ended", "ticket-opened", "run-waiting"]));
  const [ticket] = await t.runtime.tickets.list({ status: "open" });
  expect(ticket).toMatchObject({ kind: "input", prompt: "Which order?" });
  await t.restart();
  const [again] = await t.runtime.tickets.list({ kind: "input", status: "open" });
  await again?.answer("order 42");
  expect(await t.runtime.runs.get(run.id).result()).toMatchObject({ outcome: "completed" });
  expect(backend.turns.map(({ task, answers, text }) => ({ task: task?.task, answers, text }))).toEqual([
    { task: undefined, answers: undefined, text: "Refund me" },
    { task: "t1", answers: "input", text: "order 42" },
  ]);
});

test("B-066 B-079 a backend's error fails the run with its bare text, and tells no delta", async () => {
  const backend = fakeRemote([refuses("no such skill")]);
  await using t = await testRuntime({ agents: [agent({ name: "geo", backend })] });
  const run = await t.runtime.start("geo", "hi");
  const types = await typesOf(run);
  expect(types).not.toContain("text-delta");
  expect(types.slice(-2)).toEqual(["step-ended", "run-ended"]);
  expect(await run.result()).toMatchObject({ outcome: "failed", error: { message: "no such skill" } });
});

test("cancel aborts the remote task once, and the run ends as cancelled", async () => {
  const backend = fakeRemote([
    { task: "t1", result: { status: { kind: "completed" } }, until: new Promise(() => undefined) },
  ]);
  await using t = await testRuntime({ agents: [agent({ name: "geo", backend })] });
  const run = await t.runtime.start("geo", "hi");
  await t.settle();
  await run.cancel({ reason: "enough" });
  expect(await run.result()).toMatchObject({ outcome: "cancelled" });
  expect(backend.aborts.map(({ task }) => task?.task)).toEqual(["t1"]);
});

test("a lost turn is looked up, never sent again", async () => {
  let finish: (value: unknown) => void = () => undefined;
  const until = new Promise((resolve) => {
    finish = resolve;
  });
  const backend = fakeRemote([
    { task: "t1", result: { status: { kind: "completed" }, output: { text: "done" } }, until },
  ]);
  await using t = await testRuntime({ agents: [agent({ name: "geo", backend })] });
  const run = await t.runtime.start("geo", "hi");
  await t.settle();
  await t.restart();
  finish(1);
  expect(await t.runtime.runs.get(run.id).result()).toMatchObject({ outcome: "completed", output: "done" });
  expect(backend.turns).toHaveLength(1);
  expect(backend.looks.map(({ task }) => task?.task)).toEqual(["t1"]);
});

test("a send that nobody acknowledged is remote unknown, and is not sent again by itself", async () => {
  const backend = fakeRemote([
    { task: "t1", breaks: "before-ack", result: { status: { kind: "completed" } } },
    "again",
  ]);
  await using t = await testRuntime({ agents: [agent({ name: "geo", backend })] });
  const run = await t.runtime.start("geo", "hi");
  expect(await run.idle()).toMatchObject({ status: "waiting", tickets: [{ kind: "unknown-outcome" }] });
  const [ticket] = await t.runtime.tickets.list({ kind: "unknown-outcome", status: "open" });
  expect(ticket?.prompt).toContain("Remote unknown");
  expect(backend.turns).toHaveLength(1);
  await ticket?.runAgain();
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "again" });
  expect(new Set(backend.turns.map(({ message }) => message)).size).toBe(2);
});

test("a turn is given the bytes of what is kept as content", async () => {
  const backend = fakeRemote(["A cat."]);
  await using t = await testRuntime({ agents: [agent({ name: "eye", backend })] });
  const body = new Uint8Array(200_000).fill(7);
  const run = await t.runtime.start("eye", [{ type: "image", mediaType: "image/png", body }]);
  expect(await run.output()).toBe("A cat.");
  const url = `data:image/png;base64,${Buffer.from(body).toString("base64")}`;
  for (const messages of [backend.turns[0]?.messages, backend.turns[0]?.newMessages]) {
    expect(messages?.[0]?.parts).toEqual([{ type: "image", mediaType: "image/png", url }]);
  }
});
