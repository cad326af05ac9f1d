import { expect, test } from "vitest";
import {
  type BackendReport,
  type BackendStatus,
  backendStatusOf,
  durableReason,
  durableStatus,
  resultLabel,
  showBackendStatus,
} from "../../src/domain/seed-tables/backend-status.ts";
import type { Termination } from "../../src/domain/seed-tables/termination.ts";

const terminations: readonly Termination[] = [
  { type: "natural_end" },
  { type: "behavior_requested" },
  { type: "cancelled" },
  { type: "suspended" },
  { type: "stopped", value: { code: "steps" } },
  { type: "blocked", value: "policy" },
  { type: "error", value: "boom" },
];
const anyEnd: Termination = { type: "error", value: "should not win" };
const waits: readonly BackendStatus["kind"][] = ["waiting_input", "waiting_auth", "suspended"];

function statusOf(kind: BackendStatus["kind"]): BackendStatus {
  return kind === "failed" ? { kind, message: "boom" } : { kind };
}

function report(kind: BackendStatus["kind"], termination: Termination): BackendReport {
  return { status: statusOf(kind), termination };
}

test("B-038 a status is a tagged union: only waits may have a text, only a failure must", () => {
  const every: readonly BackendStatus[] = [
    { kind: "completed" },
    { kind: "waiting_input", message: "which order?" },
    { kind: "waiting_input" },
    { kind: "waiting_auth" },
    { kind: "suspended" },
    { kind: "failed", message: "boom" },
    { kind: "cancelled" },
    { kind: "timeout" },
  ];
  // @ts-expect-error a failure says what failed
  const silent: BackendStatus = { kind: "failed" };
  expect([...every, silent]).toHaveLength(9);
});

test.each(["completed", "waiting_input", "waiting_auth", "suspended", "cancelled", "timeout"] as const)(
  "B-039 %s without a message is shown as its name",
  (kind) => {
    expect(showBackendStatus({ kind })).toBe(kind);
  },
);

test.each(["waiting_input", "waiting_auth", "suspended", "failed"] as const)(
  "B-040 %s with a message shows both",
  (kind) => {
    expect(showBackendStatus({ kind, message: "need details" })).toBe(`${kind}: need details`);
    expect(showBackendStatus({ kind, message: "" })).toBe(`${kind}: `);
  },
);

test.each(waits)("B-041 %s is waiting whatever the termination says", (kind) => {
  for (const termination of terminations) expect(durableStatus(report(kind, termination))).toBe("waiting");
});

test("B-042 completed has the status of the termination, so completed and suspended is waiting", () => {
  for (const termination of terminations) {
    const expected = termination.type === "suspended" ? "waiting" : "done";
    expect(durableStatus(report("completed", termination))).toBe(expected);
  }
});

test.each(["failed", "cancelled", "timeout"] as const)("B-043 %s is done whatever the termination says", (kind) => {
  for (const termination of terminations) expect(durableStatus(report(kind, termination))).toBe("done");
});

test.each([
  ["waiting_input", "input_required"],
  ["waiting_auth", "auth_required"],
  ["suspended", "suspended"],
  ["timeout", "timeout"],
  ["failed", "error"],
  ["cancelled", "cancelled"],
] as const)("B-044 %s has the reason %s whatever the termination says", (kind, reason) => {
  for (const termination of terminations) expect(durableReason(report(kind, termination))).toBe(reason);
});

test.each([
  [{ type: "natural_end" }, "natural"],
  [{ type: "behavior_requested" }, "behavior_requested"],
  [{ type: "cancelled" }, "cancelled"],
  [{ type: "blocked", value: "policy" }, "blocked:policy"],
  [{ type: "error", value: "boom" }, "error"],
  [{ type: "stopped", value: { code: "steps", detail: "50" } }, "stopped:steps"],
  [{ type: "suspended" }, undefined],
] as const)("B-045 completed with %j has the termination's own reason: %s", (termination, reason) => {
  expect(durableReason(report("completed", termination))).toBe(reason);
});

test.each(["waiting_input", "waiting_auth", "suspended", "failed", "cancelled", "timeout"] as const)(
  "B-046 %s is its own label whatever the termination says",
  (kind) => {
    for (const termination of terminations) expect(resultLabel(report(kind, termination))).toBe(kind);
  },
);

test("B-047 completed is labelled by its run status: done, never completed", () => {
  for (const termination of terminations) {
    const expected = termination.type === "suspended" ? "waiting" : "done";
    expect(resultLabel(report("completed", termination))).toBe(expected);
  }
});

test("B-048 a timeout with an error termination is done, timeout, timeout", () => {
  const timedOut = report("timeout", { type: "error", value: "polling took too long" });
  expect([durableStatus(timedOut), durableReason(timedOut), resultLabel(timedOut)]).toEqual([
    "done",
    "timeout",
    "timeout",
  ]);
});

test("B-049 waiting input with an error termination still waits for input", () => {
  const status = { kind: "waiting_input", message: "need details" } as const;
  const asked: BackendReport = { status, termination: anyEnd };
  expect([durableStatus(asked), durableReason(asked), resultLabel(asked)]).toEqual([
    "waiting",
    "input_required",
    "waiting_input",
  ]);
});

const reported: readonly [string, Termination, BackendStatus][] = [
  ["LB-023 a natural end is completed", { type: "natural_end" }, { kind: "completed" }],
  ["LB-023 a requested end is completed", { type: "behavior_requested" }, { kind: "completed" }],
  ["LB-024 cancelled is cancelled", { type: "cancelled" }, { kind: "cancelled" }],
  [
    "LB-025 stopped has failed, with its code",
    { type: "stopped", value: { code: "steps" } },
    { kind: "failed", message: "stopped: steps" },
  ],
  [
    "LB-025 stopped has failed, with its code and its detail (D-20)",
    { type: "stopped", value: { code: "steps", detail: "50 of 50" } },
    { kind: "failed", message: "stopped: steps: 50 of 50" },
  ],
  ["LB-026 blocked has failed", { type: "blocked", value: "policy" }, { kind: "failed", message: "blocked: policy" }],
  ["LB-027 suspended is suspended without a message", { type: "suspended" }, { kind: "suspended" }],
  [
    "LB-028 an error has failed with the bare message",
    { type: "error", value: "boom" },
    { kind: "failed", message: "boom" },
  ],
];

test.each(reported)("%s", (_name, termination, status) => {
  expect(backendStatusOf(termination)).toStrictEqual(status);
});
