import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import type { EntryBody, Settled, Verdict } from "../../src/domain/entry.ts";
import type { CallState, RunState } from "../../src/domain/run-state.ts";
import type { Decision, ResumeMode } from "../../src/domain/ticket.ts";
import * as j from "./journal.ts";

function stateOf(...bodies: readonly EntryBody[]): RunState {
  return foldAll(j.journal(...bodies));
}

function callAfter(...bodies: readonly EntryBody[]): CallState {
  const call = stateOf(...j.proposed({ cents: 5 }), ...bodies).step?.calls[0];
  if (!call) throw new Error("the run has no call");
  return call;
}

const running = [j.callGated(), j.toolIntended()];

const verdicts: readonly [Verdict, Partial<CallState>][] = [
  [{ kind: "allow" }, { status: "ready" }],
  [j.ask, { status: "asked", ask: j.ask }],
  [
    { kind: "refuse", code: "unknown-tool", message: "no such tool" },
    { status: "concluded", result: { kind: "error", code: "unknown-tool", message: "no such tool" } },
  ],
];

test.each(verdicts)("a call judged %j moves on", (verdict, expected) => {
  expect(callAfter(j.callGated(verdict))).toMatchObject(expected);
});

test("a verdict on a call that is not open is refused", () => {
  expect(() => callAfter(j.callGated({ kind: "allow" }, j.call(9)))).toThrow("has no open call run-1.1.9");
});

const settlements: readonly [Settled, CallState["status"]][] = [
  [{ kind: "done" }, "concluded"],
  [{ kind: "failed", error: { code: "tool-failed", message: "x" }, retry: "never" }, "concluded"],
  [{ kind: "refused", code: "tool-failed", message: "x" }, "concluded"],
  [{ kind: "aborted" }, "concluded"],
  [{ kind: "not-made" }, "ready"],
  [{ kind: "lost" }, "ready"],
  [j.unknownResult, "unknown"],
];

test.each(settlements)("an attempt settled as %j leaves its call %s", (result, status) => {
  const call = callAfter(...running, j.toolSettled(result));
  expect(call.status).toBe(status);
  expect(call.effect).toMatchObject({ id: "run-1.1.0", attempt: 1, last: result });
  expect(call.effect).not.toHaveProperty("open");
});

test("an effect that belongs to no open call is refused", () => {
  expect(() => callAfter(j.callGated(), j.toolIntended(j.call(9)))).toThrow("belongs to no open call");
  expect(() => callAfter(j.callGated(), j.toolSettled())).toThrow("belongs to no open call");
});

test("a tool's intent without a call is refused", () => {
  const { call: _call, ...nobody } = j.toolIntended() as Extract<EntryBody, { type: "effect-intended" }>;
  expect(() => callAfter(j.callGated(), nobody)).toThrow("belongs to no open call");
});

test("tokens are counted for model calls only", () => {
  const usage = { inputTokens: 99, outputTokens: 99 };
  const state = stateOf(...j.proposed({}), ...running, j.toolSettled({ kind: "done", usage }));
  expect(state.usage).toEqual({ inputTokens: 10, outputTokens: 4 });
});

test("a call whose outcome is unknown is remembered with its input until somebody says", () => {
  const unknown = [...j.proposed({ cents: 5 }), ...running, j.toolSettled(j.unknownResult)];
  const state = stateOf(...unknown);
  expect(state.unknowns).toEqual([{ call: "run-1.1.0", tool: "refund", input: { cents: 5 } }]);
  expect(state.step?.calls[0]).toMatchObject({ problem: "the process died", decidableFrom: 9_500 });
  const ticket = j.ticket("unknown-outcome");
  const decided = stateOf(...unknown, j.opened(ticket), j.decided({ kind: "mark-done", result: 1 }, ticket.id));
  expect(decided.unknowns).toEqual([]);
});

test("a ticket on a call is counted on its call, by what it asks", () => {
  expect(callAfter(j.callGated(j.ask), j.opened())).toMatchObject({ asked: 1, unknownTickets: 0 });
  const unknown = [...running, j.toolSettled(j.unknownResult), j.opened(j.ticket("unknown-outcome"))];
  expect(callAfter(...unknown)).toMatchObject({ asked: 0, unknownTickets: 1 });
});

test("a ticket about a call must name one", () => {
  const { call: _call, ...nobody } = j.ticket();
  expect(() => callAfter(j.callGated(j.ask), j.opened(nobody))).toThrow("names no call");
});

function afterDecision(decision: Decision, resume: ResumeMode = "replay"): CallState {
  const ticket = j.ticket("approval", { resume });
  return callAfter(j.callGated(j.ask), j.opened(ticket), j.decided(decision, ticket.id));
}

test("approve lets the call run with the input that was shown", () => {
  const call = afterDecision({ kind: "approve" });
  expect(call).toMatchObject({ status: "ready", input: { kind: "json", value: { cents: 5 } } });
  expect(call.decision).toEqual({ decision: { kind: "approve" }, by: "ana", at: 1_010 });
});

test("edit sends the call back to its judge with the new input beside the old", () => {
  const call = afterDecision({ kind: "edit", input: { cents: 4 } });
  expect(call).toMatchObject({ status: "proposed", edit: { input: { cents: 4 } } });
  expect(call.input).toEqual({ kind: "json", value: { cents: 5 } });
});

test("an edit that is allowed replaces the whole input, one that is refused is gone", () => {
  const edited = [j.callGated(j.ask), j.opened(), j.decided({ kind: "edit", input: { cents: 4 } })];
  const allowed = callAfter(...edited, j.callGated());
  expect(allowed).toMatchObject({ status: "ready", input: { kind: "json", value: { cents: 4 } } });
  expect(allowed).not.toHaveProperty("edit");
  const again: Verdict = { kind: "ask", ticket: "approval", prompt: "Refund?", problem: "cents: too few" };
  const asked = callAfter(...edited, j.callGated(again), j.opened(j.ticket("approval", { generation: 2 })));
  expect(asked).toMatchObject({ status: "asked", asked: 2, ask: again, input: { kind: "json", value: { cents: 5 } } });
  expect(asked).not.toHaveProperty("edit");
});

test("reject concludes the call with the reason", () => {
  const expected = { status: "concluded", result: { kind: "error", code: "rejected", message: "too much" } };
  expect(afterDecision({ kind: "reject", reason: "too much" })).toMatchObject(expected);
});

test("answer is the result, or is handed to the tool where the mode says so", () => {
  const answer: Decision = { kind: "answer", value: { said: "yes" } };
  const result = { kind: "value", value: { said: "yes" } };
  expect(afterDecision(answer)).toMatchObject({ status: "concluded", result });
  expect(afterDecision(answer, "use-decision-as-result")).toMatchObject({ status: "concluded", result });
  const passed = afterDecision(answer, "pass-decision-to-tool");
  expect(passed).toMatchObject({ status: "ready", decision: { decision: answer } });
  expect(passed).not.toHaveProperty("result");
});

function afterUnknown(decision: Decision): CallState {
  const ticket = j.ticket("unknown-outcome");
  return callAfter(...running, j.toolSettled(j.unknownResult), j.opened(ticket), j.decided(decision, ticket.id));
}

test("mark-done gives the call its result, mark-failed an error", () => {
  const done = { status: "concluded", result: { kind: "value", value: "r-1" } };
  expect(afterUnknown({ kind: "mark-done", result: "r-1" })).toMatchObject(done);
  const failed = { status: "concluded", result: { kind: "error", code: "marked-failed", message: "it did not" } };
  expect(afterUnknown({ kind: "mark-failed", reason: "it did not" })).toMatchObject(failed);
});

test("run-again raises the key's generation, and nothing else does", () => {
  expect(afterUnknown({ kind: "run-again" })).toMatchObject({ status: "ready", keyGeneration: 2 });
  expect(callAfter(...running, j.toolSettled({ kind: "lost" }), j.toolIntended(j.call(), 2)).keyGeneration).toBe(1);
});

test("a run again is a new effect with its own attempts", () => {
  const ticket = j.ticket("unknown-outcome");
  const again = [j.toolSettled(j.unknownResult), j.opened(ticket), j.decided({ kind: "run-again" }, ticket.id)];
  const call = callAfter(...running, ...again, j.toolIntended(j.call(), 1, 2));
  expect(call.effect).toMatchObject({ id: "run-1.1.0~2", attempt: 1, open: { key: "run-1.1.0~2" } });
});

test("cancel-run about an unknown outcome asks for a cancel and leaves the call unknown", () => {
  const ticket = j.ticket("unknown-outcome");
  const unknown = [...j.proposed({}), ...running, j.toolSettled(j.unknownResult), j.opened(ticket)];
  const state = stateOf(...unknown, j.decided({ kind: "cancel-run" }, ticket.id));
  expect(state).toMatchObject({ tickets: [], cancel: { by: "ana" } });
  expect(state.step?.calls[0]?.status).toBe("unknown");
});

test("a ticket closed by the engine gives its call the result that is true", () => {
  const closed: Decision = { kind: "closed", why: "cancelled" };
  expect(afterDecision(closed).result).toMatchObject({ kind: "error", code: "not-run" });
  expect(afterUnknown(closed).result).toMatchObject({ kind: "error", code: "outcome-unknown" });
});

test.each(["release", "elapsed"] as const)("a call's ticket does not take %s", (kind) => {
  expect(() => afterDecision({ kind })).toThrow(`does not take ${kind}`);
});

test("a result in the transcript settles its call and is not kept twice", () => {
  const call = callAfter(j.callGated({ kind: "refuse", code: "invalid-input", message: "x" }), j.resultAppended());
  expect(call.status).toBe("settled");
  expect(call).not.toHaveProperty("result");
});

test("one tool message may settle several calls; a result for no open call is refused", () => {
  const result = { kind: "value", value: 1 } as const;
  const parts = [0, 1].map((index) => ({ type: "tool-result", call: j.call(index), tool: "refund", result }) as const);
  const message = { ...j.userSays(""), role: "tool", parts: [{ type: "text", text: "both" }, ...parts] } as const;
  const state = stateOf(...j.proposed({}, {}), { type: "message-appended", body: { kind: "here", message } });
  expect(state.step?.calls.map((call) => call.status)).toEqual(["settled", "settled"]);
  expect(() => callAfter(j.resultAppended(result, j.call(5)))).toThrow("has no open call");
});
