/**
 * What plugins and tools have left of a run: its state, and what was written at each moment, in words that do not depend
 * on ids, times or the number of tries.
 */
import type { Entry } from "../domain/entry.ts";
import type { JsonValue } from "../domain/json.ts";
import { momentId } from "../domain/phase.ts";
import type { StateChanged } from "../domain/state-slots.ts";

/** `visits = 3`, sorted. */
export function slotLines(slots: readonly { readonly key: string; readonly value: JsonValue }[]): readonly string[] {
  return slots.map(({ key, value }) => `${key} = ${JSON.stringify(value)}`).sort();
}

/** One line per write and per moment of which something was written, sorted: which of two calls came first is chance. */
export function saidLines(entries: readonly Entry[]): readonly string[] {
  return walk(entries).map(({ line }) => line);
}

interface Said {
  readonly line: string;
  /** Of a moment: which one of the run. */
  readonly moment?: string;
}

function walk(entries: readonly Entry[]): readonly Said[] {
  const place = createPlace();
  const said = entries.flatMap((entry): readonly Said[] => {
    const moment = place.take(entry);
    if (entry.type === "state-changed")
      return [{ line: `${place.step()} ${entry.by}: ${entry.key} ${changeText(entry)}` }];
    if (entry.type !== "command-applied" || moment === undefined) return [];
    const { commands, failed } = entry;
    const what = failed ? `failed ${failed.plugin}` : commands.map(({ command }) => command.type).join(", ");
    return [{ line: `${moment}: ${what}`, moment }];
  });
  return [...said].sort((a, b) => (a.line < b.line ? -1 : 1));
}

/** Where in a run an entry stands. */
export interface Place {
  /** Answers the moment that the entry ends, if it ends one: told from the same one of another step or attempt. */
  take(entry: Entry): string | undefined;
  readonly step: () => number;
}

export function createPlace(): Place {
  const answers = new Map<string, number>();
  let run = "";
  let step = 0;
  return {
    step: () => step,
    take(entry) {
      if (entry.type === "run-created") run = entry.identity.run;
      if (entry.type === "step-started") step = entry.step;
      if (entry.type === "effect-settled" && (entry.result.kind === "done" || entry.result.kind === "refused")) {
        answers.set(entry.effect, (answers.get(entry.effect) ?? 0) + 1);
      }
      if (entry.type !== "command-applied") return undefined;
      const again = answers.get(entry.subject ?? "") ?? 0;
      const moment = `${step} ${momentId(entry.phase, entry.subject)}${again > 1 ? ` #${again}` : ""}`;
      return moment.replaceAll(`${run}.`, "");
    },
  };
}

function changeText({ change }: StateChanged): string {
  return "value" in change ? `= ${JSON.stringify(change.value)}` : `${change.merge} ${JSON.stringify(change.operand)}`;
}

/** K8. */
export function momentProblems(entries: readonly Entry[]): readonly string[] {
  const known = new Set<string>();
  return walk(entries).flatMap(({ moment }) => {
    if (moment === undefined) return [];
    if (known.has(moment)) return [`the moment ${moment} is written twice`];
    known.add(moment);
    return [];
  });
}

const betweenWriteAndMark: readonly Entry["type"][] = ["state-changed", "message-appended", "ticket-opened"];

/** K9. */
export function writeProblems(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry, index) => {
    if (entry.type !== "state-changed") return [];
    const end = entries.slice(index).find(({ type }) => !betweenWriteAndMark.includes(type));
    const isKept = end?.type === "effect-settled" || (end?.type === "command-applied" && !end.failed);
    return isKept ? [] : [`${entry.key} is written by ${entry.by} at ${entry.seq}, and nothing says at which moment`];
  });
}
