/**
 * Random command lists for stores, as plain data from a seed: what is printed can be run again. Epochs and seqs are
 * relative ("one behind"), so that a command means something whatever the store holds by then.
 */

export const shapes = [
  "start",
  "start",
  "step",
  "done",
  "lost",
  "open",
  "open",
  "wait-on-ticket",
  "wait-on-ticket",
  "wait",
  "resume",
  "close-ticket",
  "take",
  "end",
  "said-and-end",
  "empty",
] as const;
export type Shape = (typeof shapes)[number];

export const postKinds = ["decide", "decide", "cancel-run", "input", "input", "withdraw", "cancel", "pause"] as const;
export type PostKind = (typeof postKinds)[number];

export interface Target {
  readonly scope: number;
  readonly run: number;
}

interface Fenced extends Target {
  /** Added to the run's epoch and head. */
  readonly epoch: number;
  readonly seq: number;
  readonly wake?: number;
}

export type Command =
  | (Target & {
      readonly do: "create";
      readonly thread: number;
      readonly agent: number;
      readonly key: number;
      readonly hash: number;
    })
  | {
      readonly do: "claim";
      readonly scope: number;
      readonly agents: readonly number[];
      readonly limit: number;
      readonly id: number;
      readonly again: boolean;
    }
  | (Fenced & { readonly do: "commit"; readonly shape: Shape; readonly pick: number })
  | (Fenced & { readonly do: "release" })
  | (Target & { readonly do: "renew"; readonly epoch: number })
  | (Target & {
      readonly do: "post";
      readonly kind: PostKind;
      readonly pick: number;
      readonly key: number;
      readonly hash: "shown" | "other";
    })
  | (Target & { readonly do: "snapshot"; readonly seq: number })
  | (Target & { readonly do: "evidence"; readonly pick: number })
  | { readonly do: "advance"; readonly ms: number };

/** Commands that are given to the store at once. */
export type Batch = readonly Command[];

/** A small seeded generator (mulberry32): the same seed, the same commands, everywhere. */
export type Draw = (below: number) => number;

export function createDraw(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Begins with a few births and a claim, or most of the rest would find nothing to act on. */
export function drawCommands(seed: number, length: number): readonly Batch[] {
  const draw = createDraw(seed);
  const batches: Batch[] = [drawBirths(draw), [drawClaim(draw, 0)]];
  let left = Math.ceil(length / 4) + draw(length - Math.ceil(length / 4)) - drawnIn(batches);
  while (left > 0) {
    const size = Math.min(left, draw(3) === 0 ? 1 + draw(5) : 1);
    batches.push(draw(8) === 0 ? [{ do: "advance", ms: pickOf(draw, [1, 30, 100, 250]) }] : drawBatch(draw, size));
    left -= size;
  }
  return batches;
}

function drawBirths(draw: Draw): Batch {
  return Array.from({ length: 2 + draw(3) }, (_, run) => ({
    ...{ do: "create", scope: 0, run, thread: draw(2), agent: draw(5) === 0 ? 1 : 0, key: run, hash: 0 },
  }));
}

function drawnIn(batches: readonly Batch[]): number {
  return batches.flat().length;
}

function drawBatch(draw: Draw, size: number): Batch {
  return Array.from({ length: size }, () => drawCommand(draw));
}

function drawCommand(draw: Draw): Command {
  const target = { scope: draw(10) === 0 ? 1 : 0, run: draw(12) === 0 ? 4 : draw(4) };
  const luck = draw(100);
  if (luck < 8) {
    return {
      do: "create",
      ...target,
      thread: draw(2),
      agent: draw(4) === 0 ? 1 : 0,
      key: draw(8),
      hash: draw(6) === 0 ? 1 : 0,
    };
  }
  if (luck < 22) return drawClaim(draw, target.scope);
  if (luck < 62) return { do: "commit", ...drawFence(draw, target), shape: pickOf(draw, shapes), pick: draw(6) };
  if (luck < 67) return { do: "release", ...drawFence(draw, target) };
  if (luck < 70) return { do: "renew", ...target, epoch: drawOffset(draw) };
  if (luck < 95) return drawPost(draw, target);
  if (luck < 98) return { do: "snapshot", ...target, seq: draw(9) };
  return { do: "evidence", ...target, pick: draw(3) };
}

function drawClaim(draw: Draw, scope: number): Command {
  const agents = pickOf<readonly number[]>(draw, [[0], [0, 1], [0, 1], [0, 1], [1]]);
  return { do: "claim", scope, agents, limit: 1 + draw(3), id: draw(4), again: draw(6) === 0 };
}

function drawPost(draw: Draw, target: Target): Command {
  const hash = draw(6) === 0 ? "other" : "shown";
  return { do: "post", ...target, kind: pickOf(draw, postKinds), pick: draw(4), key: draw(12), hash };
}

function drawFence(draw: Draw, target: Target): Fenced {
  const wake = draw(2) === 0 ? {} : { wake: draw(300) };
  return { ...target, epoch: drawOffset(draw), seq: drawOffset(draw), ...wake };
}

/** Mostly right, sometimes stale, rarely ahead. */
function drawOffset(draw: Draw): number {
  const luck = draw(16);
  if (luck === 0) return 1;
  return luck < 3 ? -1 : 0;
}

function pickOf<T>(draw: Draw, items: readonly T[]): T {
  return items[draw(items.length)] as T;
}
