/** Chance that can be replayed: a small generator (mulberry32) and branches of it that do not disturb each other. */

export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from 0 up to, not including, `below`. */
  int(below: number): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** A stream of its own, the same for the same seed and name. */
  branch(name: string): Random;
}

export function createRandom(seed: number | string): Random {
  const origin = hashText(String(seed));
  let state = origin;

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  function int(below: number): number {
    return Math.floor(next() * below);
  }

  return {
    next,
    int,
    between: (least, most) => least + int(most - least + 1),
    chance: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new RangeError("Nothing to pick from");
      return items[int(items.length)] as (typeof items)[number];
    },
    branch: (name) => createRandom(`${origin}/${name}`),
  };
}

/** FNV-1a, then one more mix: neighbouring seeds must not begin alike. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
