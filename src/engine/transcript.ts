/** The conversation that a model call sees: the thread from its mark on, and this run's own input. A bounded cache. */
import type { Entry, EntryBody, MessageAppended } from "../domain/entry.ts";
import { type Candidates, measured, missingOf } from "../domain/fit-context.ts";
import type { HistoryMark } from "../domain/history.ts";
import type { RunId } from "../domain/ids.ts";
import { tokensOf } from "../domain/measure.ts";
import type { Message } from "../domain/message.ts";
import { sentOf } from "../domain/sent-context.ts";

export interface Transcript {
  /** Takes what an entry adds, in journal order. */
  take(entry: Entry): void;
  /** As a call sends it. */
  window(): readonly Message[];
  /** The window as it is now, built when it is first looked at, with what these entries will add once they are committed. */
  fixed(pending: readonly EntryBody[]): () => readonly Message[];
  /** What may be sent, with what these entries will add. */
  candidates(pending: readonly EntryBody[]): Candidates;
  /** An input that was received at this seq and not appended yet. */
  received(seq: number): Message | undefined;
}

export interface TranscriptSeed {
  readonly run: RunId;
  /** The thread's newest messages, oldest first. */
  readonly messages: readonly Message[];
  /** How many messages the thread has. */
  readonly length: number;
  /** Where the thread's calls begin, if that was ever written. */
  readonly mark: HistoryMark | undefined;
  /** This run's input as run-created brought it. */
  readonly input: readonly Message[];
  /** The input was appended already. */
  readonly isBegun: boolean;
  /** There may be more of the thread than was loaded. */
  readonly mayHaveMore: boolean;
}

export function openTranscript(seed: TranscriptSeed): Transcript {
  // Replaced as a whole, never changed: whoever has looked at it keeps what there was then.
  let held = opened(seed);
  let window: readonly Message[] | undefined;
  const received = new Map<number, Message>();
  const bodyOf = ({ body }: MessageAppended): readonly Message[] => {
    if (body.kind === "here") return [body.message];
    const message = body.kind === "created" ? seed.input[body.index] : received.get(body.from);
    return message ? [message] : [];
  };
  const after = (candidates: Candidates, entry: EntryBody): Candidates => {
    if (entry.type === "context-projected") return atMark(candidates, entry.mark);
    return entry.type === "message-appended" ? bodyOf(entry).reduce(withMessage, candidates) : candidates;
  };
  const candidates = (pending: readonly EntryBody[]): Candidates => pending.reduce(after, held);
  return {
    take(entry) {
      if (entry.type === "input-received") received.set(entry.seq, entry.message);
      const next = after(held, entry);
      if (next === held) return;
      held = next;
      window = undefined;
      if (entry.type === "message-appended" && entry.body.kind === "input") received.delete(entry.body.from);
    },
    window() {
      window ??= sentOf(held);
      return window;
    },
    fixed(pending) {
      const before = held;
      let sent: readonly Message[] | undefined;
      return () => {
        sent ??= sentOf(pending.reduce(after, before));
        return sent;
      };
    },
    candidates,
    received: (seq) => received.get(seq),
  };
}

/** A mark whose message is not there, because it was erased or more has come since, keeps its summary and begins anew. */
function opened({ run, messages: loaded, length, mark, input, isBegun, mayHaveMore }: TranscriptSeed): Candidates {
  const messages = inOrder(loaded);
  const from = mark ? messages.findIndex(({ id }) => id === mark.from) : -1;
  // Results whose calls were not even loaded are left out.
  const first =
    from >= 0
      ? from
      : Math.max(
          0,
          messages.findIndex(({ role }) => role !== "tool"),
        );
  const kept = messages.slice(first);
  return measured({
    run,
    input,
    messages: kept,
    mark: mark && kept[0] ? { ...mark, from: kept[0].id } : undefined,
    pinned: isBegun ? missingOf(input, kept) : [],
    length,
    isCut: from < 0 && (mark !== undefined || (mayHaveMore && length > kept.length)),
  });
}

function withMessage(candidates: Candidates, message: Message): Candidates {
  return {
    ...candidates,
    messages: inserted(candidates.messages, message),
    length: candidates.length + 1,
    tokens: candidates.tokens + tokensOf(message),
  };
}

/** What lies before it is not needed any more: memory stays flat however long the run goes on. */
function atMark(candidates: Candidates, mark: HistoryMark): Candidates {
  const first = candidates.messages.findIndex(({ id }) => id === mark.from);
  const messages = candidates.messages.slice(Math.max(0, first));
  return measured({ ...candidates, messages, mark, pinned: missingOf(candidates.input, messages), isCut: false });
}

/** Results are appended as they settle and read in the order of their calls. */
export function inOrder(messages: readonly Message[]): readonly Message[] {
  return messages.reduce<readonly Message[]>(inserted, []);
}

function inserted(messages: readonly Message[], message: Message): readonly Message[] {
  let at = messages.length;
  if (message.role === "tool") {
    const index = callIndex(message);
    while (at > 0 && messages[at - 1]?.role === "tool" && callIndex(messages[at - 1] as Message) > index) at -= 1;
  }
  return at === messages.length ? [...messages, message] : messages.toSpliced(at, 0, message);
}

function callIndex(message: Message): number {
  const [part] = message.parts;
  return part?.type === "tool-result" ? Number(part.call.slice(part.call.lastIndexOf(".") + 1)) : 0;
}
