/** M5, XA-16: the names of the resume modes, both ways. */
import type { ResumeMode } from "../ticket.ts";

export type SeedResumeMode = "replay_tool_call" | "use_decision_as_tool_result" | "pass_decision_to_tool";

const seedNames: Readonly<Record<ResumeMode, SeedResumeMode>> = {
  replay: "replay_tool_call",
  "use-decision-as-result": "use_decision_as_tool_result",
  "pass-decision-to-tool": "pass_decision_to_tool",
};

const ourNames: Readonly<Record<SeedResumeMode, ResumeMode>> = {
  replay_tool_call: "replay",
  use_decision_as_tool_result: "use-decision-as-result",
  pass_decision_to_tool: "pass-decision-to-tool",
};

export function seedResumeMode(mode: ResumeMode): SeedResumeMode {
  return seedNames[mode];
}

/** A call that names no mode is replayed. */
export function resumeModeFromSeed(mode: SeedResumeMode = "replay_tool_call"): ResumeMode {
  return ourNames[mode];
}
