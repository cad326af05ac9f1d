/** A run that executes elsewhere is the same run: its entries, events, ends and waits. */
import { expect, test } from "vitest";
import { agent } from "../../src/agent.ts";
import { backendFactory, configuredBackend, remoteBackend } from "../../src/backends/define.ts";
import { createRuntime } from "../../src/create-runtime.ts";
import { readEndpoint } from "../../src/domain/backend/endpoint.ts";
import { defaultScope } from "../../src/domain/ids.ts";
import { declare } from "../../src/domain/manifest.ts";
import { readAfter } from "../../src/engine/load.ts";
import { memory } from "../../src/index.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { fakeRemote, refuses, waitsFor } from "../../src/testing/fake-remote.ts";
import type { PortCall } from "../../src/testing/intercept.ts";
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

test("the remote is asked nothing more before its task id is durable", async () => {
  const journals: string[][] = [];
  const inner = memory();
  let opened: Store | undefined;
  const store: StoreDefinition = {
    ...inner,
    open: async (parts) => {
      opened ??= await inner.open(parts);
      return opened;
    },
  };
  const factory = backendFactory("slow", () =>
    remoteBackend("slow", {
      async executeRoot(turn) {
        await turn.onTask({ task: "t1" });
        const entries = await readAfter({ scope: defaultScope, run: turn.identity.run }, 0, opened as Store);
        journals.push(
          entries.flatMap((entry) => (entry.type === "state-changed" ? [JSON.stringify(entry.change)] : [])),
        );
        return { status: { kind: "completed" }, output: { text: "done" } };
      },
    }),
  );
  const backend = configuredBackend(factory, readEndpoint({ backend: "slow", baseUrl: "https://slow.test" }));
  const slow = ({ method }: PortCall): Promise<void> | undefined =>
    method === "commit" ? new Promise((resolve) => setImmediate(resolve)) : undefined;
  await using t = await testRuntime({
    agents: [agent({ name: "geo", backend })],
    store,
    intercept: async (call, proceed) => {
      await slow(call);
      return proceed();
    },
  });
  expect(await t.runtime.run("geo", "hi")).toMatchObject({ outcome: "completed" });
  expect(journals).toEqual([['{"value":{"task":"t1"}}']]);
});

test("a task id that cannot be read, or a result that is none, fails the run and says what is wrong", async () => {
  const answers = [
    { task: "x".repeat(600), result: { status: { kind: "completed" } } },
    { result: { status: { kind: "completed" } }, answer: { status: { kind: "sideways" } } },
    { result: { status: { kind: "waiting_input" } } },
  ] as const;
  const backend = fakeRemote(answers, { capabilities: { waits: "none" } });
  await using t = await testRuntime({ agents: [agent({ name: "geo", backend })] });
  const texts = [
    "id of its task cannot be read",
    "a result whose status cannot be read",
    "it publishes that it has waits: none",
  ];
  for (const text of texts) {
    const result = await t.runtime.run("geo", "hi");
    expect(result).toMatchObject({ outcome: "failed", error: { message: expect.stringContaining(text) } });
  }
});

test("earlier messages become one text only where the agent allows it, and the journal says so", async () => {
  const capabilities = { transcript: "single-prompt" } as const;
  const strict = agent({ name: "strict", backend: fakeRemote(["one", "two"], { capabilities }) });
  const remote = fakeRemote(["one", "two"], { name: "flat", capabilities });
  const flat = agent({ name: "flat", backend: remote, adapt: ["transcript"] });
  await using t = await testRuntime({ agents: [strict, flat] });
  await t.runtime.run("strict", "first", { thread: "a" });
  expect(await t.runtime.run("strict", "second", { thread: "a" })).toMatchObject({
    outcome: "failed",
    error: { message: "agent 'strict' backend does not support: transcript" },
  });
  await t.runtime.run("flat", "first", { thread: "b" });
  const run = await t.runtime.start("flat", "second", { thread: "b" });
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  expect(remote.turns.map(({ text }) => text)).toEqual(["first", "user: first\n\nassistant: one\n\nuser: second"]);
  const adapted: unknown[] = [];
  for await (const event of run.watch({ until: "end" }))
    if (event.type === "effect-intended") adapted.push(event.remote?.adapted);
  expect(adapted).toEqual([["transcript"]]);
});

test("artifacts that do not fit are dropped where the agent allows it, and refused where it does not", async () => {
  const result = {
    status: { kind: "completed" },
    output: { text: "done", artifacts: [{ content: "x".repeat(100_000) }] },
  } as const;
  const strict = agent({ name: "strict", backend: fakeRemote([{ result }]) });
  const lax = agent({ name: "lax", backend: fakeRemote([{ result }]), adapt: ["artifacts"] });
  await using t = await testRuntime({ agents: [strict, lax] });
  expect(await t.runtime.run("strict", "hi")).toMatchObject({
    outcome: "failed",
    error: { message: expect.stringContaining("its 1 artifacts cannot be kept") },
  });
  const run = await t.runtime.start("lax", "hi");
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "done" });
  expect((await run.state()).values.__runtime_backend_output).toEqual({ text: "done" });
});

test("a turn whose output is refused has cost what it reports", async () => {
  const usage = { inputTokens: 700, outputTokens: 30 };
  const output = { text: "done", artifacts: [{ content: "x".repeat(100_000) }] };
  const result = { status: { kind: "completed" }, output, usage } as const;
  const strict = agent({ name: "strict", backend: fakeRemote([{ result }]), budget: { tokens: 100_000 } });
  await using t = await testRuntime({ agents: [strict] });
  const run = await t.runtime.start("strict", "hi");
  expect(await run.result()).toMatchObject({ outcome: "failed", spent: { tokens: 730 } });
  expect(await run.status()).toMatchObject({ ...usage, spent: { tokens: 730 } });
});

test("a run whose backend no worker has waits for one that does, and a factory by name is one", async () => {
  const remote = fakeRemote([{ task: "t1", result: waitsFor("input", "which?") }, "done"]);
  const before = agent({ name: "geo", backend: remote });
  const after = agent({ name: "geo", backend: fakeRemote([], { endpoint: { baseUrl: "https://new.test" } }) });
  const store = memory();
  const first = await createRuntime({ agents: [before], store });
  const run = await first.start("geo", "hi");
  await run.idle();
  await first.close();
  const lacking = await createRuntime({ agents: [after], store });
  const [ticket] = await lacking.tickets.list({ kind: "input", status: "open" });
  await ticket?.answer("42");
  const idle = await lacking.runs.get(run.id).idle();
  expect(idle).toMatchObject({
    tickets: [{ kind: "missing-capability", prompt: expect.stringContaining("backend fake at https://fake.test") }],
  });
  await lacking.close();
  await using having = await createRuntime({ agents: [after], store, backends: [remote.factory] });
  const [missing] = await having.tickets.list({ kind: "missing-capability", status: "open" });
  await missing?.release().catch(() => undefined);
  expect(await having.runs.get(run.id).result()).toMatchObject({ outcome: "completed" });
});

test("what a backend's login is stays out of the manifest", () => {
  const auth = { type: "bearer", token: "very-secret" } as const;
  const geo = agent({ name: "geo", backend: fakeRemote([], { endpoint: { auth } }) });
  expect(JSON.stringify(declare(geo))).not.toContain("very-secret");
  expect(declare(geo).backend?.endpoint.auth).toEqual({ type: "bearer", parameters: ["token"] });
});

test.each([
  ["a model", { model: "x/y" }, "model: unknown option"],
  ["tools", { tools: [] }, "tools: unknown option"],
  ["an adaptation that nobody knows", { adapt: ["waits"] }, "adapt: must be a list of transcript, artifacts"],
  ["no backend at all", { backend: 7 }, "backend: must be a backend"],
  ["a wrong name besides", { backend: 7, name: "" }, "name: must match"],
] as const)("an agent that executes elsewhere cannot have %s", (_name, more, text) => {
  expect(() => agent({ name: "geo", backend: fakeRemote([]), ...more } as never)).toThrow(text);
});

test("whoever looks a lost turn up stops when the run has ended without it", async () => {
  const until = new Promise(() => undefined);
  const backend = fakeRemote([{ task: "t1", result: { status: { kind: "completed" } }, until }]);
  await using t = await testRuntime({ agents: [agent({ name: "geo", backend })] });
  const run = await t.runtime.start("geo", "hi");
  await t.settle();
  await t.restart();
  const [look] = backend.looks;
  expect(look?.signal.aborted).toBe(false);
  await t.runtime.runs.get(run.id).cancel();
  expect(await t.runtime.runs.get(run.id).result()).toMatchObject({ outcome: "cancelled" });
  await t.settle();
  expect([look?.signal.aborted, backend.aborts.length]).toEqual([true, 1]);
});
