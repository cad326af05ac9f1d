/** The seeds' items about what a backend is, what it is asked and what it answers, each by its id. */
import { expect, test } from "vitest";
import { agent } from "../../src/agent.ts";
import { backendFactory, configuredBackend, remoteBackend } from "../../src/backends/define.ts";
import { createInProcessBackend } from "../../src/backends/in-process.ts";
import { createRuntime } from "../../src/create-runtime.ts";
import { backendError, bareText } from "../../src/domain/backend/backend-error.ts";
import { fullCapabilities, remoteStatelessText } from "../../src/domain/backend/capabilities.ts";
import { readEndpoint } from "../../src/domain/backend/endpoint.ts";
import { readResult } from "../../src/domain/backend/read-result.ts";
import { isEmptyOutput, reportOf, saidBy, textOr, writtenOutput } from "../../src/domain/backend/result.ts";
import { HoldfastError } from "../../src/domain/errors.ts";
import type { RunIdentity } from "../../src/domain/run.ts";
import type { RunState } from "../../src/domain/run-state.ts";
import type { EngineDeps } from "../../src/engine/deps.ts";
import { subjectOf } from "../../src/engine/turn-subject.ts";
import type { RemoteTurn } from "../../src/ports/backend.ts";
import { bindAgent } from "../../src/runtime/bind-agent.ts";
import { never, world } from "./backend-world.ts";

const ids = { parentRun: "r", parentThread: "t", parentCall: "c" } as const;
const subsets = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) =>
  Object.fromEntries(Object.entries(ids).filter((_, index) => (bits >> index) % 2 === 1)),
);

test.each(subsets)("B-001 lineage is three ids of their own, each of which may be missing: %o", (given) => {
  const state = { created: { identity: { agent: "a", ...given } as unknown as RunIdentity } } as RunState;
  const { parent } = subjectOf(state, { message: "m" as never, context: "c" });
  const [run, thread, call] = [given.parentRun, given.parentThread, given.parentCall];
  expect(parent).toEqual(
    Object.keys(given).length === 0 ? undefined : JSON.parse(JSON.stringify({ run, thread, call })),
  );
});

test("B-002 a turn has a signal that a cancel aborts, and decisions come only through tickets", async () => {
  await using w = await world([{ task: "t", result: { status: { kind: "completed" } }, until: never }]);
  const run = await w.start();
  await w.t.settle();
  const [turn] = w.backend.turns;
  expect(turn?.signal.aborted).toBe(false);
  expect(Object.keys(turn ?? {})).not.toContain("decisions");
  await run.cancel();
  await run.result();
  expect(turn?.signal.aborted).toBe(true);
});

test("B-014 B-050 the in-process backend publishes everything; one that says nothing has the least", () => {
  expect(createInProcessBackend({} as EngineDeps).capabilities).toBe(fullCapabilities);
  expect(remoteBackend("x", {}).capabilities).toBe(remoteStatelessText);
});

test("B-025 B-026 B-027 a turn has agent, identity, the whole and what is new, its task and its signal, and nothing local", async () => {
  await using w = await world(["one", "two"]);
  await (await w.start("first", "t-1")).result();
  await (await w.start("second", "t-1")).result();
  const [, turn] = w.backend.turns as readonly RemoteTurn[];
  expect(Object.keys(turn ?? {}).sort()).toEqual([
    "agent",
    "attempt",
    "context",
    "identity",
    "message",
    "messages",
    "newMessages",
    "onTask",
    "signal",
    "step",
    "text",
    "timeoutMs",
  ]);
  expect(turn?.identity).toMatchObject({ agent: "clerk", thread: "t-1" });
  expect(turn?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(turn?.newMessages.map(({ parts }) => parts)).toEqual([[{ type: "text", text: "second" }]]);
  const { signal: _signal, onTask: _onTask, ...data } = turn as RemoteTurn;
  expect(JSON.parse(JSON.stringify(data))).toEqual(data);
});

test("B-032 B-069 an abort names agent, identity, latest state and whether it continued a task", async () => {
  await using w = await world([{ task: "t", result: { status: { kind: "completed" } }, until: never }]);
  const run = await w.start();
  await w.t.settle();
  await run.cancel();
  await run.result();
  expect(w.backend.aborts).toHaveLength(1);
  const [asked] = w.backend.aborts;
  expect(asked).toMatchObject({
    agent: "clerk",
    identity: { run: run.id },
    isContinuation: false,
    task: { task: "t" },
  });
  expect(asked?.parent).toBeUndefined();
  expect(Object.keys(asked?.state ?? {})).toEqual(["__runtime_remote_backend"]);
});

test("B-033 B-034 an output is written without what is absent or empty, and read so", () => {
  expect(writtenOutput({ text: "t", artifacts: [] })).toEqual({ text: "t" });
  expect(writtenOutput({})).toEqual({});
  expect(writtenOutput({ artifacts: [{ content: 1 }], raw: null })).toEqual({ artifacts: [{ content: 1 }], raw: null });
  expect(readResult({ status: { kind: "completed" } })).toMatchObject({ ok: true, result: { output: {} } });
  expect(saidBy({ status: { kind: "completed" }, response: "r" }).output).toEqual({ text: "r" });
});

test.each([
  ["the text", { text: "a" }, "b", "a"],
  ["an empty text", { text: "" }, "b", ""],
  ["the fallback", {}, "b", "b"],
  ["nothing", {}, undefined, undefined],
] as const)("B-035 text or fallback: %s", (...[, output, fallback, said]) => {
  expect(textOr(output, fallback)).toBe(said);
});

test("B-036 an artifact has a content and may have id, name and media type", () => {
  const read = (artifact: unknown): boolean =>
    readResult({ status: { kind: "completed" }, output: { artifacts: [artifact] } }).ok;
  expect([{ content: null }, { content: 1, id: "i", name: "n", mediaType: "text/plain" }].every(read)).toBe(true);
  expect([{}, { name: "n" }, { content: 1, id: 7 }, "text"].some(read)).toBe(false);
});

test("B-037 a result has status, termination, reason, response, output, task, usage and state, and what is no result is refused", () => {
  const whole = {
    status: { kind: "waiting_input", message: "which?" },
    termination: { type: "suspended" },
    statusReason: "input_required",
    response: "r",
    output: { text: "t" },
    task: { task: "1", context: "c" },
    usage: { inputTokens: 1, outputTokens: 2 },
    state: { a: 1 },
  };
  expect(readResult(whole)).toEqual({ ok: true, result: whole });
  for (const wrong of [
    null,
    "done",
    {},
    { status: { kind: "done" } },
    { status: { kind: "failed" } },
    { ...whole, task: {} },
  ]) {
    expect(readResult(wrong)).toMatchObject({ ok: false });
  }
  expect(reportOf({ status: { kind: "failed", message: "m" } }).termination).toEqual({ type: "error", value: "m" });
  expect(isEmptyOutput({ artifacts: [] }) && !isEmptyOutput({ text: "" })).toBe(true);
});

test("B-051 B-052 B-053 what a backend does not have refuses, and an abort is done", async () => {
  const backend = remoteBackend("x", {});
  await expect(backend.abort({} as never)).resolves.toBeUndefined();
  const refusal = (text: string) => ({ code: "backend-execution-failed", message: `execution failed: ${text}` });
  await expect(backend.executeRoot({} as never)).rejects.toMatchObject(
    refusal("backend does not support root execution"),
  );
  await expect(backend.executeDelegate({} as never)).rejects.toMatchObject(
    refusal("backend does not support delegated execution"),
  );
});

test("B-054 B-055 B-056 a factory has a name, builds, and validates by building; its error is shown as it is", () => {
  let built = 0;
  const factory = backendFactory("x", ({ options }) => {
    built += 1;
    if (options.wrong) throw new HoldfastError("invalid-backend", "no wrong here");
    return remoteBackend("x", {});
  });
  const endpoint = readEndpoint({ backend: "x", baseUrl: "https://x.test" });
  factory.validate(endpoint);
  expect([factory.name, built, factory.build(endpoint).name]).toEqual(["x", 1, "x"]);
  const wrong = { ...endpoint, options: { wrong: true } };
  expect(() => factory.validate(wrong)).toThrow(/^no wrong here$/);
  expect(() => configuredBackend(factory, wrong)).toThrow(/^no wrong here$/);
});

test.each([
  ["backend-agent-not-found", "agent not found: m"],
  ["backend-execution-failed", "execution failed: m"],
  ["backend-remote-error", "remote error: m"],
] as const)("B-057 an error %s is shown with its prefix, and its bare text is what was said", (code, text) => {
  const error = backendError(code, "m");
  expect([error.code, error.message, bareText(error)]).toEqual([code, text, "m"]);
});

test("B-057 an error of the loop is shown as itself", () => {
  const error = new HoldfastError("store-full", "no room");
  expect(bareText(error)).toBe("no room");
});

test("B-058 B-062 XA-34 a backend that cannot be built is that error, before anything is written", async () => {
  const endpoint = { baseUrl: "https://x.test", timeoutMs: 1, options: {} };
  const broken = {
    name: "x",
    endpoint,
    build: () => {
      throw new HoldfastError("invalid-backend", "no such thing");
    },
  };
  const clerk = agent({ name: "clerk", backend: broken });
  const refused = { code: "invalid-backend", message: "failed to build backend 'x': no such thing" };
  await expect(createRuntime({ agents: [clerk] })).rejects.toMatchObject(refused);
  expect(() => bindAgent(clerk)).toThrow("failed to build backend 'x'");
  const built = remoteBackend("x", {});
  const whole = bindAgent(agent({ name: "clerk", backend: { ...broken, build: () => built } }));
  expect(whole.remote?.backend.capabilities).toBe(remoteStatelessText);
});

test("XA-34 a backend is built once, however often it is bound", () => {
  let count = 0;
  const backend = {
    name: "x",
    endpoint: { baseUrl: "https://x.test", timeoutMs: 1, options: {} },
    build: () => {
      count += 1;
      return remoteBackend("x", {});
    },
  };
  const clerk = agent({ name: "clerk", backend });
  expect(bindAgent(clerk).remote?.backend).toBe(bindAgent(clerk).remote?.backend);
  expect(count).toBe(1);
});

const legal = { baseUrl: "https://x.test" } as const;

test("XA-35 an endpoint has a backend, an address, auth, target, timeout and options; older names are taken alone", () => {
  expect(readEndpoint(legal)).toEqual({ backend: "a2a", baseUrl: "https://x.test", timeoutMs: 300_000, options: {} });
  expect(
    readEndpoint({ base_url: "https://x.test", bearer_token: "b", agent_id: "g", poll_interval_ms: 5, timeout_ms: 7 }),
  ).toEqual({
    backend: "a2a",
    baseUrl: "https://x.test",
    auth: { type: "bearer", token: "b" },
    target: "g",
    timeoutMs: 7,
    options: { pollInterval: 5 },
  });
});

test.each([
  ["a blank backend", { ...legal, backend: " " }, "backend: must be"],
  ["a mixture", { ...legal, bearer_token: "b" }, "bearer_token: older names cannot be mixed with baseUrl"],
  ["an unknown name", { ...legal, retries: 3 }, "retries: unknown option"],
  ["no address", {}, "baseUrl: must be a URL"],
  ["a file", { baseUrl: "file:///etc/passwd" }, "must be http or https"],
  ["a login in the address", { baseUrl: "https://a:b@x.test" }, "must not have a login"],
  ["an option that is a key", { ...legal, options: { key: `sk-${"a1".repeat(20)}` } }, "looks like"],
  ["an option that is no JSON", { ...legal, options: { run: () => 1 } }, "options: must be JSON"],
  ["an auth without a type", { ...legal, auth: { token: "x" } }, "auth.type"],
  ["a timeout of 0", { ...legal, timeout: 0 }, "timeout: must be"],
] as const)("XA-35 an endpoint with %s is refused by name", (_name, given, text) => {
  expect(() => readEndpoint(given as never)).toThrow(text);
});
