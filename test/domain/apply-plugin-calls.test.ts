import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import type { Command } from "../../src/domain/command.ts";
import type { EntryBody, Verdict } from "../../src/domain/entry.ts";
import type { CallResult } from "../../src/domain/message.ts";
import type { Phase } from "../../src/domain/phase.ts";
import type { CallState, RunState } from "../../src/domain/run-state.ts";
import * as j from "./journal.ts";

function stateOf(...bodies: readonly EntryBody[]): RunState {
  return foldAll(j.journal(...j.proposed({ cents: 5 }), ...bodies));
}

function callAfter(...bodies: readonly EntryBody[]): CallState {
  return stateOf(...bodies).step?.calls[0] as CallState;
}

function at(phase: Phase, ...commands: readonly Command[]): EntryBody {
  return j.applied(phase, commands, j.call());
}

const ready = [j.callGated()];
const running = [...ready, j.toolIntended()];
const answer: CallResult = { kind: "value", value: { found: 3 } };
/** The tool has answered, and plugins have the result before the model. */
const held = [...running, { ...j.toolSettled(), answered: answer } as EntryBody];
const settled = [...held, j.resultAppended(answer)];

const deny: Command = { type: "deny", reason: "Not on Sundays." };
const retry: Command = { type: "retry", reason: "Once more." };
const setResult: Command = { type: "set-result", value: { known: true } };
const denied: CallResult = { kind: "error", code: "denied", message: "Not on Sundays." };

test("a denied call is not run, and the model reads why", () => {
  const state = stateOf(...ready, at("before-tool", deny));
  expect(state.step?.calls[0]).toMatchObject({ status: "concluded", result: denied });
  expect(state.plugins).not.toHaveProperty("stop");
});

test("deny with stop blocks the run as well", () => {
  const state = stateOf(...ready, at("before-tool", { ...deny, stop: true }));
  expect(state.step?.calls[0]?.result).toEqual(denied);
  expect(state.plugins.stop).toEqual({ outcome: { kind: "blocked", reason: "Not on Sundays." }, at: 1_009 });
});

test.each([
  ["first", [deny, setResult]],
  ["last", [setResult, deny]],
])("deny wins over a result that another plugin knows, whether it comes %s", (_name, commands) => {
  expect(callAfter(...ready, at("before-tool", ...commands)).result).toEqual(denied);
});

const results: readonly [Phase, Command, CallResult][] = [
  ["before-tool", setResult, { kind: "value", value: { known: true } }],
  ["before-tool", { type: "set-result", value: null, say: "Known." }, { kind: "value", value: null, say: "Known." }],
  ["after-tool", { type: "rewrite-result", value: "short" }, { kind: "value", value: "short" }],
  ["after-tool", { type: "rewrite-result", value: 3, say: "Three." }, { kind: "value", value: 3, say: "Three." }],
  ["after-tool", { type: "rewrite-result", say: "Nothing." }, { kind: "value", value: null, say: "Nothing." }],
  [
    "after-tool",
    { type: "rewrite-result", error: "Too much." },
    { kind: "error", code: "tool-failed", message: "Too much." },
  ],
];

test.each(results)("%s: %j gives the call its result", (phase, command, result) => {
  const bodies = phase === "before-tool" ? ready : held;
  const call = callAfter(...bodies, at(phase, command));
  expect(call.status).toBe("concluded");
  expect(call.result).toStrictEqual(result);
});

test("what the tool itself answered waits for plugins, with the call", () => {
  expect(callAfter(...held)).toMatchObject({ status: "concluded", result: answer, effect: { last: { kind: "done" } } });
  expect(callAfter(...running, j.toolSettled())).not.toHaveProperty("result");
});

test("retry after the tool: the call may be attempted again, without the result it had", () => {
  const call = callAfter(...held, at("after-tool", retry));
  expect(call).toMatchObject({ status: "ready", keyGeneration: 1, effect: { attempt: 1 } });
  expect(call).not.toHaveProperty("result");
  expect(callAfter(...held, at("after-tool", retry), j.toolIntended(j.call(), 2))).toMatchObject({ status: "running" });
});

test("P1 the next attempt of a retried call has an after-tool of its own, but no other before-tool", () => {
  const again = [...ready, at("before-tool"), j.toolIntended(), ...held.slice(2), at("after-tool", retry)];
  expect(stateOf(...again).plugins.passed).toEqual(["before-tool:run-1.1.0"]);
  const second = { ...j.toolSettled({ kind: "done" }, j.call(), 2), answered: answer } as EntryBody;
  const state = stateOf(...again, j.toolIntended(j.call(), 2), second, at("after-tool"));
  expect(state.plugins.passed).toEqual(["before-tool:run-1.1.0", "after-tool:run-1.1.0"]);
});

const rewrite: Command = { type: "rewrite-result", value: "short" };

test.each([
  ["first", [retry, rewrite]],
  ["last", [rewrite, retry]],
  ["twice", [retry, retry]],
])("retry wins over a rewritten result, whether it comes %s", (_name, commands) => {
  const state = stateOf(...held, at("after-tool", ...commands));
  expect(state.step?.calls[0]).toMatchObject({ status: "ready" });
  expect(state.step?.calls[0]).not.toHaveProperty("result");
  expect(state.plugins.passed).toEqual([]);
});

test.each<[Phase, readonly EntryBody[]]>([
  ["tool-gate", []],
  ["before-tool", ready],
  ["after-tool", held],
])("a plugin that fails in %s fails the call, never the run", (phase, bodies) => {
  const state = stateOf(...bodies, j.pluginFailed(phase, j.call()));
  const result = { kind: "error", code: "plugin-failed", message: "guard threw" };
  expect(state.step?.calls[0]).toMatchObject({ status: "concluded", result });
  expect(state.plugins).not.toHaveProperty("stop");
});

const asked = [j.callGated(j.ask), j.opened()];
const unknown = [...running, j.toolSettled(j.unknownResult)];

test.each<[string, readonly EntryBody[], EntryBody]>([
  ["running", running, at("before-tool", deny)],
  ["asked", asked, at("before-tool", deny)],
  ["unknown", unknown, at("after-tool", rewrite)],
  ["unknown", unknown, j.pluginFailed("after-tool", j.call())],
  ["settled", settled, at("after-tool", rewrite)],
  ["settled", settled, at("after-tool", retry)],
  ["proposed", [], at("after-tool", retry)],
  ["proposed", [], at("before-tool", setResult)],
])("P3 a call that is %s takes nothing from a plugin there", (status, bodies, entry) => {
  expect(() => callAfter(...bodies, entry)).toThrow(`Call run-1.1.0 is ${status} and takes nothing from`);
});

test("what is about no open call is refused", () => {
  expect(() => stateOf(...ready, j.applied("before-tool", [deny], "run-1.1.9"))).toThrow("has no open call run-1.1.9");
  expect(() => stateOf(...ready, j.applied("before-tool", [deny]))).toThrow("has no open call at all");
  expect(() => foldAll(j.journal(j.created(), j.runStarted, at("before-tool", deny)))).toThrow("has no open call");
});

const byPlugin = { by: "guard" } as const;
const verdicts: readonly [Verdict, Partial<CallState>][] = [
  [
    { kind: "allow", input: { cents: 3 }, ...byPlugin },
    { status: "ready", input: { kind: "json", value: { cents: 3 } } },
  ],
  [
    { ...j.ask, input: { cents: 3 } },
    { status: "asked", input: { kind: "json", value: { cents: 3 } } },
  ],
  [
    { kind: "result", result: answer, ...byPlugin },
    { status: "concluded", result: answer },
  ],
  [
    { kind: "refuse", code: "denied", message: "Not on Sundays." },
    { status: "concluded", result: denied },
  ],
];

test.each(verdicts)("the verdict %j carries what plugins want of the call", (verdict, expected) => {
  const state = stateOf(j.callGated(verdict));
  expect(state.step?.calls[0]).toMatchObject(expected);
  expect(state.plugins).not.toHaveProperty("stop");
});

test("a refusal with stop blocks the run", () => {
  const state = stateOf(j.callGated({ kind: "refuse", code: "denied", message: "no", stop: true }));
  expect(state.plugins.stop).toEqual({ outcome: { kind: "blocked", reason: "no" }, at: 1_008 });
});

test("what a plugin made of an edited input wins over the edit", () => {
  const edited = [...asked, j.decided({ kind: "edit", input: { cents: 9 } })];
  expect(callAfter(...edited, j.callGated()).input).toEqual({ kind: "json", value: { cents: 9 } });
  expect(callAfter(...edited, j.callGated({ kind: "allow", input: { cents: 1 } })).input).toEqual({
    kind: "json",
    value: { cents: 1 },
  });
});
