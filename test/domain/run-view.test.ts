import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import type { EntryBody } from "../../src/domain/entry.ts";
import type { CallId, MessageId, RunId, ThreadId } from "../../src/domain/ids.ts";
import type { RunIdentity } from "../../src/domain/run.ts";
import { type RunView, viewRun } from "../../src/domain/run-view.ts";
import * as j from "./journal.ts";

function viewAfter(...bodies: readonly EntryBody[]): RunView {
  return viewRun(foldAll(j.journal(...bodies)));
}

const child: RunIdentity = {
  ...j.identity,
  rootRun: "run-0" as RunId,
  parentRun: "run-0" as RunId,
  parentThread: "thread-0" as ThreadId,
  parentCall: "run-0.1.0" as CallId,
  session: "s-1",
  transportRequest: "req-1",
  origin: "subagent",
  mode: "internal_wake",
  adapter: "a2a",
};

test("XA-01 the identity is flat, with every id it was given", () => {
  expect(viewAfter(j.created({ identity: child }))).toMatchObject(child);
});

test("XA-01 a blank optional id counts as absent, a required one is never dropped", () => {
  const blank = { parentRun: "", parentThread: " ", parentCall: "\t", session: "", transportRequest: "  " };
  const identity = { ...j.identity, run: " " as RunId, ...blank } as unknown as RunIdentity;
  const view = viewAfter(j.created({ identity, request: { ...j.created().request, sender: " " } }));
  for (const name of Object.keys(blank)) expect(view).not.toHaveProperty(name);
  expect(view.request).not.toHaveProperty("sender");
  expect(view.request).not.toHaveProperty("parentThread");
  expect(view.run).toBe(" ");
});

test("XA-02 origin, mode and adapter are those of run-created", () => {
  expect(viewAfter(j.created())).toMatchObject({ origin: "user", mode: "foreground", adapter: "internal" });
  expect(viewAfter(j.created({ identity: child }))).toMatchObject({ origin: "subagent", mode: "internal_wake" });
});

test("XA-08 a run that is done shows every field of the seed's record", () => {
  const view = viewAfter(...j.proposed(), j.stepEnded(), j.runEnded());
  expect(view).toStrictEqual({
    ...j.identity,
    request: {
      origin: "user",
      key: "key-1",
      inputIds: ["m-1"],
      inputCount: 1,
      decisions: [],
      frontendTools: [],
    },
    manifest: { fingerprint: "f-1" },
    input: { thread: j.thread, range: { from: 1, to: 1 }, triggerIds: ["m-1"] },
    output: { thread: j.thread, range: { from: 2, to: 2 } },
    status: "done",
    outcome: { kind: "completed", reason: "natural" },
    answer: 7,
    createdAt: 1_001,
    startedAt: 1_002,
    finishedAt: 1_009,
    updatedAt: 1_009,
    steps: 1,
    inputTokens: 10,
    outputTokens: 4,
    cancelRequested: false,
    pointers: { latest: j.run },
  });
});

test("XA-09 the request is shown whole, as it was made", () => {
  const request = {
    origin: "a2a",
    sender: "ana",
    key: "key-9",
    inputIds: ["m-1"] as MessageId[],
    inputCount: 1,
    extras: { locale: "de" },
  } as const;
  const view = viewAfter(j.created({ identity: child, request }));
  expect(view.request).toStrictEqual({
    ...request,
    parentThread: "thread-0",
    transportRequest: "req-1",
    decisions: [],
    frontendTools: [],
  });
});

test("XA-13 the view says what the run's last write means for its thread", () => {
  expect(viewAfter(j.created()).pointers).toStrictEqual({ latest: j.run, open: j.run });
  expect(viewAfter(j.created(), j.runStarted).pointers).toStrictEqual({ latest: j.run, active: j.run, open: j.run });
  expect(viewAfter(...j.waiting()).pointers).toStrictEqual({ latest: j.run, open: j.run });
  expect(viewAfter(j.created(), j.runEnded({ kind: "cancelled" })).pointers).toStrictEqual({ latest: j.run });
});

test("B-085 an error is shown for a failed run only", () => {
  const error = { code: "model-failed", message: "no answer" };
  const failed = viewAfter(j.created(), j.runStarted, j.runEnded({ kind: "failed", error, retry: "later" }));
  expect(failed.error).toEqual(error);
  for (const outcome of [{ kind: "timed-out" }, { kind: "stopped", code: "steps" }, { kind: "cancelled" }] as const) {
    expect(viewAfter(j.created(), j.runStarted, j.runEnded(outcome))).not.toHaveProperty("error");
  }
});

test("B-090 waiting data exists exactly while the run waits, and every wait has a ticket", () => {
  expect(viewAfter(...j.waiting()).waiting?.tickets).toEqual(["run-1.1.0.approval.1"]);
  expect(viewAfter(...j.waiting(), j.runResumed)).not.toHaveProperty("waiting");
  expect(viewAfter(...j.waiting(), j.runEnded({ kind: "cancelled" }))).not.toHaveProperty("waiting");
  expect(viewAfter(j.created(), j.runStarted, j.opened(j.ticket("timer")))).not.toHaveProperty("waiting");
});

test("B-091 waiting data remembers the claim under which the wait began", () => {
  expect(viewAfter(...j.waiting(), j.inputReceived()).waiting?.sinceEpoch).toBe(j.epoch);
});

test("C-021 waiting data names tickets in their order and each reason once", () => {
  const tickets = [j.ticket("approval"), j.ticket("timer"), j.ticket("timer", { generation: 2 })];
  const waiting = [...j.proposed({}), j.callGated(j.ask), ...tickets.map(j.opened), j.runWaiting(...tickets)];
  expect(viewAfter(...waiting).waiting).toEqual({
    tickets: tickets.map((ticket) => ticket.id),
    reasons: ["approval", "timer"],
    sinceEpoch: j.epoch,
  });
});

const life = [...j.waiting(), j.decided({ kind: "approve" }), j.runResumed, j.toolIntended(), j.toolSettled()];

test.each(["B-092", "C-012"])("%s created-at is the time of run-created, in ms, over every later write", () => {
  for (let length = 1; length <= life.length; length += 1) {
    expect(viewAfter(...life.slice(0, length)).createdAt).toBe(j.startTime + 1);
  }
});

test.each(["B-093", "C-013"])("%s started-at is set by run-started and never moved by a resume", () => {
  expect(viewAfter(j.created())).not.toHaveProperty("startedAt");
  expect(viewAfter(...life).startedAt).toBe(j.startTime + 2);
});

test.each(["B-094", "C-014"])("%s finished-at is the time of the end, and absent before", () => {
  expect(viewAfter(...life)).not.toHaveProperty("finishedAt");
  expect(viewAfter(...life, j.runEnded()).finishedAt).toBe(j.startTime + life.length + 1);
});

test.each(["B-095", "C-015"])("%s updated-at is the time of the last entry, also one from outside", () => {
  expect(viewAfter(...life).updatedAt).toBe(j.startTime + life.length);
  expect(viewAfter(...life, j.cancelRequested).updatedAt).toBe(j.startTime + life.length + 1);
});

test.each(["B-096", "C-018"])("%s the request stays over every later write", () => {
  expect(viewAfter(...life, j.runEnded()).request).toEqual(viewAfter(j.created()).request);
});

test.each(["B-097", "C-019"])("%s session and transport request are those of the identity, on every write", () => {
  const [, ...rest] = life;
  const view = viewAfter(j.created({ identity: child }), ...rest);
  expect(view).toMatchObject({ session: "s-1", transportRequest: "req-1" });
});

test.each(["B-099", "C-020"])("%s the outcome exists exactly when the run is done, once (D-05, D-19)", () => {
  for (let length = 1; length <= life.length; length += 1) {
    expect(viewAfter(...life.slice(0, length))).not.toHaveProperty("outcome");
  }
  const outcome = { kind: "stopped", code: "steps", detail: "50 of 50" } as const;
  expect(viewAfter(...life, j.runEnded(outcome)).outcome).toEqual(outcome);
});

test("C-009 a run of which only the birth is known is created, with no steps and no tokens", () => {
  const view = viewAfter(j.created());
  expect(view).toMatchObject({ status: "created", steps: 0, inputTokens: 0, outputTokens: 0, cancelRequested: false });
});

test("C-016 status and step count come from the journal's own entries", () => {
  expect(viewAfter(...j.proposed(), j.stepEnded(), j.stepStarted(2))).toMatchObject({ status: "running", steps: 1 });
});

test("C-017 run, thread, agent and parent run are those of the start", () => {
  const { run, thread, agent, parentRun } = child;
  expect(viewAfter(j.created({ identity: child }), j.runStarted)).toMatchObject({ run, thread, agent, parentRun });
});

test("C-022 token totals are there after every step and go on over a resume (D-26)", () => {
  const more = [
    j.resultAppended(),
    j.stepEnded(),
    j.stepStarted(2),
    j.modelIntended(2),
    j.modelSettled({ kind: "done", usage: { inputTokens: 1, outputTokens: 2 } }, 2),
  ];
  expect(viewAfter(...life)).toMatchObject({ inputTokens: 10, outputTokens: 4 });
  expect(viewAfter(...life, ...more)).toMatchObject({ inputTokens: 11, outputTokens: 6 });
});

test("C-025 the input range is placed by run-started and never guessed from the thread's end (D-13)", () => {
  const input = [j.userSays("a", "m-1"), j.userSays("b", "m-2")];
  const second: EntryBody = { type: "message-appended", body: { kind: "created", index: 1 } };
  const begun = [j.created({ input }), { type: "run-started", position: 10 } as const, j.appendInput, second];
  expect(viewAfter(j.created({ input })).input).toStrictEqual({ thread: j.thread, triggerIds: ["m-1", "m-2"] });
  const range = { from: 11, to: 12 };
  expect(viewAfter(...begun)).toMatchObject({ input: { range } });
  expect(viewAfter(...begun)).not.toHaveProperty("output");
  const later = viewAfter(...begun, j.stepStarted(), j.answered(1), j.stepEnded());
  expect(later).toMatchObject({ input: { range }, output: { range: { from: 13, to: 13 } } });
});

test("C-027 a run without input messages has no input", () => {
  expect(viewAfter(j.created({ input: [] }), j.runStarted)).not.toHaveProperty("input");
});

test("C-030 the output range only grows, over waits and resumes", () => {
  expect(viewAfter(...j.waiting()).output?.range).toEqual({ from: 2, to: 2 });
  const next = [j.resultAppended(), j.stepEnded(), j.stepStarted(2), j.answered(2)];
  expect(viewAfter(...life, ...next).output?.range).toEqual({ from: 2, to: 4 });
});

test("a cancel is seen as soon as it is asked for", () => {
  expect(viewAfter(...j.waiting(), j.cancelRequested)).toMatchObject({ status: "waiting", cancelRequested: true });
});
