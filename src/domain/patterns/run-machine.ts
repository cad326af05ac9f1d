/**
 * Follows all states a text could be in at once (Thompson's simulation). There is no going back, so nothing blows up:
 *
 * N1 One character enters each way at most once and asks each state at most once. So a run takes at most
 *    `mostStepsPerCharacter(machine) × (characters + 1)` steps, whatever the pattern and whatever the text.
 * N2 The text is read to its end unless the pattern is found before: nothing hides behind a long beginning.
 */
import { codeSet, wordChars } from "./code-set.ts";
import type { Machine, Place, State } from "./machine.ts";

/** Every way once, every state asked once, and the start entered anew. */
export function mostStepsPerCharacter(machine: Machine): number {
  return machine.ways + machine.states + 1;
}

export interface Ran {
  readonly found: boolean;
  /** Ways entered and states asked: the work, measured without a clock. */
  readonly steps: number;
}

export interface Spot {
  /** The characters on both sides; undefined beyond the text. */
  readonly before: number | undefined;
  readonly here: number | undefined;
}

/** Whether the machine finds its pattern anywhere in the text. */
export function runMachine(machine: Machine, text: string): Ran {
  const walk = new Walk(machine.states);
  let before: number | undefined;
  for (let at = 0; ; ) {
    const here = text.codePointAt(at);
    walk.enter(machine.start);
    if (walk.spread({ before, here })) return { found: true, steps: walk.steps };
    if (here === undefined) return { found: false, steps: walk.steps };
    walk.take(here);
    before = here;
    at += here > 0xffff ? 2 : 1;
  }
}

type Asking = State & { kind: "set" };

class Walk {
  steps = 0;
  #turn = 0;
  #asking: Asking[] = [];
  readonly #open: State[] = [];
  readonly #entered: Int32Array;

  constructor(states: number) {
    this.#entered = new Int32Array(states).fill(-1);
  }

  /** Once per turn: a state that is in is in. */
  enter(state: State): void {
    this.steps += 1;
    if (this.#entered[state.id] === this.#turn) return;
    this.#entered[state.id] = this.#turn;
    this.#open.push(state);
  }

  /** Goes as far as is possible without a character; true when the pattern is found. */
  spread(spot: Spot): boolean {
    this.#asking = [];
    for (let state = this.#open.pop(); state; state = this.#open.pop()) {
      if (state.kind === "found") return true;
      if (state.kind === "set") this.#asking.push(state);
      else if (state.kind === "fork") for (const way of state.ways) this.enter(way);
      else if (isAt(state.place, spot)) this.enter(state.next);
    }
    return false;
  }

  take(code: number): void {
    this.#turn += 1;
    for (const state of this.#asking) {
      this.steps += 1;
      if (state.set.has(code)) this.enter(state.next);
    }
  }
}

const word = codeSet(wordChars);

export function isAt(place: Place, { before, here }: Spot): boolean {
  switch (place) {
    case "start":
      return before === undefined;
    case "end":
      return here === undefined;
    case "boundary":
      return isWord(before) !== isWord(here);
    case "not-boundary":
      return isWord(before) === isWord(here);
  }
}

function isWord(code: number | undefined): boolean {
  return code !== undefined && word.has(code);
}
