/**
 * The machine under regular expressions and globs (Thompson's construction): a tree of parts becomes states with ways
 * between them, which `run-machine.ts` follows.
 *
 * M1 A machine has at most `sizeOf(part) + 1` states, so its size is known, and can be refused, before it is built.
 * M2 A loop is one copy of its body: nested loops add up, they do not multiply.
 */
import type { CodeSet } from "./code-set.ts";

export type Place = "start" | "end" | "boundary" | "not-boundary";

export type Part =
  | { readonly kind: "set"; readonly set: CodeSet }
  | { readonly kind: "place"; readonly place: Place }
  | { readonly kind: "sequence"; readonly parts: readonly Part[] }
  | { readonly kind: "either"; readonly choices: readonly Part[] }
  | { readonly kind: "repeat"; readonly part: Part; readonly least: number; readonly most: number };

export type State =
  | { readonly kind: "set"; readonly id: number; readonly set: CodeSet; readonly next: State }
  | { readonly kind: "place"; readonly id: number; readonly place: Place; readonly next: State }
  | { readonly kind: "fork"; readonly id: number; readonly ways: State[] }
  | { readonly kind: "found"; readonly id: number };

export interface Machine {
  readonly start: State;
  readonly states: number;
  readonly ways: number;
}

/** At least 1 for every part: also what is empty costs time when it is repeated. */
export function sizeOf(part: Part): number {
  switch (part.kind) {
    case "set":
    case "place":
      return 1;
    case "sequence":
      return Math.max(
        1,
        part.parts.reduce((sum, each) => sum + sizeOf(each), 0),
      );
    case "either":
      return 1 + part.choices.reduce((sum, each) => sum + sizeOf(each), 0);
    case "repeat":
      return part.most === Number.POSITIVE_INFINITY
        ? 1 + sizeOf(part.part) * Math.max(part.least, 1)
        : 1 + sizeOf(part.part) * part.most + part.most - part.least;
  }
}

export function buildMachine(part: Part): Machine {
  const builder: Builder = { states: 0, ways: 0 };
  const start = build(part, { kind: "found", id: builder.states++ }, builder);
  return { start, ...builder };
}

interface Builder {
  states: number;
  ways: number;
}

/** From the back: the state that `part` begins with, given what follows it. */
function build(part: Part, next: State, builder: Builder): State {
  switch (part.kind) {
    case "set":
      builder.ways += 1;
      return { kind: "set", id: builder.states++, set: part.set, next };
    case "place":
      builder.ways += 1;
      return { kind: "place", id: builder.states++, place: part.place, next };
    case "sequence":
      return part.parts.reduceRight((after, each) => build(each, after, builder), next);
    case "either":
      return fork(
        part.choices.map((each) => build(each, next, builder)),
        builder,
      );
    case "repeat":
      return repeat(part, next, builder);
  }
}

function repeat({ part, least, most }: Part & { kind: "repeat" }, next: State, builder: Builder): State {
  let entry = next;
  let copies = least;
  if (most === Number.POSITIVE_INFINITY) {
    const again = fork([next], builder);
    const body = build(part, again, builder);
    again.ways.push(body);
    builder.ways += 1;
    // M2: the last demanded copy is the loop itself; a second one would double with every nested +.
    entry = least === 0 ? again : body;
    copies = Math.max(least - 1, 0);
  }
  for (let more = least; more < most && most !== Number.POSITIVE_INFINITY; more += 1) {
    entry = fork([build(part, entry, builder), next], builder);
  }
  for (let copy = 0; copy < copies; copy += 1) entry = build(part, entry, builder);
  return entry;
}

function fork(ways: State[], builder: Builder): State & { kind: "fork" } {
  builder.ways += ways.length;
  return { kind: "fork", id: builder.states++, ways };
}
