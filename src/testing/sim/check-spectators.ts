/**
 * What spectators got against the journal: from its cursor on, every sitting is a piece of the one list of events that
 * the journal gives, without a gap, a double or a change; what they all add up to is the transcript.
 */
import type { Entry } from "../../domain/entry.ts";
import { project, type RunEvent } from "../../domain/event.ts";
import type { EventFilter } from "../../domain/event-filter.ts";
import { defaultScope } from "../../domain/ids.ts";
import type { CommittedRow, Store } from "../../ports/store.ts";
import type { WatchEvent } from "../../runtime/runtime.ts";
import { checkFolds } from "./check-folds.ts";
import { checkLive, checkScreen, checkWritten } from "./check-live.ts";
import type { Plan } from "./plan.ts";
import { filterOf, type Gallery, type Sitting, type Spectator } from "./spectators.ts";
import type { CheckName, Report } from "./violations.ts";
import type { Watch, WatchedRun } from "./watch.ts";

export interface Viewing {
  readonly plan: Plan;
  readonly gallery: Gallery;
  readonly watch: Watch;
  readonly store: Store;
  readonly report: Report;
}

/** One event as the journal gives it, and where it stands among all. */
interface Expected {
  readonly position: number;
  readonly event: RunEvent;
  readonly agent: string;
}

const wholeJournal = 1_000_000;

export async function checkSpectators(viewing: Viewing): Promise<void> {
  const { gallery, store, report } = viewing;
  const rows = await store.readAll({ scope: defaultScope, after: 0, limit: wholeJournal });
  const events = rows.flatMap((row) => expectedOf(row, viewing.watch));
  for (const spectator of gallery.spectators) {
    const wanted = events.filter((each) => isWanted(each, spectator));
    for (const sitting of spectator.sittings) {
      checkDurable(sitting, { wanted, spectator, report });
      checkLive(sitting, { spectator, plan: viewing.plan, watch: viewing.watch, report });
    }
    checkScreen(spectator, report);
    if (!isComplete(spectator, viewing.watch)) {
      report("watch-ends", `${spectator.plan.name} has ${spectator.known.size} of ${wanted.length} events`);
    }
  }
  checkWritten(viewing);
  await checkFolds(viewing);
}

function expectedOf(row: CommittedRow, watch: Watch): readonly Expected[] {
  const identity = watch.runs.get(row.run)?.state.created.identity;
  if (!identity) return [];
  return row.entries.map((entry) => ({
    position: row.position,
    event: project(entry, identity),
    agent: identity.agent,
  }));
}

function isWanted({ event, agent }: Expected, { run, plan }: Spectator): boolean {
  if (plan.subject.kind === "run") return event.run === run;
  return fits(filterOf(plan.subject), { type: event.type, run: event.run, thread: event.thread, agent });
}

/** The simulator's own reading of a filter, so that the runtime's can be wrong. */
function fits(
  { types, runs, threads, agents }: EventFilter,
  envelope: { readonly type: string; readonly run: string; readonly thread: string; readonly agent: string },
): boolean {
  const pairs: readonly (readonly [readonly string[] | undefined, string])[] = [
    [types, envelope.type],
    [runs, envelope.run],
    [threads, envelope.thread],
    [agents, envelope.agent],
  ];
  return pairs.every(([allowed, value]) => allowed === undefined || allowed.includes(value));
}

/** Whether a spectator who stays has everything that there is by now. */
export function isComplete({ plan, run, known, sittings }: Spectator, watch: Watch): boolean {
  if (plan.subject.kind === "run") return run !== undefined && sittings.at(-1)?.end === "over";
  const filter = filterOf(plan.subject);
  let count = 0;
  for (const each of watch.runs.values()) count += each.entries.filter((entry) => matches(entry, each, filter)).length;
  return count === known.size;
}

function matches({ type }: Entry, { row }: WatchedRun, filter: EventFilter): boolean {
  return fits(filter, { type, run: row.run, thread: row.thread, agent: row.agent });
}

interface Comparing {
  readonly wanted: readonly Expected[];
  readonly spectator: Spectator;
  readonly report: Report;
}

function checkDurable(sitting: Sitting, comparing: Comparing): void {
  const { wanted, spectator, report } = comparing;
  const one = spectator.plan.subject.kind === "run";
  let index = beginning(sitting.after, wanted, one);
  let cursor = sitting.after;
  for (const frame of sitting.frames) {
    if (frame.type === "resync") checkResync(frame, cursor, comparing);
    if (!("seq" in frame)) continue;
    const where = `${spectator.plan.name} on ${sitting.host} after ${sitting.after ?? "nothing"}`;
    const wrong = problemOf(frame, { wanted, index, one });
    const due = wanted[index]?.event;
    if (wrong) return report(wrong, `${where}: ${show(frame)} where ${due ? show(due) : "nothing"} is due`);
    cursor = frame.cursor;
    index += 1;
  }
  if (one && sitting.end === "over" && index !== wanted.length) {
    report("watch-ends", `${spectator.plan.name} is told that all is over at ${index} of ${wanted.length}`);
  }
}

/** What is wrong with an event that comes where another, or exactly this one, is due. */
function problemOf(
  frame: RunEvent & { readonly cursor: string },
  due: { readonly wanted: readonly Expected[]; readonly index: number; readonly one: boolean },
): CheckName | undefined {
  const { wanted, index, one } = due;
  const expected = wanted[index];
  if (!expected || !isSame(expected.event, frame)) {
    const at = wanted.findIndex((each) => isSame(each.event, frame));
    if (at < 0) return "watch-order";
    return at < index ? "watch-duplicate" : "watch-gap";
  }
  const { cursor, ...event } = frame;
  const isPlaced = cursor.startsWith(`${one ? 0 : expected.position}.${frame.seq}.`);
  return isPlaced && JSON.stringify(event) === JSON.stringify(expected.event) ? undefined : "watch-content";
}

/** How many of the wanted events a cursor has behind it. */
function beginning(after: string | undefined, wanted: readonly Expected[], one: boolean): number {
  if (after === undefined) return 0;
  const [position = 0, seq = 0] = after.split(".").map(Number);
  return wanted.filter(({ position: at, event }) =>
    one ? event.seq <= seq : at < position || (at === position && event.seq <= seq),
  ).length;
}

/** It may stand behind events that were passed over by a filter, never behind one that is wanted. */
function checkResync(
  { cursor }: Extract<WatchEvent, { type: "resync" }>,
  last: string | undefined,
  { wanted, spectator, report }: Comparing,
): void {
  const one = spectator.plan.subject.kind === "run";
  if (beginning(cursor, wanted, one) === beginning(last, wanted, one)) return;
  report("watch-resync", `${spectator.plan.name} had ${last ?? "nothing"} and is told to go on from ${cursor}`);
}

function isSame(a: Pick<RunEvent, "run" | "seq">, b: Pick<RunEvent, "run" | "seq">): boolean {
  return a.run === b.run && a.seq === b.seq;
}

function show({ run, seq, type }: Pick<RunEvent, "run" | "seq" | "type">): string {
  return `${type} ${run}:${seq}`;
}
