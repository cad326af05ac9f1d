/** Readers that lose their connection at random, come back elsewhere, and sometimes have forgotten where they were. */
import { setTimeout as delay } from "node:timers/promises";
import type { RunEvent } from "../../src/domain/event.ts";
import type { Runtime, WatchEvent, WatchOptions } from "../../src/runtime/runtime.ts";
import type { createDraw } from "../../src/testing/conformance/store-commands.ts";

type Durable = RunEvent & { readonly cursor: string };

export interface Reader {
  readonly name: string;
  /** Every event, in the order it came; what was forgotten and read again stands once. */
  readonly seen: string[];
  /** How many it had seen before it forgot some. */
  most: number;
  /** What can never be: an event that came before one of its predecessors, or at another place than to others. */
  readonly wrong: string[];
  reconnects: number;
}

export interface Crowd {
  /** Whoever comes back comes to any of these. */
  readonly runtimes: readonly Runtime[];
  readonly draw: ReturnType<typeof createDraw>;
  /** Everyone has seen everything once: from here on nobody is cut off or forgets. */
  readonly calm: AbortSignal;
  /** Ends everything. */
  readonly stop: AbortSignal;
  /** Every event that anybody has seen, with its place over many runs, as the first reader of it was told. */
  readonly known: Map<string, { readonly name: string; place: string | undefined }>;
  /** A connection breaks after at most so many events, or ten times as many milliseconds. */
  readonly patience: number;
}

export type Connect = (runtime: Runtime, options: Pick<WatchOptions, "after" | "signal">) => AsyncIterable<WatchEvent>;

const remembered = 64;

interface Memory {
  readonly reader: Reader;
  /** The newest cursors, one for each of the newest events. */
  readonly cursors: string[];
}

/** Reads one stream to its end, however often the connection breaks. True when the end was seen. */
export async function readThrough(reader: Reader, connect: Connect, crowd: Crowd): Promise<boolean> {
  const memory: Memory = { reader, cursors: [] };
  while (!crowd.stop.aborted) {
    if (await readSome(memory, connect, crowd)) return true;
    reader.reconnects += 1;
    if (crowd.calm.aborted) continue;
    if (crowd.draw(3) === 0) forget(memory, crowd.draw(remembered));
    if (crowd.draw(3) === 0) await delay(crowd.draw(100));
  }
  return false;
}

/** One connection. True when the stream came to its own end. */
async function readSome(memory: Memory, connect: Connect, crowd: Crowd): Promise<boolean> {
  const { draw, patience, runtimes, calm } = crowd;
  const broken = new AbortController();
  const isTimed = draw(2) === 0 && !calm.aborted;
  const timer = isTimed ? setTimeout(() => broken.abort(), draw(10 * patience)) : undefined;
  let left = isTimed || calm.aborted ? Number.POSITIVE_INFINITY : 1 + draw(patience);
  const after = memory.cursors.at(-1);
  const signal = AbortSignal.any([crowd.stop, broken.signal]);
  const runtime = runtimes[draw(runtimes.length)]!;
  try {
    for await (const event of connect(runtime, { signal, ...(after === undefined ? {} : { after }) })) {
      if (!("cursor" in event) || event.type === "resync") continue;
      take(memory, event, crowd);
      left -= 1;
      if (left <= 0) return false;
    }
    return !signal.aborted;
  } finally {
    clearTimeout(timer);
  }
}

function take({ reader, cursors }: Memory, event: Durable, { known }: Crowd): void {
  const name = nameOf(event);
  const fact = known.get(name) ?? { name, place: undefined };
  known.set(name, fact);
  const place = placeIn(event.cursor);
  const last = cursors.at(-1);
  if (last !== undefined && !isAfter(placeIn(last), place)) reader.wrong.push(`${name} at ${place} after ${last}`);
  if (!place.startsWith("0.")) fact.place ??= place;
  if (!place.startsWith("0.") && fact.place !== place)
    reader.wrong.push(`${name} at ${place}, before at ${fact.place}`);
  reader.seen.push(fact.name);
  reader.most = Math.max(reader.most, reader.seen.length);
  cursors.push(event.cursor);
  if (cursors.length > 2 * remembered) cursors.splice(0, remembered);
}

/** The newest events are as if they had never been read; one that is still known says where to go on. */
function forget({ reader, cursors }: Memory, count: number): void {
  const forgotten = Math.min(count, Math.max(0, cursors.length - 1));
  reader.seen.length -= forgotten;
  cursors.length -= forgotten;
}

export function nameOf({
  run,
  seq,
  type,
}: {
  readonly run: string;
  readonly seq: number;
  readonly type: string;
}): string {
  return `${run} ${seq} ${type}`;
}

/** Position and seq of a cursor: opaque to users, not to a test of its order. */
function placeIn(cursor: string): string {
  return cursor.split(".").slice(0, 2).join(".");
}

function isAfter(last: string, next: string): boolean {
  const [position = 0, seq = 0] = last.split(".").map(Number);
  const [nextPosition = 0, nextSeq = 0] = next.split(".").map(Number);
  return nextPosition > position || (nextPosition === position && nextSeq > seq);
}
