/**
 * Random command lists for stores, as plain data from a seed: what is printed can be run again. Epochs and seqs are
 * relative ("one behind"), so that a command means something whatever the store holds by then.
 */
import type { BusyRule } from "../../ports/birth.ts";
import type { DeleteThread } from "../../ports/thread-store.ts";

const rules: readonly BusyRule[] = ["queue", "queue-unless-waiting", "reject", "interrupt", "supersede"];

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
  "end",
  "said-and-end",
  "end-and-next",
  "empty",
] as const;
export type Shape = (typeof shapes)[number];

export const postKinds = [
  "decide",
  "decide",
  "cancel-run",
  "input",
  "input",
  "edit",
  "withdraw",
  "cancel",
  "pause",
] as const;
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
      readonly rule?: BusyRule;
      readonly priority?: number;
      /** From now. */
      readonly startIn?: number;
      readonly deadlineIn?: number;
    })
  | {
      readonly do: "claim";
      readonly scope: number;
      readonly agents: readonly number[];
      readonly limit: number;
      readonly id: number;
      readonly again: boolean;
    }
  | (Fenced & {
      readonly do: "commit";
      readonly shape: Shape;
      readonly pick: number;
      /** Facts for other runs that it causes. */
      readonly deliveries?: number;
      /** Contents that it cites. */
      readonly cites?: readonly number[];
      /** State keys that it changes, of the thread or, the last of them, of the run. */
      readonly state?: readonly number[];
    })
  | { readonly do: "put-content"; readonly scope: number; readonly content: number; readonly wrong: boolean }
  | { readonly do: "collect-content"; readonly scope: number; readonly limit: number; readonly ms: number }
  | { readonly do: "take-deliveries"; readonly scope: number; readonly limit: number; readonly sink: boolean }
  | (Target & {
      readonly do: "end-delivery";
      readonly pick: number;
      readonly how: "delivered" | "put-off" | "dead";
      /** Added to the attempt. */
      readonly attempt: number;
    })
  | (Target & { readonly do: "revive-deliveries" })
  | (Fenced & { readonly do: "release" })
  | (Target & { readonly do: "renew"; readonly epoch: number })
  | (Target & {
      readonly do: "post";
      readonly kind: PostKind;
      readonly pick: number;
      readonly key: number;
      readonly hash: "shown" | "other";
      /** The post stands for a start with this key. */
      readonly start?: number;
    })
  | (Target & { readonly do: "snapshot"; readonly seq: number })
  | (Target & { readonly do: "evidence"; readonly pick: number })
  | (Target & {
      readonly do: "new-thread";
      readonly thread: number;
      readonly parent?: number;
      /** Key of the imported run, if there is one. */
      readonly history?: number;
      readonly title?: string;
    })
  | (OnThread & { readonly do: "change-thread"; readonly title?: string | null; readonly tag?: number })
  | (OnThread & { readonly do: "delete-thread"; readonly children: DeleteThread["children"] })
  | (Target & { readonly do: "erase" })
  | {
      readonly do: "prune";
      readonly scope: number;
      readonly limit: number;
      readonly agoMs: number;
      readonly by: "age" | "time";
    }
  | { readonly do: "advance"; readonly ms: number };

interface OnThread {
  readonly scope: number;
  readonly thread: number;
}

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

/** Begins with a few births and a claim, or most of the rest would find nothing to act on; half of the lists with threads. */
export function drawCommands(seed: number, length: number): readonly Batch[] {
  const draw = createDraw(seed);
  const batches: Batch[] = [
    ...(draw(2) === 0 ? [] : [familyBatch]),
    ...(draw(2) === 0 ? [] : [contentBatch]),
    drawBirths(draw),
    [drawClaim(draw, 0)],
  ];
  let left = Math.ceil(length / 4) + draw(length - Math.ceil(length / 4)) - drawnIn(batches);
  while (left > 0) {
    const size = Math.min(left, draw(3) === 0 ? 1 + draw(5) : 1);
    if (draw(12) === 0) batches.push([drawCollection(draw)]);
    else batches.push(draw(8) === 0 ? [{ do: "advance", ms: pickOf(draw, [1, 30, 100, 250]) }] : drawBatch(draw, size));
    left -= size;
  }
  return batches;
}

/** Alone in its batch: what it finds is what the others have left. */
function drawCollection(draw: Draw): Command {
  if (draw(3) === 0) return { do: "collect-content", scope: 0, limit: 1 + draw(2), ms: pickOf(draw, [0, 0, 100]) };
  const by = pickOf(draw, ["age", "time"] as const);
  return { do: "prune", scope: 0, limit: pickOf(draw, [1, 1, 3]), agoMs: pickOf(draw, [0, 0, 1, 100]), by };
}

/** A thread with history and its child: what can be deleted, unless a run joins them. */
const familyBatch: Batch = [
  { do: "new-thread", scope: 0, run: 4, thread: 2, history: 5 },
  { do: "new-thread", scope: 0, run: 5, thread: 3, history: 6, parent: 2, title: "child" },
];

/** What can be cited. */
const contentBatch: Batch = [0, 1].map((content) => ({ do: "put-content", scope: 0, content, wrong: false }));

function drawBirths(draw: Draw): Batch {
  return Array.from({ length: 2 + draw(3) }, (_, run) => ({
    ...{ do: "create", scope: 0, run, thread: draw(2), agent: draw(5) === 0 ? 1 : 0, key: run, hash: 0 },
    ...(draw(2) === 0 ? {} : { rule: pickOf(draw, rules) }),
    ...drawTimes(draw),
  }));
}

function drawnIn(batches: readonly Batch[]): number {
  return batches.flat().length;
}

function drawBatch(draw: Draw, size: number): Batch {
  return Array.from({ length: size }, () => drawCommand(draw));
}

function drawCommand(draw: Draw): Command {
  const target = { scope: draw(10) === 0 ? 1 : 0, run: draw(12) === 0 ? 6 : draw(6) };
  const luck = draw(148);
  if (luck < 12) return drawBirth(draw, target);
  if (luck < 26) return drawClaim(draw, target.scope);
  if (luck < 62) return drawCommit(draw, target);
  if (luck < 67) return { do: "release", ...drawFence(draw, target) };
  if (luck < 70) return { do: "renew", ...target, epoch: drawOffset(draw) };
  if (luck < 95) return drawPost(draw, target);
  if (luck < 98) return { do: "snapshot", ...target, seq: draw(9) };
  if (luck < 100) return { do: "evidence", ...target, pick: draw(3) };
  if (luck < 125) return drawThreadCommand(draw, target, luck);
  if (luck < 140) return drawDelivery(draw, target);
  return { do: "put-content", scope: target.scope, content: draw(3), wrong: draw(8) === 0 };
}

function drawCommit(draw: Draw, target: Target): Command {
  const commit = { do: "commit", ...drawFence(draw, target), shape: pickOf(draw, shapes), pick: draw(6) } as const;
  const cites = draw(4) === 0 ? { cites: draw(4) === 0 ? [draw(3), draw(3)] : [draw(2)] } : {};
  const state = draw(3) === 0 ? { state: draw(2) === 0 ? [draw(3)] : [draw(4), draw(4)] } : {};
  return { ...commit, ...(draw(4) === 0 ? { deliveries: 1 + draw(3) } : {}), ...cites, ...state };
}

function drawDelivery(draw: Draw, target: Target): Command {
  if (draw(2) === 0) {
    return { do: "take-deliveries", scope: target.scope, limit: 1 + draw(3), sink: draw(4) === 0 };
  }
  const how = pickOf(draw, ["delivered", "put-off", "dead", "revived"] as const);
  if (how === "revived") return { do: "revive-deliveries", ...target };
  return { do: "end-delivery", ...target, pick: draw(3), how, attempt: draw(5) === 0 ? -1 : 0 };
}

function drawBirth(draw: Draw, target: Target): Command {
  return {
    do: "create",
    ...target,
    run: draw(7),
    thread: draw(6) === 0 ? 2 : draw(2),
    agent: draw(4) === 0 ? 1 : 0,
    key: draw(8),
    hash: draw(6) === 0 ? 1 : 0,
    ...(draw(2) === 0 ? {} : { rule: pickOf(draw, rules) }),
    ...drawTimes(draw),
  };
}

function drawTimes(draw: Draw): Pick<Extract<Command, { do: "create" }>, "priority" | "startIn" | "deadlineIn"> {
  return {
    ...(draw(3) === 0 ? { priority: draw(5) - 2 } : {}),
    ...(draw(5) === 0 ? { startIn: draw(300) - 50 } : {}),
    ...(draw(4) === 0 ? { deadlineIn: draw(400) } : {}),
  };
}

function drawThreadCommand(draw: Draw, target: Target, luck: number): Command {
  const { scope } = target;
  const thread = draw(3) === 0 ? draw(2) : 2 + draw(2);
  if (luck < 108) return drawThread(draw, target);
  if (luck < 111) {
    const title = pickOf(draw, [{ title: null }, { title: "named" }, {}]);
    return { do: "change-thread", scope, thread, ...title, ...(draw(2) === 0 ? {} : { tag: draw(9) }) };
  }
  if (luck < 118) {
    return { do: "delete-thread", scope, thread, children: pickOf(draw, ["reject", "detach", "cascade"] as const) };
  }
  return { do: "erase", ...target };
}

function drawThread(draw: Draw, target: Target): Command {
  return {
    do: "new-thread",
    ...target,
    thread: draw(4),
    ...(draw(2) === 0 ? {} : { parent: draw(4) }),
    ...(draw(2) === 0 ? {} : { history: draw(8) }),
    ...(draw(2) === 0 ? {} : { title: "given" }),
  };
}

function drawClaim(draw: Draw, scope: number): Command {
  const agents = pickOf<readonly number[]>(draw, [[0], [0, 1], [0, 1], [0, 1], [1]]);
  return { do: "claim", scope, agents, limit: 1 + draw(3), id: draw(4), again: draw(6) === 0 };
}

function drawPost(draw: Draw, target: Target): Command {
  const hash = draw(6) === 0 ? "other" : "shown";
  const start = draw(6) === 0 ? { start: draw(8) } : {};
  return { do: "post", ...target, kind: pickOf(draw, postKinds), pick: draw(4), key: draw(12), hash, ...start };
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
