/**
 * Which messages of a thread a run read and which it made (C-025 to C-037, B-102 to B-109), by one rule for every
 * run (D-12). The input is what was recorded, or the messages at the start; it is never guessed from the end of
 * the thread (D-13). A producer stamp is given once and kept (D-14).
 */
import type { MessageId, RunId, ThreadId } from "../ids.ts";
import { type Message, type Producer, stampProducer } from "../message.ts";
import { hull, type MessageRange, messageRange } from "./message-range.ts";

export interface MessageInput {
  readonly thread: ThreadId;
  readonly range?: MessageRange;
  readonly triggerIds: readonly MessageId[];
  readonly selectedIds: readonly MessageId[];
}

export interface MessageOutput {
  readonly thread: ThreadId;
  readonly range?: MessageRange;
  readonly ids: readonly MessageId[];
}

export interface MessageLog {
  readonly run: RunId;
  readonly thread: ThreadId;
  /** The whole thread, from position 1. */
  readonly messages: readonly Message[];
  /** Messages in the thread when the run began. */
  readonly initialCount: number;
  readonly stepsEnded: number;
  readonly earlier?: { readonly input?: MessageInput; readonly output?: MessageOutput };
}

export interface ReadLog {
  readonly messages: readonly Message[];
  readonly input?: MessageInput;
  readonly output?: MessageOutput;
}

export function readMessageLog(log: MessageLog): ReadLog {
  const input = inputOf(log);
  const first = firstOutputPosition(log);
  const producer = producerOf(log);
  const messages = log.messages.map((message, index) =>
    isNewOutput(message, index + 1 >= first) ? stampProducer(message, producer) : message,
  );
  const output = outputOf(log);
  return { messages, ...(input ? { input } : {}), ...(output ? { output } : {}) };
}

/** What was recorded, else every message at the start; a run that began with none has no input. */
export function inputOf(log: MessageLog): MessageInput | undefined {
  return log.earlier?.input ?? initialInput(log.thread, log.initialCount);
}

function initialInput(thread: ThreadId, count: number): MessageInput | undefined {
  const range = messageRange(1, count);
  return range && { thread, range, triggerIds: [], selectedIds: [] };
}

/** After the input; without a recorded range, where this run's first message is; else after what was there. */
export function firstOutputPosition(log: MessageLog): number {
  const range = inputOf(log)?.range;
  if (range) return range.to + 1;
  const produced = log.messages.findIndex((message) => message.producer?.run === log.run);
  return produced >= 0 ? produced + 1 : log.initialCount + 1;
}

/** Zero-based; a message made before any step has ended bears no step. */
export function producerOf({ run, stepsEnded }: Pick<MessageLog, "run" | "stepsEnded">): Producer {
  return stepsEnded > 0 ? { run, step: stepsEnded - 1 } : { run };
}

/** Only ever extended: earlier ids and the earlier range stay, over every resume. */
export function outputOf(log: MessageLog): MessageOutput | undefined {
  const earlier = log.earlier?.output;
  const first = firstOutputPosition(log);
  const ids = new Set(earlier?.ids);
  let range = earlier?.range;
  let isNew = false;
  for (const [index, message] of log.messages.entries()) {
    const fresh = isNewOutput(message, index + 1 >= first);
    if (!fresh && message.producer?.run !== log.run) continue;
    isNew ||= fresh;
    range = hull(range, index + 1);
    if (message.id.trim() !== "") ids.add(message.id);
  }
  if (!range || (!isNew && ids.size === 0)) return earlier;
  return { thread: log.thread, range, ids: [...ids] };
}

function isNewOutput(message: Message, afterInput: boolean): boolean {
  return afterInput && (message.role === "assistant" || message.role === "tool");
}
