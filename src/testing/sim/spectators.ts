/**
 * Spectators: they watch through the real `watch` of whatever process they are connected to, leave after some frame or
 * while nothing comes, lose their process, and come back elsewhere with a cursor. What each got is kept as it came.
 */
import { isHoldfastError } from "../../domain/errors.ts";
import type { RunId } from "../../domain/ids.ts";
import type { Runtime, WatchEvent } from "../../runtime/runtime.ts";
import { bringIn, type Crowd, type Person, pause } from "./people.ts";
import type { Host, SimProcess } from "./processes.ts";
import type { SpectatorPlan, Subject } from "./spectator-plan.ts";

/** One connection, from the cursor on. */
export interface Sitting {
  readonly host: string;
  readonly after: string | undefined;
  readonly frames: WatchEvent[];
  /** Why there are no more of them; undefined while it lasts. */
  end?: "over" | "left" | "broke";
}

export interface Spectator {
  readonly plan: SpectatorPlan;
  /** What it watches, once it knows; of one run its id. */
  run?: RunId;
  readonly sittings: Sitting[];
  /** Every cursor it was given, oldest first. */
  readonly cursors: string[];
  /** Durable events it has, as run:seq. */
  readonly known: Set<string>;
}

export interface Gallery {
  readonly spectators: readonly Spectator[];
  readonly hosts: readonly Host[];
}

export function gatherSpectators(crowd: Crowd, hosts: readonly Host[]): Gallery {
  const spectators = crowd.plan.spectators.map(
    (plan): Spectator => ({ plan, sittings: [], cursors: [], known: new Set() }),
  );
  const gallery: Gallery = { spectators, hosts };
  for (const spectator of spectators) {
    bringIn(spectator.plan.name, crowd, (person) => spectate(spectator, person, gallery));
  }
  return gallery;
}

async function spectate(spectator: Spectator, person: Person, { hosts }: Gallery): Promise<void> {
  const { plan } = spectator;
  const { chance, crowd } = person;
  await pause(person, plan.joinAfterMs);
  if (plan.subject.kind === "run") spectator.run = await whenStarted(plan.subject.run, person);
  for (let left = plan.departures; ; ) {
    const host = chance.pick(hosts);
    const process = host.current();
    if (process) {
      const stays = left <= 0 || crowd.healing;
      const sitting: Sitting = { host: process.owner.name, after: chooseCursor(spectator, person), frames: [] };
      spectator.sittings.push(sitting);
      sitting.end = await sit({ spectator, sitting, process, stays }, person);
      if (sitting.end === "over") return;
      left -= 1;
    }
    await pause(person, chance.int(120));
  }
}

async function whenStarted(name: string, person: Person): Promise<RunId> {
  for (;;) {
    const started = person.crowd.log.started.get(name);
    if (started !== undefined) return started;
    await pause(person, 40);
  }
}

/** Mostly the last one; sometimes an older one, or from the beginning. */
function chooseCursor({ cursors }: Spectator, { chance }: Person): string | undefined {
  if (cursors.length === 0 || chance.chance(0.1)) return undefined;
  return chance.chance(0.2) ? chance.pick(cursors) : cursors.at(-1);
}

interface Seat {
  readonly spectator: Spectator;
  readonly sitting: Sitting;
  readonly process: SimProcess;
  readonly stays: boolean;
}

async function sit(seat: Seat, person: Person): Promise<NonNullable<Sitting["end"]>> {
  const turnedAway = new AbortController();
  const patience = choosePatience(seat, person, turnedAway);
  const options = { after: seat.sitting.after, signal: turnedAway.signal };
  const frames = open(seat.process.runtime, seat.spectator, options);
  try {
    const end = await follow({ ...seat, frames, patience }, person);
    return end === "over" && turnedAway.signal.aborted ? "left" : end;
  } catch (cause) {
    // A store that fails breaks the connection; what was shown stays shown.
    if (isHoldfastError(cause) && cause.code.startsWith("store-")) return "broke";
    throw cause;
  }
}

/** After how many frames it leaves; or it turns away at some time, whether anything comes or not. */
function choosePatience({ stays }: Seat, { chance, crowd, owner }: Person, turnedAway: AbortController): number {
  if (stays) return Number.POSITIVE_INFINITY;
  if (chance.chance(0.6)) return chance.int(12);
  const away = crowd.scheduler.turn(owner, "turns away", chance.int(400));
  away.then(() => turnedAway.abort()).catch(() => undefined);
  return Number.POSITIVE_INFINITY;
}

interface Following extends Seat {
  readonly frames: AsyncIterator<WatchEvent>;
  readonly patience: number;
}

async function follow(following: Following, person: Person): Promise<NonNullable<Sitting["end"]>> {
  const { frames, process, sitting, spectator, patience } = following;
  const { chance } = person;
  for (;;) {
    const next = await Promise.race([frames.next(), process.gone]);
    if (!next) return "broke";
    if (next.done) return "over";
    note(following, next.value);
    if (sitting.frames.length > patience) {
      await Promise.race([frames.return?.(), process.gone]);
      return "left";
    }
    if (chance.chance(spectator.plan.slowness)) await pause(person, chance.int(chance.pick([1, 60, 300])));
  }
}

function open(
  runtime: Runtime,
  { run, plan }: Spectator,
  { after, signal }: { readonly after: string | undefined; readonly signal: AbortSignal },
): AsyncIterator<WatchEvent> {
  const options = { signal, ...(after === undefined ? {} : { after }) };
  const events =
    run === undefined ? runtime.watch(filterOf(plan.subject), options) : runtime.runs.get(run).watch(options);
  return events[Symbol.asyncIterator]();
}

export function filterOf(subject: Subject): Extract<Subject, { kind: "many" }>["filter"] {
  return subject.kind === "many" ? subject.filter : {};
}

function note({ sitting, spectator }: Seat, frame: WatchEvent): void {
  sitting.frames.push(frame);
  if ("cursor" in frame) spectator.cursors.push(frame.cursor);
  if ("seq" in frame) spectator.known.add(`${frame.run}:${frame.seq}`);
}
