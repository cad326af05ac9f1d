/**
 * Watching: every durable event after the cursor, then live. One algorithm for one run and for many.
 *
 * W1 The ring's head is taken before the journal is read; what the journal gave is skipped in the ring.
 * W2 Durable events come in the source's order, each exactly once; a hole in the ring is filled from the journal.
 * W3 A reader that fell more than a ring behind gets one `resync`, then the journal: run-ended is never lost.
 * W4 Pieces of a message are shown only from `message-partial` or the message's beginning on, and never after the
 *    attempt's end was; an attempt that ends without its message is retracted, however late its end is seen, also to
 *    a watcher that comes back and was shown the pieces elsewhere.
 * W5 Pieces from another process say where they begin. They are shown in one line from the beginning, first as a
 *    `message-partial`; what was shown already is cut off, and after a gap nothing is shown until it is filled.
 */
import { type Place, readCursor, writeCursor } from "../domain/cursor.ts";
import type { MessagePartial, Told } from "../domain/delta.ts";
import { HoldfastError, isHoldfastError } from "../domain/errors.ts";
import type { Envelope } from "../domain/event-filter.ts";
import { createFar, type Far } from "./far.ts";
import type { Placed } from "./placed.ts";
import type { Ring } from "./ring.ts";
import type { WatchEvent, WatchOptions } from "./runtime.ts";
import { createShown, type Shown } from "./shown.ts";

/** An event handed over after its commit, a live piece, or "look into the journal". */
export type RingItem =
  | { readonly kind: "event"; readonly placed: Placed }
  /** `at`: from another process (W5). */
  | { readonly kind: "told"; readonly told: Told; readonly at?: number }
  | { readonly kind: "moved" };

export interface Source {
  /** Binds cursors to what is watched. */
  readonly tag: string;
  readonly ring: Ring<RingItem>;
  /** One page of the journal after a place, oldest first; empty at the head. */
  read(after: Place): Promise<readonly Placed[]>;
  /** The place after everything there is. */
  now(): Promise<Place>;
  /** How an item of the ring stands to the last event shown. */
  order(last: Place, next: Place): "next" | "seen" | "hole";
  /** A cursor that cannot be: ahead of the head. `erased`: history after it was taken away. */
  check(from: Place): Promise<"fits" | "ahead" | "erased">;
  wants(envelope: Envelope): boolean;
  wantsLive(told: Told): boolean;
  /** What is being written here, so far. */
  partials(): readonly MessagePartial[];
  /** Writers elsewhere begin again, for this watcher. */
  ask(): void;
  /** Whether everything up to this place is all there will ever be, was taken away, is all for now, or neither. */
  rest(last: Place): Promise<"ended" | "erased" | "idle" | "going-on">;
  /** The time between two looks for what is not told. */
  pause(signal: AbortSignal): Promise<void>;
  leave(): void;
}

interface Watcher {
  readonly source: Source;
  readonly options: WatchOptions;
  readonly closed: AbortSignal;
  last: Place;
  /** The next ring item to look at. */
  next: number;
  readonly shown: Shown;
  readonly far: Far;
  /** Pieces may be shown: what was written before was. */
  joined: boolean;
  /** What is watched was taken away meanwhile. */
  isErased: boolean;
}

const start: Place = { position: 0, seq: 0 };

export async function* watch(source: Source, options: WatchOptions, closed: AbortSignal): AsyncGenerator<WatchEvent> {
  try {
    const next = source.ring.head(); // W1
    const last = await beginning(source, options);
    const watcher: Watcher = {
      source,
      options,
      closed,
      last,
      next,
      shown: createShown(options.after !== undefined),
      far: createFar(),
      joined: false,
      isErased: false,
    };
    if (options.after !== undefined) yield* refuseOrResync(watcher);
    while (!((yield* catchUp(watcher)) || (await isOver(watcher)) || (yield* follow(watcher))));
    if (watcher.isErased) yield { type: "resync", reason: "erased", cursor: cursorOf(watcher) };
  } catch (cause) {
    // The runtime was closed in the middle of a read: the watch is over, as it would be a moment later.
    if (!isHoldfastError(cause, "store-closed")) throw cause;
  } finally {
    source.leave();
  }
}

function beginning(source: Source, { after, from }: WatchOptions): Place | Promise<Place> {
  if (after !== undefined) return readCursor(after, source.tag);
  return from === "now" ? source.now() : start;
}

async function* refuseOrResync(watcher: Watcher): AsyncGenerator<WatchEvent> {
  const answer = await watcher.source.check(watcher.last);
  if (answer === "ahead") throw new HoldfastError("invalid-cursor", "The cursor is ahead of everything there is");
  if (answer === "erased") yield { type: "resync", reason: "erased", cursor: cursorOf(watcher) };
}

/** From the journal, page by page. True when the watch is over. */
async function* catchUp(watcher: Watcher): AsyncGenerator<WatchEvent, boolean> {
  for (;;) {
    if (isStopped(watcher)) return true;
    const page = await watcher.source.read(watcher.last);
    if (page.length === 0) return false;
    for (const placed of page) if (yield* showDurable(watcher, placed)) return true;
  }
}

/** From the ring. True when the watch is over, false when the journal has to be read. */
async function* follow(watcher: Watcher): AsyncGenerator<WatchEvent, boolean> {
  const { ring } = watcher.source;
  for (;;) {
    if (isStopped(watcher)) return true;
    if (ring.lost(watcher.next)) {
      watcher.next = ring.head();
      watcher.joined = false;
      yield { type: "resync", reason: "slow", cursor: cursorOf(watcher) }; // W3
      return false;
    }
    const item = ring.at(watcher.next);
    if (!item) {
      if (yield* atHead(watcher)) return true;
      continue;
    }
    watcher.next += 1;
    const done = yield* showItem(watcher, item);
    if (done !== "go-on") return done === "over";
  }
}

/** Everything in the ring was seen. True when the watch is over. */
async function* atHead(watcher: Watcher): AsyncGenerator<WatchEvent, boolean> {
  const partials = join(watcher);
  if (partials.length > 0) {
    yield* partials;
    return false;
  }
  if (!(await nextPush(watcher))) return true;
  if (watcher.options.until !== "idle" || watcher.source.ring.at(watcher.next)) return false;
  // A run in another process comes to rest without a word when it gives its claim back.
  return isOver(watcher);
}

async function* showItem(watcher: Watcher, item: RingItem): AsyncGenerator<WatchEvent, "go-on" | "over" | "read"> {
  if (item.kind === "moved") return "read";
  if (item.kind === "told") {
    const told = visible(watcher, item);
    if (told) yield told;
    return "go-on";
  }
  const { placed } = item;
  const order = watcher.source.order(watcher.last, placed.place);
  if (order === "seen") return "go-on";
  if (order === "hole") return "read"; // W2
  if (yield* showDurable(watcher, placed)) return "over";
  const mayRest = placed.envelope.type === "run-waiting" && watcher.options.until === "idle";
  if (mayRest && (await isOver(watcher))) return "over";
  return "go-on";
}

/** True when this was the last event of a watch until the end. */
function* showDurable(watcher: Watcher, placed: Placed): Generator<WatchEvent, boolean> {
  watcher.last = placed.place;
  if (!watcher.source.wants(placed.envelope)) return false; // before anything of what it holds is looked at
  const { event } = placed;
  for (const retracted of watcher.shown.settle(event)) if (watcher.source.wantsLive(retracted)) yield retracted;
  if (event.type === "run-ended") watcher.far.forget(event.run);
  yield { ...event, cursor: cursorOf(watcher) };
  return event.type === "run-ended" && watcher.options.until !== undefined;
}

/** W4, W5. */
function visible(watcher: Watcher, { told, at }: Extract<RingItem, { kind: "told" }>): WatchEvent | undefined {
  const { shown, far } = watcher;
  if (!watcher.source.wantsLive(told)) return undefined;
  if (told.type === "tool-progress") return told;
  if (told.type === "message-retracted") {
    far.end(told);
    return shown.retract(told) ? told : undefined;
  }
  if (!watcher.joined) return undefined;
  const piece = at === undefined ? told : far.take(told, at);
  return piece && shown.show(piece) ? piece : undefined;
}

/** Everything in the ring was seen: from here on pieces follow what the writers have so far. */
function join(watcher: Watcher): readonly MessagePartial[] {
  if (watcher.joined) return [];
  watcher.joined = true;
  watcher.far.clear();
  watcher.source.ask();
  return watcher.source.partials().filter((partial) => !isEmpty(partial) && watcher.shown.show(partial));
}

function isEmpty({ text, reasoning, inputs }: MessagePartial): boolean {
  return text === "" && reasoning === "" && inputs.length === 0;
}

async function isOver(watcher: Watcher): Promise<boolean> {
  const { options, source, last } = watcher;
  if (options.until === undefined) return false;
  const rest = await source.rest(last);
  watcher.isErased = rest === "erased";
  return watcher.isErased || rest === "ended" || (rest === "idle" && options.until === "idle");
}

function isStopped({ options, closed }: Watcher): boolean {
  return closed.aborted || (options.signal?.aborted ?? false);
}

/** False when the watch is over. */
async function nextPush(watcher: Watcher): Promise<boolean> {
  const { options, closed, source } = watcher;
  if (isStopped(watcher)) return false;
  if (source.ring.head() > watcher.next) return true;
  await new Promise<void>((resolve) => {
    const timer = new AbortController();
    const off = source.ring.onPush(wake);
    if (options.until === "idle") source.pause(timer.signal).then(wake, wake);
    options.signal?.addEventListener("abort", wake, { once: true });
    closed.addEventListener("abort", wake, { once: true });
    function wake(): void {
      off();
      timer.abort("woken");
      options.signal?.removeEventListener("abort", wake);
      closed.removeEventListener("abort", wake);
      resolve();
    }
  });
  return !isStopped(watcher);
}

function cursorOf({ last, source }: Watcher): string {
  return writeCursor(last, source.tag);
}
