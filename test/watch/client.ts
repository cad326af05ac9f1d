/** A client of a watch as a user interface would write one: it keeps its screen over reconnects. */
import type { RunEvent } from "../../src/domain/event.ts";
import type { Message } from "../../src/domain/message.ts";
import type { WatchEvent } from "../../src/runtime/runtime.ts";

export type DurableEvent = Extract<WatchEvent, { readonly seq: number }>;

export interface Client {
  readonly frames: WatchEvent[];
  /** By message: what is shown of the attempt that is being written. */
  readonly screen: Map<string, { readonly attempt: number; readonly text: string }>;
  cursor: string | undefined;
}

export function newClient(): Client {
  return { frames: [], screen: new Map(), cursor: undefined };
}

export function take(client: Client, frame: WatchEvent): void {
  client.frames.push(frame);
  if ("cursor" in frame) client.cursor = frame.cursor;
  const { screen } = client;
  switch (frame.type) {
    case "message-partial":
      screen.set(frame.message, { attempt: frame.attempt, text: frame.text });
      return;
    case "text-delta": {
      const before = screen.get(frame.message);
      const text = before?.attempt === frame.attempt ? before.text : "";
      screen.set(frame.message, { attempt: frame.attempt, text: text + frame.text });
      return;
    }
    case "message-retracted":
      if (screen.get(frame.message)?.attempt === frame.attempt) screen.delete(frame.message);
      return;
    case "message-appended":
      if (frame.message) screen.delete(frame.message.id);
      return;
    default:
  }
}

/** Reads until the watch is over or the process that serves it is gone. */
export async function follow(
  client: Client,
  events: AsyncIterable<WatchEvent>,
  gone: Promise<void> = new Promise(() => undefined),
): Promise<"over" | "gone"> {
  const frames = events[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([frames.next(), gone]);
    if (!next) return "gone";
    if (next.done) return "over";
    take(client, next.value);
  }
}

export function durable(frames: readonly WatchEvent[]): readonly DurableEvent[] {
  return frames.filter((frame): frame is DurableEvent => "seq" in frame);
}

/** The transcript of one run, from nothing but what was shown. */
export function transcript(frames: readonly WatchEvent[]): readonly Message[] {
  const events = durable(frames);
  const at = (seq: number): RunEvent | undefined => events.find((event) => event.seq === seq);
  return events.flatMap((event) => {
    if (event.type !== "message-appended") return [];
    const source = event.message ? undefined : at(event.from ?? 0);
    if (source?.type === "run-created") return source.input[event.index ?? 0] ?? [];
    return event.message ?? (source?.type === "input-received" ? source.message : []);
  });
}
