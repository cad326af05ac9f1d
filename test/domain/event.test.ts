import { expect, test } from "vitest";
import type { EntryBody, EntryType } from "../../src/domain/entry.ts";
import { project, type RunEvent } from "../../src/domain/event.ts";
import type { RunId, ThreadId } from "../../src/domain/ids.ts";
import * as j from "./journal.ts";

const child = { ...j.identity, parentRun: "run-0" as RunId, parentThread: "thread-0" as ThreadId };

function eventOf(body: EntryBody): RunEvent {
  return project(j.stamp(body, 4), child);
}

const stamp = { run: j.run, thread: j.thread, seq: 4, at: 1_004 };
const settled = { type: "effect-settled", effect: "run-1.1.0", attempt: 1, result: { kind: "done" } };
const intended = { type: "effect-intended", kind: "tool", call: "run-1.1.0", effect: "run-1.1.0", attempt: 1 };

/** One row per kind of entry: what a watcher sees besides run, thread, seq and time. */
const table: Record<EntryType, readonly [EntryBody, object]> = {
  "run-created": [j.created(), { type: "run-created", identity: j.identity, input: [j.userSays("hello")] }],
  "run-started": [j.runStarted, { type: "run-started", position: 0, identity: child }],
  "run-waiting": [
    j.runWaiting(j.ticket()),
    { type: "run-waiting", tickets: ["run-1.1.0.approval.1"], reasons: ["approval"] },
  ],
  "run-resumed": [j.runResumed, { type: "run-resumed" }],
  "run-ended": [
    j.runEnded({ kind: "timed-out" }),
    { type: "run-ended", outcome: { kind: "timed-out" }, identity: child },
  ],
  "step-started": [j.stepStarted(), { type: "step-started", step: 1 }],
  "step-ended": [j.stepEnded(), { type: "step-ended", step: 1 }],
  "context-projected": [j.projected(), j.projected()],
  "effect-intended": [j.toolIntended(), intended],
  "effect-settled": [j.toolSettled(), settled],
  "call-gated": [j.callGated(), { type: "call-gated", call: "run-1.1.0", verdict: { kind: "allow" } }],
  "message-appended": [
    { type: "message-appended", body: { kind: "here", message: j.userSays("hi") } },
    { type: "message-appended", message: j.userSays("hi") },
  ],
  "command-applied": [
    { type: "command-applied", phase: "after-step", commands: [] },
    { type: "command-applied", phase: "after-step", commands: [] },
  ],
  "state-changed": [
    { type: "state-changed", key: "k", scope: "run", version: 1, change: { value: 1 }, by: "p" },
    { type: "state-changed", key: "k", scope: "run", version: 1, change: { value: 1 }, by: "p" },
  ],
  "output-validated": [
    { type: "output-validated", step: 1, report: { valid: true, value: 1 } },
    { type: "output-validated", step: 1, report: { valid: true, value: 1 } },
  ],
  "manifest-amended": [
    j.amended("print-2"),
    { type: "manifest-amended", from: "f-1", fingerprint: "print-2", changed: ["refund"] },
  ],
  "ticket-opened": [j.opened(), { type: "ticket-opened", ticket: j.ticket() }],
  "ticket-decided": [
    j.decided({ kind: "approve" }),
    { type: "ticket-decided", ticket: "run-1.1.0.approval.1", decision: { kind: "approve" }, by: "ana" },
  ],
  "input-received": [
    j.inputReceived(),
    { type: "input-received", input: "in-1", message: j.userSays("more", "m-in-1"), by: "ana" },
  ],
  "input-withdrawn": [j.inputWithdrawn(), { type: "input-withdrawn", input: "in-1", by: "ana" }],
  "cancel-requested": [j.cancelRequested, { type: "cancel-requested", by: "ana", reason: "enough" }],
  "pause-requested": [j.pauseRequested, { type: "pause-requested", by: "ana" }],
};

test.each(Object.entries(table))(
  "%s is told with what it says and nothing of how it is kept",
  (_type, [body, told]) => {
    expect(eventOf(body)).toStrictEqual({ ...stamp, ...told });
  },
);

test("an entry is told the same every time", () => {
  for (const [body] of Object.values(table)) expect(eventOf(body)).toStrictEqual(eventOf(body));
});

test("a model's intent names no call", () => {
  expect(eventOf(j.modelIntended())).not.toHaveProperty("call");
});

test("a message that came with the start or as an input says which entry brought it", () => {
  expect(eventOf(j.appendInput)).toMatchObject({ from: 1 });
  expect(eventOf(j.inputTaken(3))).toMatchObject({ from: 3 });
});

test("B-064 run-started carries thread, run, parent run and the whole identity", () => {
  const event = eventOf(j.runStarted);
  expect(event).toMatchObject({ run: j.run, thread: j.thread, identity: { parentRun: "run-0", agent: "support" } });
});

test("B-083 run-ended carries thread, run, identity, outcome and where the answer is", () => {
  const outcome = { kind: "completed", reason: "natural" } as const;
  const event = eventOf({ type: "run-ended", outcome, answer: 9 });
  expect(event).toMatchObject({ run: j.run, thread: j.thread, identity: child, outcome, answer: 9 });
});

test("the key of a post and the key of an effect are not told", () => {
  expect(eventOf(j.decided({ kind: "approve" }))).not.toHaveProperty("key");
  expect(eventOf(j.toolIntended())).not.toHaveProperty("key");
});
