/**
 * Where a machine's pattern lies in a text. All ways are followed at once, each with the place where it began.
 *
 * S1 What is answered covers exactly the characters that some match covers: of all matches that end at one place the
 *    earliest beginning counts, so greedy or not makes no difference.
 * S2 One character enters each state at most once, with its earliest beginning: the cost is that of a test (N1).
 */
import type { Machine, State } from "./machine.ts";
import { isAt, type Spot } from "./run-machine.ts";

/** From, and up to but without; in UTF-16 units. */
export type Span = readonly [from: number, to: number];

interface Way {
  readonly state: State;
  readonly from: number;
}

export function findSpans(machine: Machine, text: string): readonly Span[] {
  const found: Span[] = [];
  const entered = new Int32Array(machine.states).fill(-1);
  let ways: readonly Way[] = [];
  let before: number | undefined;
  for (let at = 0; ; ) {
    const here = text.codePointAt(at);
    // Oldest first, the fresh one last: whoever enters a state first has the earliest beginning (S2).
    const spread = spreadFrom([...ways, { state: machine.start, from: at }], { entered, turn: at, before, here });
    if (spread.found !== undefined && spread.found < at) found.push([spread.found, at]);
    if (here === undefined) return united(found);
    ways = spread.asking.flatMap(({ state, from }) => (state.set.has(here) ? [{ state: state.next, from }] : []));
    before = here;
    at += here > 0xffff ? 2 : 1;
  }
}

interface Turn extends Spot {
  readonly entered: Int32Array;
  readonly turn: number;
}

interface Spread {
  readonly asking: readonly { readonly state: State & { kind: "set" }; readonly from: number }[];
  readonly found: number | undefined;
}

function spreadFrom(ways: readonly Way[], { entered, turn, ...spot }: Turn): Spread {
  const asking: { state: State & { kind: "set" }; from: number }[] = [];
  let found: number | undefined;
  for (const { state: first, from } of ways) {
    const open: State[] = [first];
    for (let state = open.pop(); state; state = open.pop()) {
      if (entered[state.id] === turn) continue;
      entered[state.id] = turn;
      if (state.kind === "found") found = from;
      else if (state.kind === "set") asking.push({ state, from });
      else if (state.kind === "fork") open.push(...state.ways);
      else if (isAt(state.place, spot)) open.push(state.next);
    }
  }
  return { asking, found };
}

/** In order, without overlaps. */
export function united(spans: readonly Span[]): readonly Span[] {
  const apart: [number, number][] = [];
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = apart.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else apart.push([from, to]);
  }
  return apart;
}
