/**
 * Which scopes are asked for work, in which order, and when next.
 *
 * O1 Turns go round: a round begins behind the scope that was asked last, so that none is always first.
 * O2 A scope is asked when a hint named it, when its next time has come, and at every poll. One that gave all it was asked
 *    for is asked again in the next round.
 * O3 A scope that has something due and gives nothing (others were faster, clocks differ) is asked again after a pause that
 *    doubles up to the poll: no busy loop, whatever the store says.
 */
import type { Scope } from "../../domain/ids.ts";

const firstPauseMs = 10;

export interface Rota {
  /** It may have something now. */
  wake(scope: Scope): void;
  /** Scopes to ask now, in turn. */
  turns(now: number): readonly Scope[];
  /** It is being asked: what wakes it from now on counts for the next time. */
  asking(scope: Scope): void;
  /** It gave all it was asked for. */
  more(scope: Scope): void;
  /** It gave less, and has something from `due` on, if ever. */
  rests(scope: Scope, answer: { readonly took: number; readonly due: number | undefined; readonly now: number }): void;
  /** What is due in each scope, read at once; scopes that are not named have nothing. */
  replace(dues: readonly { readonly scope: Scope; readonly due: number }[]): void;
  /** When the next scope has to be asked, if one has. */
  next(): number | undefined;
}

export function createRota(pollMs: number): Rota {
  /** When each scope is to be asked. */
  const times = new Map<Scope, number>();
  const pauses = new Map<Scope, number>();
  let last: Scope | undefined;

  function pauseOf(scope: Scope): number {
    const pause = pauses.get(scope) ?? firstPauseMs;
    pauses.set(scope, Math.min(pollMs, pause * 2));
    return Math.min(pollMs, pause);
  }

  return {
    wake: (scope) => void times.set(scope, Number.NEGATIVE_INFINITY),
    turns(now) {
      const due = [...times].flatMap(([scope, time]) => (time <= now ? [scope] : [])).sort();
      const after = last;
      const first = after === undefined ? 0 : due.findIndex((scope) => scope > after);
      return first <= 0 ? due : [...due.slice(first), ...due.slice(0, first)]; // O1
    },
    asking(scope) {
      last = scope;
      times.delete(scope);
    },
    more(scope) {
      pauses.delete(scope);
      times.set(scope, Number.NEGATIVE_INFINITY);
    },
    rests(scope, { took, due, now }) {
      if (took > 0 || due === undefined || due > now) pauses.delete(scope);
      if (due === undefined || times.has(scope)) return;
      times.set(scope, due > now ? due : now + pauseOf(scope)); // O3
    },
    replace(dues) {
      const woken = [...times].filter(([, time]) => time === Number.NEGATIVE_INFINITY);
      times.clear();
      for (const { scope, due } of dues) times.set(scope, due);
      for (const [scope, time] of woken) times.set(scope, time);
      for (const scope of pauses.keys()) if (!times.has(scope)) pauses.delete(scope);
    },
    next() {
      let first: number | undefined;
      for (const time of times.values()) if (first === undefined || time < first) first = time;
      return first;
    },
  };
}
