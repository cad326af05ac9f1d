import { expect, test } from "vitest";
import {
  type CoreApproval,
  coreApproval,
  decisionFromCore,
  decisionFromSeed,
  type RuledDecision,
  type SeedDecision,
  seedDecision,
} from "../../src/domain/seed-tables/decision.ts";
import { resumeModeFromSeed, type SeedResumeMode, seedResumeMode } from "../../src/domain/seed-tables/resume-mode.ts";
import type { Decision, ResumeMode } from "../../src/domain/ticket.ts";

const modes: readonly [SeedResumeMode, ResumeMode][] = [
  ["replay_tool_call", "replay"],
  ["use_decision_as_tool_result", "use-decision-as-result"],
  ["pass_decision_to_tool", "pass-decision-to-tool"],
];

test.each(modes)("M5 %s is %s, both ways", (seed, ours) => {
  expect(resumeModeFromSeed(seed)).toBe(ours);
  expect(seedResumeMode(ours)).toBe(seed);
});

test("XA-16 a call that names no mode is replayed", () => {
  expect(resumeModeFromSeed()).toBe("replay");
});

const answers: readonly [Decision, SeedDecision][] = [
  [{ kind: "approve" }, { action: "resume", result: null }],
  [
    { kind: "approve", value: { note: "ok" } },
    { action: "resume", result: { note: "ok" } },
  ],
  [
    { kind: "edit", input: { cents: 4 } },
    { action: "resume", result: { cents: 4 } },
  ],
  [
    { kind: "answer", value: "yes" },
    { action: "resume", result: "yes" },
  ],
  [
    { kind: "reject", reason: "too much" },
    { action: "cancel", result: null, reason: "too much" },
  ],
];

test.each(answers)("M6 our %j is the seed's %j", (decision, seed) => {
  expect(seedDecision(decision)).toStrictEqual(seed);
});

test.each([
  { kind: "mark-done", result: 1 },
  { kind: "mark-failed", reason: "x" },
  { kind: "run-again" },
  { kind: "release" },
  { kind: "cancel-run" },
  { kind: "elapsed" },
  { kind: "closed", why: "cancelled" },
] as const)("M6 the seeds have no word for %j", (decision) => {
  expect(seedDecision(decision)).toBeUndefined();
  expect(coreApproval({ decision, rule: "none" })).toBeUndefined();
});

const resumed: readonly [ResumeMode, Decision][] = [
  ["replay", { kind: "approve" }],
  ["use-decision-as-result", { kind: "answer", value: { yes: 1 } }],
  ["pass-decision-to-tool", { kind: "answer", value: { yes: 1 } }],
];

test.each(resumed)("M6 a seed's resume of a call in mode %s is our %j", (mode, decision) => {
  expect(decisionFromSeed({ action: "resume", result: { yes: 1 } }, mode)).toStrictEqual(decision);
});

test("M6 a seed's cancel is a rejection that says why, in every mode", () => {
  for (const [, mode] of modes) {
    const why = { action: "cancel", result: "no", reason: "too much" } as const;
    expect(decisionFromSeed(why, mode)).toEqual({ kind: "reject", reason: "too much" });
    expect(decisionFromSeed({ ...why, reason: " " }, mode)).toEqual({ kind: "reject", reason: "no" });
    expect(decisionFromSeed({ action: "cancel", result: null }, mode)).toEqual({ kind: "reject", reason: "cancelled" });
  }
});

const approvals: readonly [CoreApproval, RuledDecision][] = [
  ["approved", { decision: { kind: "approve" }, rule: "none" }],
  ["approved-for-session", { decision: { kind: "approve" }, rule: "session" }],
  ["denied", { decision: { kind: "reject", reason: "denied" }, rule: "none" }],
];

test.each(approvals)("M6 agent-sdk-core's %s is our %j, both ways", (approval, ruled) => {
  expect(decisionFromCore(approval)).toStrictEqual(ruled);
  expect(coreApproval(ruled)).toBe(approval);
});

test("M6 a denial keeps its reason; an edit and an answer are no plain approval", () => {
  expect(decisionFromCore("denied", "policy").decision).toEqual({ kind: "reject", reason: "policy" });
  expect(coreApproval({ decision: { kind: "edit", input: 1 }, rule: "none" })).toBeUndefined();
  expect(coreApproval({ decision: { kind: "answer", value: 1 }, rule: "none" })).toBeUndefined();
});
