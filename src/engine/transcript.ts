/** The messages a model call sees: the newest of the thread, and this run's own input. A bounded cache. */
import type { Entry, EntryBody, MessageAppended } from "../domain/entry.ts";
import type { Message } from "../domain/message.ts";

export interface Transcript {
  /** Takes what an entry adds, in journal order. */
  take(entry: Entry): void;
  window(): readonly Message[];
  /** The window as it is now, built when it is first looked at, with what these entries will add once they are committed. */
  fixed(pending: readonly EntryBody[]): () => readonly Message[];
  /** An input that was received at this seq and not appended yet. */
  received(seq: number): Message | undefined;
}

export interface TranscriptSeed {
  /** The thread's newest messages, oldest first. */
  readonly messages: readonly Message[];
  /** This run's input as run-created brought it. */
  readonly input: readonly Message[];
  readonly limit: number;
}

export function openTranscript(seed: TranscriptSeed): Transcript {
  // Replaced as a whole, never changed: whoever has looked at it keeps what there was then.
  let messages: readonly Message[] = [];
  const received = new Map<number, Message>();
  let trimmed = false;
  const append = (message: Message): void => {
    const more = inserted(messages, message);
    // Trimmed in blocks, so that a long run pays for it once in a while and memory stays flat.
    const isLong = more.length > seed.limit * 2;
    messages = isLong ? more.slice(border(more, seed.limit)) : more;
    trimmed ||= isLong;
  };
  const bodyOf = ({ body }: MessageAppended): readonly Message[] => {
    if (body.kind === "here") return [body.message];
    const message = body.kind === "created" ? seed.input[body.index] : received.get(body.from);
    return message ? [message] : [];
  };
  for (const message of seed.messages) append(message);
  const knowsInput = messages.some((message) => message.id === seed.input[0]?.id);
  const windowOf = (all: readonly Message[], isTrimmed: boolean): readonly Message[] => {
    const newest = cut(all, seed.limit);
    const lost = isTrimmed || newest.length < all.length || !knowsInput;
    return lost ? withInput(newest, seed.input) : newest;
  };
  return {
    take(entry) {
      if (entry.type === "input-received") received.set(entry.seq, entry.message);
      if (entry.type !== "message-appended") return;
      for (const message of bodyOf(entry)) append(message);
      if (entry.body.kind === "input") received.delete(entry.body.from);
    },
    window: () => windowOf(messages, trimmed),
    fixed(pending) {
      const [all, isTrimmed] = [messages, trimmed];
      const more = pending.flatMap((entry) => (entry.type === "message-appended" ? bodyOf(entry) : []));
      let window: readonly Message[] | undefined;
      return () => {
        window ??= windowOf(more.reduce<readonly Message[]>(inserted, all), isTrimmed);
        return window;
      };
    },
    received: (seq) => received.get(seq),
  };
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

/** Where the newest begin: at most a step earlier than the limit says, so that no result is parted from its call. */
function border(messages: readonly Message[], limit: number): number {
  let from = Math.max(0, messages.length - limit);
  while (from > 0 && messages[from]?.role === "tool") from -= 1;
  return from;
}

/** Results whose calls were not even loaded are left out. */
function cut(messages: readonly Message[], limit: number): readonly Message[] {
  const newest = messages.slice(border(messages, limit));
  const first = newest.findIndex((message) => message.role !== "tool");
  return first <= 0 ? newest : newest.slice(first);
}

/** What the run was asked stays in sight however long it goes on. */
function withInput(messages: readonly Message[], input: readonly Message[]): readonly Message[] {
  if (messages.length === 0 || messages.some((message) => message.id === input[0]?.id)) return messages;
  return [...input, ...messages];
}

function callIndex(message: Message): number {
  const [part] = message.parts;
  return part?.type === "tool-result" ? Number(part.call.slice(part.call.lastIndexOf(".") + 1)) : 0;
}
