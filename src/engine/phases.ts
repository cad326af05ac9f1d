/**
 * The phases: when plugins are asked, what they may ask for, and what happens when they fail. The only such table; the
 * lifecycle page, the checks and the matrix of tests are made from it.
 *
 * H1 A command that the phase does not list is refused, and with it everything the plugins said at that moment.
 * H2 A phase that can change behaviour never fails open: what its hooks should have looked at does not go on.
 * H3 An observing phase changes nothing and stops nothing.
 */
import type { CommandType } from "../domain/command.ts";
import type { Phase } from "../domain/phase.ts";
import type { EngineLimits } from "./limits.ts";

export interface PhaseRow {
  /** What a moment of this phase is about. */
  readonly about: "run" | "step" | "call" | "ticket";
  readonly kind: "blocking" | "observing";
  readonly commands: readonly CommandType[];
  /**
   * run-fails: the run ends as failed · call-refused: the call does not run · result-hidden: the model reads that the
   * plugin failed, not the result · noted: logged, and the run goes on
   */
  readonly failure: "run-fails" | "call-refused" | "result-hidden" | "noted";
  /** The limit that is the deadline of all its hooks together. */
  readonly deadline: keyof Pick<EngineLimits, "phaseTimeoutMs" | "graceMs">;
}

const always = ["set-state", "add-context", "schedule"] as const satisfies readonly CommandType[];
const outward = ["open-ticket", "send-input"] as const satisfies readonly CommandType[];
const request = ["hide-tools", "restrict-tools", "patch-request"] as const satisfies readonly CommandType[];

function blocking(about: PhaseRow["about"], commands: readonly CommandType[], failure: PhaseRow["failure"]): PhaseRow {
  return { about, kind: "blocking", commands, failure, deadline: "phaseTimeoutMs" };
}

const observing: PhaseRow = {
  about: "run",
  kind: "observing",
  commands: [],
  failure: "noted",
  deadline: "phaseTimeoutMs",
};

/** In the order in which a run meets them. */
export const phaseTable: Readonly<Record<Phase, PhaseRow>> = {
  "before-run": blocking("run", [...always, ...outward, "stop"], "run-fails"),
  "before-step": blocking("step", [...always, ...outward, ...request, "stop"], "run-fails"),
  "context-ready": blocking("step", [...always, ...request, "stop"], "run-fails"),
  "before-model": blocking("step", [...always, ...outward, ...request, "stop"], "run-fails"),
  "model-delta": { ...observing, about: "step" },
  "output-gate": blocking("step", ["open-ticket", "rewrite-output", "stop"], "run-fails"),
  "after-model": blocking("step", [...always, ...outward, "retry", "stop"], "run-fails"),
  "tool-gate": blocking("call", ["deny", "ask", "set-result", "patch-input"], "call-refused"),
  "before-tool": blocking("call", [...always, ...outward, "deny", "set-result"], "call-refused"),
  "after-tool": blocking("call", [...always, ...outward, "rewrite-result", "retry", "stop"], "result-hidden"),
  "after-step": blocking("step", [...always, ...outward, "continue", "stop"], "run-fails"),
  "before-end": blocking("run", [...always, ...outward, "continue"], "run-fails"),
  "after-run": observing,
  "on-decision": blocking("ticket", [...always, ...outward, "stop"], "run-fails"),
  "on-cancel": { about: "run", kind: "blocking", commands: ["set-state"], failure: "noted", deadline: "graceMs" },
};

export function isAllowed(command: CommandType, phase: Phase): boolean {
  return phaseTable[phase].commands.includes(command);
}
