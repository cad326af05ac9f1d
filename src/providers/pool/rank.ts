/**
 * Which member a thread asks first, and whom next. Weighted rendezvous hashing: the thread's id and the member's name draw
 * a number, and the highest wins.
 *
 * R1 The same thread has the same order in every process and after every restart; nothing is remembered for it.
 * R2 Threads are spread by weight. A member that comes or goes moves only the threads that it gains or had.
 * R3 Members for failover come last, in the order in which they were given.
 */
import { hash } from "node:crypto";

export interface Ranked {
  /** Tells it from the other members; not from those of other pools. */
  readonly key: string;
  /** 0: for failover only. */
  readonly weight: number;
}

export function rank<Member extends Ranked>(members: readonly Member[], thread: string): readonly Member[] {
  const homes = members.filter(({ weight }) => weight > 0);
  const scored = homes.map((member) => ({ member, score: scoreOf(member, thread) }));
  scored.sort((a, b) => b.score - a.score);
  return [...scored.map(({ member }) => member), ...members.filter(({ weight }) => weight === 0)];
}

function scoreOf({ key, weight }: Ranked, thread: string): number {
  const drawn = Number.parseInt(hash("sha256", JSON.stringify([thread, key]), "hex").slice(0, 12), 16);
  return weight / -Math.log((drawn + 1) / (2 ** 48 + 1));
}
