/**
 * Makes a conversation fit: which of its messages a call sends. Moved in blocks, so that the calls between two moves share
 * their beginning byte for byte.
 *
 * P1 What is sent fits: the model's window and the most messages are never exceeded; what cannot be made to fit is not sent.
 * P2 No result is parted from its call: what is sent begins at a border, never with a result.
 * P3 The run's input and the present step are always sent; the recent messages as far as there is room for them.
 * P4 Between two marks messages are only added at the end.
 * P5 Each message that was a candidate gets exactly one reason.
 */
import type { ContextDecision, ContextReason, HistoryMark, HistorySpec } from "./history.ts";
import type { MessageId, RunId } from "./ids.ts";
import { sumOf, tokensOf } from "./measure.ts";
import type { Message } from "./message.ts";
import { type Conversation, sentOf, short } from "./sent-context.ts";

export interface Candidates extends Conversation {
  /** Of all that is sent of it, as `sumOf(sentOf(…))` gives them: kept, so that a step costs what it adds. */
  readonly tokens: number;
  /** What the run was asked; pinned where it is no longer among the messages. */
  readonly input: readonly Message[];
  readonly run: RunId;
  /** Messages of the thread, those before the mark included. */
  readonly length: number;
  /** There are messages before the first that nobody has decided about. */
  readonly isCut: boolean;
}

export interface Room {
  /** For everything that is sent. */
  readonly tokens: number;
  readonly messages: number;
  /** Tokens that are sent whatever the conversation is: instructions, tools. */
  readonly fixed: number;
  readonly ratio: number;
  readonly history: HistorySpec;
}

export type Fit =
  | { readonly kind: "fits"; readonly tokens: number }
  | {
      readonly kind: "moved";
      readonly tokens: number;
      readonly mark: HistoryMark;
      readonly decisions: readonly ContextDecision[];
    }
  | { readonly kind: "too-large"; readonly tokens: number };

/** To what share of the room it is cut when something has to go: the next move is as far away as that. */
const lowWater = 0.5;
/** Where shortening alone frees this much, nothing is left out. */
const enoughWater = 0.75;

/** As estimated, by what providers have counted for the like. */
export function estimated(
  { tokens }: Pick<Candidates, "tokens">,
  { fixed, ratio }: Pick<Room, "fixed" | "ratio">,
): number {
  return Math.ceil((fixed + tokens) * ratio);
}

type Size = { readonly messages: { readonly length: number } } & Pick<Candidates, "tokens">;

export function isFull(size: Size, room: Room): boolean {
  return size.messages.length > room.messages || estimated(size, room) > room.tokens;
}

/** P1. */
export function fitContext(candidates: Candidates, room: Room): Fit {
  const { mark, run, isCut } = candidates;
  const isForeign = mark?.pinnedFor !== undefined && mark.pinnedFor !== run; // what it pinned is not sent any more
  if (!isCut && !isForeign && !isFull(candidates, room)) {
    return { kind: "fits", tokens: estimated(candidates, room) };
  }
  const moved = makeRoom(candidates, room);
  const tokens = estimated(moved, room);
  if (tokens > room.tokens || !moved.mark) return { kind: "too-large", tokens };
  return { kind: "moved", tokens, mark: moved.mark, decisions: decisionsOn(candidates, moved, room) };
}

function makeRoom(candidates: Candidates, room: Room): Candidates {
  const { history } = room;
  const low = part(room, lowWater);
  const recent = recentFrom(candidates.messages, history.recent);
  const isOver = isFull(candidates, room);
  let next = marked(candidates, { ratio: room.ratio });
  if (isOver && isFull(next, low)) next = shortened(next, recent, history.resultTokens);
  // A single result that would push out everything else gives way first, however recent it is.
  const whole = next.messages.length;
  if (isFull(next, room)) next = shortened(next, whole, (room.tokens * lion) / room.ratio);
  if (isOver && isFull(next, part(room, enoughWater))) next = leaveOut(next, recent, low);
  if (!isFull(next, room)) return next;
  // P3: now even what is recent gives way, and at last what is left of each result.
  next = shortened(next, next.messages.length, history.resultTokens);
  next = leaveOut(next, presentFrom(next.messages), room);
  for (const head of heads) {
    if (estimated(next, room) <= room.tokens) break;
    next = shortened(marked(next, { head }), next.messages.length, 0);
  }
  return next;
}

const lion = 0.25;
/** Characters of each result, when nothing else is left to give way. */
const heads = [1_600, 400, 100];

function part(room: Room, share: number): Room {
  return { ...room, tokens: room.tokens * share, messages: Math.floor(room.messages * share) };
}

/** P2: the nearest border at or before the place. */
function borderAt(messages: readonly Message[], place: number): number {
  let at = Math.max(0, place);
  while (at > 0 && messages[at]?.role === "tool") at -= 1;
  return at;
}

export function borderBefore(messages: readonly Message[], border: number): number {
  return borderAt(messages, border - 1);
}

export function recentFrom(messages: readonly Message[], recent: number): number {
  return borderAt(messages, messages.length - recent);
}

/** Where the present step begins: the newest message with what it answers, if that is a result. */
export function presentFrom(messages: readonly Message[]): number {
  return borderAt(messages, messages.length - 1);
}

/** What it takes to say that something was left out, and what that grows by when it is more. */
const noteTokens = 32;
const moreDigits = 2;

/** Moves the beginning forward to the first border from which there is room, or to where what must stay begins. */
function leaveOut(candidates: Candidates, until: number, room: Room): Candidates {
  if (!isFull(candidates, room)) return candidates;
  const { messages, mark, input } = candidates;
  const shorts = new Set(mark?.shortened);
  const asked = new Set(pinnable(input).map(({ id }) => id));
  let tokens = candidates.tokens + (mark && mark.before > 0 ? moreDigits : noteTokens);
  for (const [index, message] of messages.entries()) {
    const isBorder = message.role !== "tool";
    if (index >= until && isBorder) return beginAt(candidates, index);
    const rest = { messages: { length: messages.length - index }, tokens };
    if (index > 0 && isBorder && !isFull(rest, room)) return beginAt(candidates, index);
    if (!asked.has(message.id)) tokens -= tokensOf(shorts.has(message.id) ? short(message, mark?.head) : message);
  }
  return beginAt(candidates, until);
}

export function beginAt(candidates: Candidates, index: number): Candidates {
  const messages = candidates.messages.slice(index);
  const ids = new Set(messages.map(({ id }) => id));
  const shortened = candidates.mark?.shortened.filter((id) => ids.has(id)) ?? [];
  return marked({ ...candidates, messages }, { shortened });
}

function shortened(candidates: Candidates, until: number, resultTokens: number): Candidates {
  const { shortened: known = [], head } = candidates.mark ?? {};
  const more = candidates.messages
    .slice(0, until)
    .filter((message) => isLong(message, { resultTokens, head }) && !known.includes(message.id))
    .map(({ id }) => id);
  return more.length === 0 ? candidates : marked(candidates, { shortened: [...known, ...more] });
}

function isLong(message: Message, { resultTokens, head }: { resultTokens: number; head: number | undefined }): boolean {
  return (
    message.role === "tool" && tokensOf(message) > resultTokens && tokensOf(short(message, head)) < tokensOf(message)
  );
}

/** The same with another mark, which always says how things are. */
export function marked(candidates: Candidates, change: Partial<HistoryMark>): Candidates {
  const { messages, input, run, length, mark } = candidates;
  const [first] = messages;
  if (!first) return candidates;
  const { pinnedFor: _old, ...rest } = mark ?? { shortened: [], ratio: 1 };
  const pinned = missingOf(input, messages);
  const next: HistoryMark = {
    ...rest,
    ...change,
    from: first.id,
    before: length - messages.length,
    ...(pinned.length > 0 ? { pinnedFor: run } : {}),
  };
  return measured({ ...candidates, mark: next, pinned, isCut: false });
}

export function measured(candidates: Omit<Candidates, "tokens">): Candidates {
  return { ...candidates, tokens: sumOf(sentOf(candidates)) };
}

const mostPinned = 8;

/** P2: the input of a fork is a conversation, whose calls and results are not pinned one by one. */
function pinnable(input: readonly Message[]): readonly Message[] {
  return input.filter(({ role }) => role === "user" || role === "system").slice(-mostPinned);
}

/** The last of what the run was asked, where it is not among the messages. */
export function missingOf(input: readonly Message[], messages: readonly Message[]): readonly Message[] {
  return pinnable(input).filter(({ id }) => !messages.some((message) => message.id === id));
}

/** P5. */
export function decisionsOn(
  before: Candidates,
  after: Candidates,
  { history, gone = "left-out" }: Pick<Room, "history"> & { readonly gone?: ContextReason },
): readonly ContextDecision[] {
  const pinned = new Set(after.pinned.map(({ id }) => id));
  const shorts = new Set(after.mark?.shortened);
  const sent = new Set(after.messages.map(({ id }) => id));
  const recent = new Set(after.messages.slice(recentFrom(after.messages, history.recent)).map(({ id }) => id));
  const reasonOf = (id: MessageId): ContextReason => {
    if (pinned.has(id)) return "input";
    if (!sent.has(id)) return gone;
    if (shorts.has(id)) return "shortened";
    return recent.has(id) ? "recent" : "fits";
  };
  const all = [...after.pinned.filter(({ id }) => !before.messages.some((each) => each.id === id)), ...before.messages];
  return all.map(({ id: message }) => ({ message, reason: reasonOf(message) }));
}
