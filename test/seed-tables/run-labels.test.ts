import { expect, test } from "vitest";
import type { Outcome } from "../../src/domain/run.ts";
import type { RunFacts, Wait } from "../../src/domain/seed-tables/run-facts.ts";
import { labelRun, type RunLabels, reasonThroughBackend, reportOf } from "../../src/domain/seed-tables/run-labels.ts";
import type { WaitingReason } from "../../src/domain/seed-tables/waiting-reason.ts";

function waitingFor(...waits: readonly Wait[]): RunFacts {
  return { status: "waiting", cancelRequested: false, waits };
}

function ended(outcome: Outcome): RunFacts {
  return { status: "done", outcome };
}

test.each(["created", "running"] as const)("M2 a run that is %s is labelled so and has no reason", (status) => {
  const run: RunFacts = status === "created" ? { status } : { status, cancelRequested: false };
  expect(labelRun(run)).toStrictEqual({ status, label: status });
  expect(reportOf(run)).toBeUndefined();
  expect(reasonThroughBackend(run)).toBeUndefined();
});

const questions: readonly [WaitingReason, string, RunLabels["label"]][] = [
  ["input", "input_required", "waiting_input"],
  ["auth", "auth_required", "waiting_auth"],
  ["approval", "suspended", "suspended"],
  ["unknown-outcome", "suspended", "suspended"],
];

test.each(questions)("M2 waiting for %s: reason %s, label and text %s with its prompt", (reason, text, label) => {
  const labels = { status: "waiting", reason: text, label };
  const prompted = { ...labels, backendStatus: `${label}: which order?` };
  expect(labelRun(waitingFor({ reason, prompt: "which order?" }))).toStrictEqual(prompted);
  expect(labelRun(waitingFor({ reason }))).toStrictEqual({ ...labels, backendStatus: label });
  expect(labelRun(waitingFor({ reason, prompt: " " }))).toStrictEqual({ ...labels, backendStatus: label });
  expect(reasonThroughBackend(waitingFor({ reason }))).toBe(text);
});

const silent: readonly [WaitingReason, string | undefined][] = [
  ["background", "awaiting_tasks"],
  ["rate-limit", "rate_limit"],
  ["pause", "manual_pause"],
  ["child", undefined],
  ["timer", undefined],
  ["event", undefined],
  ["quarantined", undefined],
  ["missing-capability", undefined],
  ["budget", undefined],
];

test.each(silent)("M2 waiting for %s: reason %s, label waiting, text suspended without a prompt", (reason, text) => {
  expect(labelRun(waitingFor({ reason, prompt: "later" }))).toStrictEqual({
    status: "waiting",
    ...(text === undefined ? {} : { reason: text }),
    label: "waiting",
    backendStatus: "suspended",
  });
});

const ends: readonly [Outcome, Omit<RunLabels, "status">, string][] = [
  [
    { kind: "completed", reason: "natural" },
    { reason: "natural", label: "done", backendStatus: "completed" },
    "natural",
  ],
  [
    { kind: "completed", reason: "requested" },
    { reason: "behavior_requested", label: "done", backendStatus: "completed" },
    "behavior_requested",
  ],
  [
    { kind: "stopped", code: "steps" },
    { reason: "stopped:steps", label: "failed", backendStatus: "failed: stopped: steps" },
    "error",
  ],
  [
    { kind: "blocked", reason: "policy" },
    { reason: "blocked:policy", label: "failed", backendStatus: "failed: blocked: policy" },
    "error",
  ],
  [{ kind: "cancelled" }, { reason: "cancelled", label: "cancelled", backendStatus: "cancelled" }, "cancelled"],
  [
    { kind: "failed", error: { code: "model-failed", message: "no answer" }, retry: "later" },
    { reason: "error", label: "failed", backendStatus: "failed: no answer" },
    "error",
  ],
  [{ kind: "timed-out" }, { reason: "timeout", label: "timeout", backendStatus: "timeout" }, "timeout"],
];

test.each(ends)("M2 a run that ended as %j", (outcome, labels, throughBackend) => {
  expect(labelRun(ended(outcome))).toStrictEqual({ status: "done", ...labels });
  expect(reasonThroughBackend(ended(outcome))).toBe(throughBackend);
});

test("M2 a run that waits for several things is labelled by what a person can answer", () => {
  const run = waitingFor({ reason: "timer" }, { reason: "approval", prompt: "Refund?" }, { reason: "background" });
  expect(labelRun(run)).toMatchObject({ label: "suspended", backendStatus: "suspended: Refund?" });
  expect(labelRun(waitingFor())).toStrictEqual({ status: "waiting", label: "waiting", backendStatus: "suspended" });
});
