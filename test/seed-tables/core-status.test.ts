import { expect, test } from "vitest";
import type { Outcome } from "../../src/domain/run.ts";
import {
  type CoreStatus,
  type CoreTerminalEvent,
  coreStatus,
  isTerminal,
  terminalEvent,
} from "../../src/domain/seed-tables/core-status.ts";
import type { RunFacts } from "../../src/domain/seed-tables/run-facts.ts";

const approval = [{ reason: "approval" }] as const;
const unknown = [{ reason: "approval" }, { reason: "unknown-outcome" }] as const;

const open: readonly [string, RunFacts, CoreStatus][] = [
  ["created", { status: "created" }, "pending"],
  ["running", { status: "running", cancelRequested: false }, "running"],
  ["running with a cancel", { status: "running", cancelRequested: true }, "cancelling"],
  ["waiting", { status: "waiting", cancelRequested: false, waits: approval }, "running"],
  ["waiting with a cancel", { status: "waiting", cancelRequested: true, waits: approval }, "cancelling"],
  ["waiting on an unknown outcome", { status: "waiting", cancelRequested: false, waits: unknown }, "repair-needed"],
  [
    "waiting on an unknown outcome with a cancel",
    { status: "waiting", cancelRequested: true, waits: unknown },
    "cancelling",
  ],
];

test.each(open)("M4 a run that is %s", (_name, run, status) => {
  expect(coreStatus(run)).toBe(status);
  expect(isTerminal(status)).toBe(false);
});

const ends: readonly [Outcome, CoreStatus, CoreTerminalEvent][] = [
  [{ kind: "completed", reason: "natural" }, "completed", "run-completed"],
  [{ kind: "completed", reason: "requested" }, "completed", "run-completed"],
  [{ kind: "cancelled" }, "cancelled", "run-cancelled"],
  [{ kind: "stopped", code: "steps" }, "failed", "run-failed"],
  [{ kind: "blocked", reason: "policy" }, "failed", "run-failed"],
  [{ kind: "failed", error: { code: "model-failed", message: "x" }, retry: "never" }, "failed", "run-failed"],
  [{ kind: "timed-out" }, "failed", "run-failed"],
];

test.each(ends)("M4 a run that ended as %j is %s, told as %s", (outcome, status, event) => {
  expect(coreStatus({ status: "done", outcome })).toBe(status);
  expect(terminalEvent(outcome)).toBe(event);
});

test("XS-03 terminal are completed, failed and cancelled, and no others", () => {
  const every: Record<CoreStatus, boolean> = {
    pending: false,
    running: false,
    cancelling: false,
    completed: true,
    failed: true,
    cancelled: true,
    "repair-needed": false,
  };
  for (const [status, terminal] of Object.entries(every)) expect(isTerminal(status as CoreStatus)).toBe(terminal);
});
