/** What a hook that throws must come to: the failure rule of its phase, and nothing of what that moment would have said. */
import { isPhase } from "../../src/domain/phase.ts";
import { phaseTable } from "../../src/engine/phases.ts";
import type { Expected } from "../../src/testing/crash-scenario.ts";

/** `plugin.after-tool keeper 1.0 answer #2`. */
const hookLabel = /^plugin\.(?<phase>[a-z-]+) \S+(?: (?<call>\d+\.\d+))?(?: answer)?(?: #(?<times>\d+))?$/;

export function isHookError(label: string): boolean {
  return isPhase(hookLabel.exec(label)?.groups?.phase);
}

export function ruleProblems(label: string, came: Expected, uncut: Expected): readonly string[] {
  const { phase, call, times = "1" } = hookLabel.exec(label)?.groups ?? {};
  if (!isPhase(phase)) return [`${label} is no label of a hook`];
  const problems: string[] = [];
  const must = (holds: boolean, what: string): void => void (holds || problems.push(`${label}: ${what}`));
  const lines = came.runs.flatMap(({ transcript }) => transcript);
  const isToldOfIt = lines.some((line) => line.endsWith("! plugin-failed"));
  const wasMade = came.effects.some((line) => line.startsWith(`${call} `));
  switch (phaseTable[phase].failure) {
    case "run-fails":
      must(
        came.runs.some(({ outcome }) => outcome === "failed plugin-failed"),
        "no run has failed by it",
      );
      break;
    case "call-refused":
      must(isToldOfIt && !wasMade, "the call was not refused by it");
      break;
    case "result-hidden":
      must(isToldOfIt, "the model does not read that it failed");
      break;
    case "noted":
      must(lines.join("\n") === uncut.runs.flatMap(({ transcript }) => transcript).join("\n"), "it changes something");
      break;
    default:
      phaseTable[phase].failure satisfies never;
  }
  const written = trailIn(came).filter((where) => where.includes(call ? `${phase} ${call}` : phase));
  must(written.length < Number(times), `the moment has written ${written.join(", ")}`);
  return problems;
}

/** Of every run, where plugins have been. */
function trailIn({ runs }: Expected): readonly string[] {
  const lines = runs.flatMap(({ state = [] }) => state).filter((line) => line.startsWith("trail = "));
  return lines.flatMap((line) => JSON.parse(line.slice("trail = ".length)) as string[]);
}
