/** What is done to a process: killed or frozen, at a named place where that can be had, or just so. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Crew, Member } from "./crew.ts";
import { clientPoints, type Failpoint, type Order, workerPoints } from "./failpoints.ts";
import { leaseMs } from "./place.ts";

const patienceMs = 3_000;
const lookMs = 2;
/** Past the lease: others have just taken its runs, or have finished them already. */
const frozenMs = (): number => leaseMs + 400 + Math.random() * 1_600;
const wakingMs = 1_000;

export interface Tally {
  kills: number;
  pauses: number;
  watcherKills: number;
  /** Kills by the place where they hit. */
  readonly places: Map<string, number>;
}

export function createTally(): Tally {
  return { kills: 0, pauses: 0, watcherKills: 0, places: new Map() };
}

export function killsAtFailpoints({ kills, places }: Tally): number {
  return kills - (places.get("anywhere") ?? 0);
}

export async function killOne(crew: Crew, tally: Tally): Promise<void> {
  // Rather more than half of the kills are aimed.
  const isAimed = killsAtFailpoints(tally) < (tally.kills + 1) * 0.65;
  const { member, place } = isAimed ? await aim(crew) : { member: await someone(crew), place: "anywhere" };
  if (!isAimed) await sleep(Math.random() * 300);
  await crew.killAndReplace(member);
  tally.kills += 1;
  tally.places.set(place, (tally.places.get(place) ?? 0) + 1);
}

/** A place that is not reached in time is given up for another one. */
async function aim(crew: Crew): Promise<{ readonly member: Member; readonly place: string }> {
  for (;;) {
    const member = await someone(crew);
    const place = await standing(member, anyOf(member.role === "worker" ? workerPoints : clientPoints));
    if (place) return { member, place };
    order(member, { order: "go" });
    member.isTaken = false;
  }
}

function someone(crew: Crew): Promise<Member> {
  return crew.take(Math.random() < 0.8 ? "worker" : "client");
}

export async function killWatcher(crew: Crew, tally: Tally): Promise<void> {
  await crew.killAndReplace(await crew.take("watcher"));
  tally.watcherKills += 1;
}

/** Frozen until others have what it held; every second time in front of a write, which it then sends. */
export async function freezeOne(crew: Crew, tally: Tally): Promise<void> {
  const member = await crew.take("worker");
  if (tally.pauses % 2 === 0) await standing(member, anyOf(["before-commit", "after-effect", "before-renew"]));
  member.child.signal("SIGSTOP");
  await sleep(frozenMs());
  member.child.signal("SIGCONT");
  order(member, { order: "go" });
  await sleep(wakingMs);
  tally.pauses += 1;
  member.isTaken = false;
}

/** The place where it stands now, if it has come there in time. */
async function standing(member: Member, at: Failpoint): Promise<Failpoint | undefined> {
  const skip = at === "in-reconcile" || at === "after-claim" ? 0 : Math.floor(Math.random() * 8);
  member.standsAt = undefined;
  order(member, { order: "stand", at, skip });
  for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(lookMs)) {
    if (member.standsAt === at) return at;
  }
  return undefined;
}

function order(member: Member, what: Order): void {
  member.child.tell(what);
}

function anyOf<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T;
}
