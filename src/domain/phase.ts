/** Phase: a named moment of a run at which plugins are asked. What is allowed at each is the engine's table. */

/** In the order in which a run meets them; the last two come whenever they come. */
export const phases = [
  "before-run",
  "before-step",
  "context-ready",
  "before-model",
  "model-delta",
  "output-gate",
  "after-model",
  "tool-gate",
  "before-tool",
  "after-tool",
  "after-step",
  "before-end",
  "after-run",
  "on-decision",
  "on-cancel",
] as const;

export type Phase = (typeof phases)[number];

export function isPhase(value: unknown): value is Phase {
  return phases.includes(value as Phase);
}

/** One moment of one run: the phase, and the call or ticket it is about where it is about one. */
export function momentId(phase: Phase, subject?: string): string {
  return subject === undefined ? phase : `${phase}:${subject}`;
}

export function phaseOf(moment: string): Phase {
  const end = moment.indexOf(":");
  return (end < 0 ? moment : moment.slice(0, end)) as Phase;
}

/** What a policy rules about. */
export const policyStages = ["run-start", "model-call", "tool-call", "delegation", "tool-result", "output"] as const;
export type PolicyStageName = (typeof policyStages)[number];

/** The moment at which a stage is asked. */
export const phaseOfStage: Readonly<Record<PolicyStageName, Phase>> = {
  "run-start": "before-run",
  "model-call": "before-model",
  "tool-call": "tool-gate",
  delegation: "tool-gate",
  "tool-result": "after-tool",
  output: "output-gate",
};
