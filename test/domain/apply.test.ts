import { expect, test } from "vitest";
import { apply, birth, fold, foldAll } from "../../src/domain/apply.ts";
import type { Entry, EntryBody, RunCreated } from "../../src/domain/entry.ts";
import { type ErrorCode, isHoldfastError } from "../../src/domain/errors.ts";
import type { RunState } from "../../src/domain/run-state.ts";
import * as j from "./journal.ts";

function stateOf(...bodies: readonly EntryBody[]): RunState {
  return foldAll(j.journal(...bodies));
}

function codeOf(work: () => unknown): ErrorCode | undefined {
  try {
    work();
  } catch (error) {
    if (isHoldfastError(error)) return error.code;
    throw error;
  }
  return undefined;
}

function refusalOf(...bodies: readonly EntryBody[]): ErrorCode | undefined {
  return codeOf(() => stateOf(...bodies));
}

test("a birth holds what was asked for, without the message bodies", () => {
  const state = birth(j.stamp(j.created(), 1) as Entry & RunCreated);
  expect(state).toMatchObject({ seq: 1, status: "created", inputCount: 1, createdAt: 1_001, updatedAt: 1_001 });
  expect(state.created).not.toHaveProperty("input");
  expect(state.created).not.toHaveProperty("type");
  expect(state.created.request.inputIds).toEqual(["m-1"]);
});

test("a journal that is empty or does not begin with run-created is unreadable", () => {
  expect(codeOf(() => foldAll([]))).toBe("entry-unreadable");
  expect(codeOf(() => foldAll([j.stamp(j.runStarted, 1)]))).toBe("entry-unreadable");
});

test("A1 a gap in seq throws and says what does not follow what", () => {
  const state = stateOf(j.created());
  expect(() => apply(state, j.stamp(j.runStarted, 3))).toThrow("entry 3 does not follow 1");
  expect(codeOf(() => fold(state, [j.stamp(j.runStarted, 3)]))).toBe("entry-unreadable");
});

test("A1 an entry that was folded already is applied by nobody and skipped by fold", () => {
  const entries = j.journal(j.created(), j.runStarted);
  const state = foldAll(entries);
  expect(fold(state, entries.slice(1))).toBe(state);
  expect(codeOf(() => apply(state, entries[1]!))).toBe("entry-unreadable");
});

test("A2 status moves along the legal table", () => {
  const ticket = j.ticket("timer");
  expect(stateOf(j.created()).status).toBe("created");
  expect(stateOf(j.created(), j.runStarted).status).toBe("running");
  expect(stateOf(j.created(), j.runStarted, j.opened(ticket), j.runWaiting(ticket)).status).toBe("waiting");
  expect(stateOf(j.created(), j.runStarted, j.runWaiting(ticket), j.runResumed).status).toBe("running");
  expect(stateOf(j.created(), j.runEnded({ kind: "cancelled" })).status).toBe("done");
});

test("A2 a run that has not started cannot wait", () => {
  expect(refusalOf(j.created(), j.runWaiting())).toBe("illegal-transition");
});

test("A2 nothing follows run-ended, whatever it is", () => {
  const done = [j.created(), j.runStarted, j.runEnded()];
  const late = [j.runEnded(), j.runResumed, j.cancelRequested, j.inputReceived(), j.stepStarted(), j.opened()];
  for (const body of late) expect(refusalOf(...done, body)).toBe("illegal-transition");
});

test("a run is created once", () => {
  expect(refusalOf(j.created(), j.created())).toBe("illegal-transition");
});

test("A3 a settlement closes only the attempt that is open", () => {
  const intended = [j.created(), j.runStarted, j.stepStarted(), j.modelIntended()];
  expect(refusalOf(...intended, j.modelSettled({ kind: "done" }, 1, 2))).toBe("illegal-transition");
  expect(refusalOf(...intended, j.modelSettled(), j.modelSettled())).toBe("illegal-transition");
  expect(refusalOf(j.created(), j.runStarted, j.stepStarted(), j.modelSettled())).toBe("illegal-transition");
});

test("A3 an attempt in flight is not intended over", () => {
  const model = [j.created(), j.runStarted, j.stepStarted(), j.modelIntended()];
  expect(refusalOf(...model, j.modelIntended(1, 2))).toBe("illegal-transition");
  const tool = [...j.proposed({}), j.callGated(), j.toolIntended()];
  expect(refusalOf(...tool, j.toolIntended(j.call(), 2))).toBe("illegal-transition");
});

test("A4 a decision on a ticket that is not open throws", () => {
  expect(refusalOf(...j.proposed({}), j.decided({ kind: "approve" }))).toBe("illegal-transition");
  const twice = [...j.waiting(), j.decided({ kind: "approve" }), j.decided({ kind: "approve" })];
  expect(refusalOf(...twice)).toBe("illegal-transition");
});

test("A4 a decision touches only the ticket it names", () => {
  const [first, second] = [j.ticket("approval"), j.ticket("approval", { of: j.call(1) })];
  const asked = [j.callGated(j.ask), j.callGated(j.ask, j.call(1)), j.opened(first), j.opened(second)];
  const before = stateOf(...j.proposed({}, {}), ...asked);
  const after = apply(before, j.stamp(j.decided({ kind: "approve" }, second.id), before.seq + 1));
  expect(after.tickets).toEqual([first]);
  expect(after.step?.calls[0]).toEqual(before.step?.calls[0]);
  expect(after.step?.calls[1]?.status).toBe("ready");
});

test("every entry moves seq and updated-at, and only those", () => {
  const state = stateOf(j.created(), j.runStarted, j.inputReceived());
  expect(state).toMatchObject({ seq: 3, updatedAt: 1_003, createdAt: 1_001, startedAt: 1_002 });
});

test("run-started gives the run its place in the thread", () => {
  expect(stateOf(j.created(), { type: "run-started", position: 12 })).toMatchObject({ position: 12, startedAt: 1_002 });
});

test("run-waiting remembers the claim, run-resumed forgets it", () => {
  const waiting = stateOf(...j.waiting());
  expect(waiting).toMatchObject({ status: "waiting", waitingSince: j.epoch });
  const resumed = apply(waiting, j.stamp(j.runResumed, waiting.seq + 1));
  expect(resumed.status).toBe("running");
  expect(resumed).not.toHaveProperty("waitingSince");
});

test("run-ended records outcome and time", () => {
  const outcome = { kind: "stopped", code: "steps", detail: "50 of 50" } as const;
  expect(stateOf(j.created(), j.runStarted, j.runEnded(outcome))).toMatchObject({ outcome, endedAt: 1_003 });
});

test("a step begins empty and is counted when it ends", () => {
  const begun = stateOf(j.created(), j.runStarted, j.stepStarted(3));
  expect(begun.step).toMatchObject({ step: 3, model: { id: "run-1.3.model", attempt: 0 }, calls: [], ended: false });
  const ended = stateOf(j.created(), j.runStarted, j.stepStarted(3), j.stepEnded(3));
  expect(ended).toMatchObject({ stepsEnded: 1, step: { ended: true } });
});

test("what belongs into a step is refused outside one", () => {
  const started = [j.created(), j.runStarted];
  const lost: EntryBody[] = [j.stepEnded(), j.modelIntended(), j.modelSettled(), j.answered(1), j.callGated()];
  for (const body of lost) expect(refusalOf(...started, body)).toBe("illegal-transition");
});

test("an intended attempt is open under its claim until it settles", () => {
  const intended = stateOf(j.created(), j.runStarted, j.stepStarted(), j.modelIntended());
  expect(intended.step?.model).toMatchObject({
    id: "run-1.1.model",
    attempt: 1,
    open: { attempt: 1, key: "run-1.1.model", startBy: 9_000, timeoutMs: 500, epoch: j.epoch },
  });
  const settled = apply(intended, j.stamp(j.modelSettled({ kind: "lost" }), intended.seq + 1));
  expect(settled.step?.model).toMatchObject({ id: "run-1.1.model", attempt: 1, last: { kind: "lost" } });
  expect(settled.step?.model).not.toHaveProperty("open");
});

test("only attempts that failed count as failures", () => {
  const failed = { kind: "failed", error: { code: "model-failed", message: "x" }, retry: "later" } as const;
  const results = [{ kind: "lost" }, failed, { kind: "not-made" }, failed] as const;
  const attempts = results.flatMap((result, index) => [
    j.modelIntended(1, index + 1),
    j.modelSettled(result, 1, index + 1),
  ]);
  const state = stateOf(j.created(), j.runStarted, j.stepStarted(), ...attempts);
  expect(state.step?.model).toMatchObject({ attempt: 4, failures: 2 });
});

test("tokens of every settled model call add up, over steps", () => {
  const usage = { inputTokens: 10, outputTokens: 4 };
  const step = (n: number): EntryBody[] => [
    j.stepStarted(n),
    j.modelIntended(n),
    j.modelSettled({ kind: "failed", error: { code: "model-failed", message: "x" }, retry: "later" }, n),
    j.modelIntended(n, 2),
    j.modelSettled({ kind: "done", usage }, n, 2),
    j.stepEnded(n),
  ];
  const state = stateOf(j.created(), j.runStarted, ...step(1), ...step(2));
  expect(state).toMatchObject({ stepsEnded: 2, usage: { inputTokens: 20, outputTokens: 8 } });
});

test("the model's answer opens its calls and is where the answer is", () => {
  const state = stateOf(...j.proposed({ cents: 5 }, "x"));
  expect(state.answer).toBe(7);
  expect(state.step?.calls).toEqual([
    {
      id: "run-1.1.0",
      index: 0,
      tool: "refund",
      input: { kind: "json", value: { cents: 5 } },
      status: "proposed",
      asked: 0,
      unknownTickets: 0,
      keyGeneration: 1,
    },
    expect.objectContaining({ id: "run-1.1.1", index: 1, input: { kind: "json", value: "x" } }),
  ]);
});

test("messages are counted wherever their body is", () => {
  const state = stateOf(j.created(), j.runStarted, j.appendInput, j.inputReceived(), j.inputTaken(4));
  expect(state).toMatchObject({ appended: 2, inbox: [] });
});

test("a message of a person that stands in the journal itself is only counted", () => {
  const message: EntryBody = { type: "message-appended", body: { kind: "here", message: j.userSays("hi") } };
  const state = stateOf(j.created(), j.runStarted, message);
  expect(state.appended).toBe(1);
  expect(state).not.toHaveProperty("answer");
});

test("an input waits in the inbox until it is taken or withdrawn", () => {
  const received = [j.created(), j.inputReceived("a"), j.inputReceived("b")];
  expect(stateOf(...received).inbox).toEqual([
    { id: "a", seq: 2 },
    { id: "b", seq: 3 },
  ]);
  expect(stateOf(...received, j.inputWithdrawn("a")).inbox).toEqual([{ id: "b", seq: 3 }]);
  expect(stateOf(...received, j.runStarted, j.inputTaken(3, "b")).inbox).toEqual([{ id: "a", seq: 2 }]);
});

test("the first cancel stands", () => {
  const state = stateOf(j.created(), j.cancelRequested, { type: "cancel-requested", by: "bob" });
  expect(state.cancel).toEqual({ by: "ana", at: 1_002, seq: 2, reason: "enough" });
});

test("the first pause stands until its ticket is released", () => {
  const asked = [
    j.created(),
    j.runStarted,
    j.pauseRequested,
    { type: "pause-requested", by: "bob", reason: "y" } as const,
  ];
  expect(stateOf(...asked).pause).toEqual({ by: "ana" });
  const pause = j.ticket("pause");
  const released = stateOf(...asked, j.opened(pause), j.runWaiting(pause), j.decided({ kind: "release" }, pause.id));
  expect(released).not.toHaveProperty("pause");
  expect(released).toMatchObject({ pauses: 1, tickets: [] });
});

test("tickets on the run itself are numbered by kind", () => {
  const kinds = ["timer", "quarantined", "pause"] as const;
  const state = stateOf(j.created(), j.runStarted, ...kinds.map((kind) => j.opened(j.ticket(kind))));
  expect(state).toMatchObject({ timers: 1, quarantines: 1, pauses: 1 });
});

test("A4 a ticket is not opened over itself", () => {
  const timer = j.opened(j.ticket("timer"));
  expect(() => stateOf(j.created(), j.runStarted, timer, timer)).toThrow(/already open/);
});

test("A2 a run starts once", () => {
  expect(() => stateOf(j.created(), j.runStarted, j.runStarted)).toThrow(/already started/);
});

test("a timer that elapsed and a quarantine that is released leave nothing behind", () => {
  const [timer, quarantined] = [j.ticket("timer"), j.ticket("quarantined")];
  const opened = [j.created(), j.runStarted, j.opened(timer), j.opened(quarantined)];
  const decided = [j.decided({ kind: "elapsed" }, timer.id, "engine"), j.decided({ kind: "release" }, quarantined.id)];
  expect(stateOf(...opened, ...decided).tickets).toEqual([]);
});

test("cancel-run as an answer is a cancel, and a pause goes with it", () => {
  const pause = j.ticket("pause");
  const state = stateOf(
    j.created(),
    j.runStarted,
    j.pauseRequested,
    j.opened(pause),
    j.decided({ kind: "cancel-run" }, pause.id),
  );
  expect(state.cancel).toEqual({ by: "ana", at: 1_005, seq: 5 });
  expect(state).not.toHaveProperty("pause");
  const after = stateOf(
    j.created(),
    j.runStarted,
    j.cancelRequested,
    j.opened(pause),
    j.decided({ kind: "cancel-run" }, pause.id),
  );
  expect(after.cancel?.seq).toBe(3);
});
