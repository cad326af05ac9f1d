/**
 * M6: decisions in the words of the seeds, both ways. They know answers to a suspended call only; what settles
 * an unknown outcome, a pause or a timer has no word there.
 */
import type { JsonValue } from "../json.ts";
import type { Decision, ResumeMode } from "../ticket.ts";

/** Awaken's decision: a verb, a value and maybe a reason. */
export interface SeedDecision {
  readonly action: "resume" | "cancel";
  readonly result: JsonValue;
  readonly reason?: string;
}

export function seedDecision(decision: Decision): SeedDecision | undefined {
  switch (decision.kind) {
    case "approve":
      return { action: "resume", result: decision.value ?? null };
    case "edit":
      return { action: "resume", result: decision.input };
    case "answer":
      return { action: "resume", result: decision.value };
    case "reject":
      return { action: "cancel", result: null, reason: decision.reason };
    default:
      return undefined;
  }
}

/** A resume is an approval where the tool is to run again, an answer where the value itself is what counts. */
export function decisionFromSeed(seed: SeedDecision, mode: ResumeMode): Decision {
  if (seed.action === "cancel") return { kind: "reject", reason: rejectionOf(seed) };
  return mode === "replay" ? { kind: "approve" } : { kind: "answer", value: seed.result };
}

function rejectionOf({ reason, result }: SeedDecision): string {
  if (reason !== undefined && reason.trim() !== "") return reason;
  return typeof result === "string" && result.trim() !== "" ? result : "cancelled";
}

export type CoreApproval = "approved" | "approved-for-session" | "denied";

/** An approval may carry a rule that answers later asks of the same session. */
export interface RuledDecision {
  readonly decision: Decision;
  readonly rule: "none" | "session";
}

export function coreApproval({ decision, rule }: RuledDecision): CoreApproval | undefined {
  if (decision.kind === "reject") return "denied";
  if (decision.kind !== "approve") return undefined;
  return rule === "session" ? "approved-for-session" : "approved";
}

export function decisionFromCore(approval: CoreApproval, reason = "denied"): RuledDecision {
  if (approval === "denied") return { decision: { kind: "reject", reason }, rule: "none" };
  return { decision: { kind: "approve" }, rule: approval === "approved" ? "none" : "session" };
}
