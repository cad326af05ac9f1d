import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import type { EntryBody } from "../../src/domain/entry.ts";
import type { JsonValue } from "../../src/domain/json.ts";
import type { Outcome } from "../../src/domain/run.ts";
import { factsOf, type RunFacts } from "../../src/domain/seed-tables/run-facts.ts";
import {
  endOf,
  readTermination,
  type StatusAndReason,
  statusOfTermination,
  type Termination,
  terminationFromReason,
  terminationOf,
} from "../../src/domain/seed-tables/termination.ts";
import type { WaitingReason } from "../../src/domain/seed-tables/waiting-reason.ts";
import * as j from "../domain/journal.ts";

const failed: Outcome = { kind: "failed", error: { code: "model-failed", message: "no answer" }, retry: "later" };

const ends: readonly [string, Outcome, Termination][] = [
  ["completed, natural", { kind: "completed", reason: "natural" }, { type: "natural_end" }],
  ["completed, requested", { kind: "completed", reason: "requested" }, { type: "behavior_requested" }],
  ["stopped", { kind: "stopped", code: "steps" }, { type: "stopped", value: { code: "steps" } }],
  [
    "stopped with detail",
    { kind: "stopped", code: "steps", detail: "50 of 50" },
    { type: "stopped", value: { code: "steps", detail: "50 of 50" } },
  ],
  ["blocked", { kind: "blocked", reason: "policy" }, { type: "blocked", value: "policy" }],
  ["cancelled", { kind: "cancelled" }, { type: "cancelled" }],
  ["cancelled for a reason", { kind: "cancelled", reason: "enough" }, { type: "cancelled" }],
  ["failed", failed, { type: "error", value: "no answer" }],
  ["timed-out", { kind: "timed-out" }, { type: "stopped", value: { code: "timeout" } }],
];

test.each(ends)("M1 a run that is %s", (_name, outcome, termination) => {
  expect(terminationOf({ status: "done", outcome })).toStrictEqual(termination);
});

test("M1 a run that waits is suspended, one that has not ended has no termination", () => {
  const waits = [{ reason: "approval" }] as const;
  expect(terminationOf({ status: "waiting", cancelRequested: false, waits })).toEqual({ type: "suspended" });
  expect(terminationOf({ status: "created" })).toBeUndefined();
  expect(terminationOf({ status: "running", cancelRequested: true })).toBeUndefined();
});

function factsAfter(...bodies: readonly EntryBody[]): RunFacts {
  return factsOf(foldAll(j.journal(...bodies)));
}

test("the facts of a run are read from its fold", () => {
  expect(factsAfter(j.created(), j.cancelRequested)).toEqual({ status: "created" });
  expect(factsAfter(j.created(), j.runStarted)).toEqual({ status: "running", cancelRequested: false });
  const waits = [{ reason: "approval", prompt: "Refund?" }];
  expect(factsAfter(...j.waiting())).toEqual({ status: "waiting", cancelRequested: false, waits });
  expect(factsAfter(...j.waiting(), j.cancelRequested)).toMatchObject({ status: "waiting", cancelRequested: true });
  const outcome = { kind: "cancelled" } as const;
  expect(factsAfter(...j.waiting(), j.runEnded(outcome))).toEqual({ status: "done", outcome });
});

const wire: readonly [JsonValue, Termination][] = [
  [{ type: "natural_end" }, { type: "natural_end" }],
  [{ type: "behavior_requested" }, { type: "behavior_requested" }],
  [{ type: "plugin_requested" }, { type: "behavior_requested" }],
  [
    { type: "stopped", value: { code: "steps" } },
    { type: "stopped", value: { code: "steps" } },
  ],
  [
    { type: "stopped", value: { code: "steps", detail: "50" } },
    { type: "stopped", value: { code: "steps", detail: "50" } },
  ],
  [{ type: "cancelled" }, { type: "cancelled" }],
  [
    { type: "blocked", value: "policy" },
    { type: "blocked", value: "policy" },
  ],
  [{ type: "suspended" }, { type: "suspended" }],
  [
    { type: "error", value: "boom" },
    { type: "error", value: "boom" },
  ],
];

test.each(wire)("XA-04 %j is read", (from, termination) => {
  expect(readTermination(from)).toStrictEqual(termination);
});

test.each([
  null,
  "natural_end",
  [],
  {},
  { type: "finished" },
  { type: "blocked" },
  { type: "error", value: 7 },
  { type: "stopped", value: "steps" },
  { type: "stopped", value: { detail: "x" } },
  { type: "toString" },
])("XA-04 %j is no termination", (from) => {
  expect(readTermination(from)).toBeUndefined();
});

const stored: readonly [Termination, StatusAndReason][] = [
  [{ type: "suspended" }, { status: "waiting" }],
  [{ type: "natural_end" }, { status: "done", reason: "natural" }],
  [{ type: "behavior_requested" }, { status: "done", reason: "behavior_requested" }],
  [{ type: "cancelled" }, { status: "done", reason: "cancelled" }],
  [
    { type: "blocked", value: "policy" },
    { status: "done", reason: "blocked:policy" },
  ],
  [
    { type: "error", value: "boom" },
    { status: "done", reason: "error" },
  ],
  [
    { type: "stopped", value: { code: "steps", detail: "50" } },
    { status: "done", reason: "stopped:steps" },
  ],
];

test.each(stored)("XA-05 %j gives status and reason", (termination, expected) => {
  expect(statusOfTermination(termination)).toStrictEqual(expected);
});

const texts: readonly [string, Termination][] = [
  ["natural", { type: "natural_end" }],
  ["behavior_requested", { type: "behavior_requested" }],
  ["cancelled", { type: "cancelled" }],
  ["blocked:policy", { type: "blocked", value: "policy" }],
  ["stopped:steps", { type: "stopped", value: { code: "steps" } }],
  ["error:boom", { type: "error", value: "boom" }],
  ["error", { type: "error", value: "error" }],
  ["unknown", { type: "error", value: "unknown" }],
  ["", { type: "error", value: "" }],
  ["Natural", { type: "error", value: "Natural" }],
  ["constructor", { type: "error", value: "constructor" }],
  ["blocked:two\nlines", { type: "blocked", value: "two\nlines" }],
];

test.each(texts)("XA-06 the reason text %j is read", (text, termination) => {
  expect(terminationFromReason(text)).toStrictEqual(termination);
});

test("XA-06 a prefix is stripped once", () => {
  expect(terminationFromReason("blocked:blocked:x")).toEqual({ type: "blocked", value: "blocked:x" });
  expect(terminationFromReason("stopped:stopped:x")).toEqual({ type: "stopped", value: { code: "stopped:x" } });
  expect(terminationFromReason("error:error:x")).toEqual({ type: "error", value: "error:x" });
  expect(terminationFromReason("error:blocked:x")).toEqual({ type: "error", value: "blocked:x" });
});

test("XA-06 the texts of XA-05 are read back, and an outcome keeps what they lose", () => {
  const whole: readonly Termination[] = [
    { type: "natural_end" },
    { type: "behavior_requested" },
    { type: "cancelled" },
    { type: "blocked", value: "blocked:policy" },
    { type: "stopped", value: { code: "steps" } },
  ];
  for (const termination of whole) {
    expect(terminationFromReason(statusOfTermination(termination).reason ?? "")).toEqual(termination);
  }
  const stopped: Outcome = { kind: "stopped", code: "steps", detail: "50 of 50" };
  expect(factsAfter(j.created(), j.runStarted, j.runEnded(stopped))).toEqual({ status: "done", outcome: stopped });
  expect(terminationOf({ status: "done", outcome: failed })).toEqual({ type: "error", value: "no answer" });
});

test("C-049 a run that is created or running goes on", () => {
  expect(endOf({ status: "created" })).toBeUndefined();
  expect(endOf({ status: "running", cancelRequested: true })).toBeUndefined();
});

test("C-050 a run that is done has the end of its outcome; there is none without one", () => {
  expect(endOf({ status: "done", outcome: { kind: "blocked", reason: "policy" } })).toEqual({
    type: "blocked",
    value: "policy",
  });
  // @ts-expect-error an end without an outcome cannot be written
  const impossible: RunFacts = { status: "done" };
  expect(impossible).toBeDefined();
});

test("C-051 a wait for background work alone goes on, every other wait is suspended", () => {
  const end = (...reasons: readonly WaitingReason[]): Termination | undefined =>
    endOf({ status: "waiting", cancelRequested: false, waits: reasons.map((reason) => ({ reason })) });
  expect(end("background")).toBeUndefined();
  expect(end("approval")).toEqual({ type: "suspended" });
  expect(end("background", "approval")).toEqual({ type: "suspended" });
  expect(end()).toEqual({ type: "suspended" });
});
