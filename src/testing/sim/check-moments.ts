/** Moments of plugins in the journal: each is written whole and once, and nothing behind it begins before it is written. */
import type { Entry } from "../../domain/entry.ts";
import type { Phase } from "../../domain/phase.ts";
import { createPlace, writeProblems } from "../crash-state.ts";
import type { PluginsPlan } from "./hook-plan.ts";
import type { Report } from "./violations.ts";
import type { WatchedRun } from "./watch.ts";

export interface MomentChecks {
  /** An entry that the store has taken; the run is as it was before. */
  entry(entry: Entry, run: WatchedRun): void;
}

export function createMomentChecks(plan: PluginsPlan, report: Report): MomentChecks {
  const places = new Map<
    string,
    { readonly take: (entry: Entry) => string | undefined; readonly passed: Set<string> }
  >();

  /** Its birth was not looked at here. */
  function placeOf({ key, entries }: WatchedRun): NonNullable<ReturnType<typeof places.get>> {
    const known = places.get(key.run);
    if (known) return known;
    const { take } = createPlace();
    for (const entry of entries) take(entry);
    const place = { take, passed: new Set<string>() };
    places.set(key.run, place);
    return place;
  }

  return {
    entry(entry, run) {
      const { take, passed } = placeOf(run);
      const moment = take(entry);
      if (moment !== undefined && passed.has(moment)) report("moment-once", `${run.key.run}: ${moment} again`);
      if (moment !== undefined) passed.add(moment);
      const missing = neededBefore(entry, run).filter((phase) => speaks(plan, phase) && !isWritten(entry, phase, run));
      for (const phase of missing) {
        report("moment-passed", `${run.key.run}: ${entry.type} at ${entry.seq} without ${phase}`);
      }
    },
  };
}

export function checkWhole({ entries, key }: WatchedRun, report: Report): void {
  for (const problem of writeProblems(entries)) report("moment-whole", `${key.run}: ${problem}`);
}

/** Something is written wherever one of its hooks is asked. */
function speaks({ plugins }: PluginsPlan, phase: Phase): boolean {
  return plugins.some(({ hooks }) => hooks[phase] && !hooks[phase].isSilent);
}

/** The phases that must be over where this entry stands. */
function neededBefore(entry: Entry, { state, intents }: WatchedRun): readonly Phase[] {
  switch (entry.type) {
    case "step-started":
      return entry.step === 1 ? ["before-run", "before-step"] : ["after-step", "before-step"];
    case "effect-intended": {
      if (intents.some((each) => each.effect === entry.effect)) return [];
      if (entry.kind === "model") return ["context-ready", "before-model"];
      const call = state.step?.calls.find(({ id }) => id === entry.call);
      return call?.effect ? ["after-model"] : ["after-model", "before-tool"]; // one that is run again was let through before
    }
    case "run-ended":
      return entry.outcome.kind === "completed" && entry.outcome.reason === "natural" ? ["before-end"] : [];
    default:
      return passesResult(entry, state) ? ["after-tool"] : [];
  }
}

/** What a tool answered is shown to the model. */
function passesResult(entry: Entry, state: WatchedRun["state"]): boolean {
  if (entry.type !== "message-appended" || entry.body.kind !== "here") return false;
  return entry.body.message.parts.some((part) => {
    if (part.type !== "tool-result" || part.result.kind !== "value") return false;
    return state.step?.calls.find(({ id }) => id === part.call)?.effect?.last?.kind === "done";
  });
}

/** Looked for in the journal itself, back to the step's begin: what the fold makes of it is another matter. */
function isWritten(entry: Entry, phase: Phase, { entries }: WatchedRun): boolean {
  const subject = subjectOf(entry, phase);
  const begin = phase === "before-run" ? 0 : entries.findLastIndex(({ type }) => type === "step-started");
  return entries
    .slice(Math.max(0, begin))
    .some((each) => each.type === "command-applied" && each.phase === phase && (!subject || each.subject === subject));
}

/** The call, where the phase is about one. */
function subjectOf(entry: Entry, phase: Phase): string | undefined {
  if (entry.type === "effect-intended") return phase === "before-tool" ? entry.call : undefined;
  if (entry.type !== "message-appended" || entry.body.kind !== "here") return undefined;
  const [part] = entry.body.message.parts;
  return part?.type === "tool-result" ? part.call : undefined;
}

/** What a schedule met, for its tally. */
export function momentTally(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => {
    if (entry.type === "state-changed") return [`state ${entry.key}`];
    if (entry.type !== "command-applied") return [];
    const said = entry.commands.map(({ command }) => `command ${command.type}`);
    return [`moment ${entry.phase}`, ...said, ...(entry.failed ? ["moment failed"] : [])];
  });
}
