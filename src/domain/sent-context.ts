/** The conversation as a call sends it: from the mark on, with what stands for the rest before it. Pure. */
import type { HistoryMark } from "./history.ts";
import type { MessageId } from "./ids.ts";
import type { CallResult, Message } from "./message.ts";

export interface Conversation {
  /** Absent as long as everything is sent. */
  readonly mark: HistoryMark | undefined;
  /** From the mark on, oldest first, results behind their calls. */
  readonly messages: readonly Message[];
  /** What the run was asked, where that lies before the mark: it stays in sight however long the run goes on. */
  readonly pinned: readonly Message[];
}

export function sentOf({ mark, messages, pinned }: Conversation): readonly Message[] {
  if (!mark) return messages;
  const shortened = new Set(mark.shortened);
  const cut = (each: Message): Message => (shortened.has(each.id) ? short(each, mark.head) : each);
  const body = shortened.size === 0 ? messages : messages.map(cut);
  return [...before(mark), ...pinned, ...body];
}

/** What stands for what is not sent. */
function before({ from, before: count, summary }: HistoryMark): readonly Message[] {
  if (count === 0) return [];
  const text = summary
    ? `Summary of the conversation so far, as it was told:\n<summary>\n${withinTags(summary.text)}\n</summary>`
    : `The conversation began earlier; ${count} messages before this are not shown.`;
  const id = summary?.id ?? (`${from}.before` as MessageId);
  // Never "system": what people and tools have said is no instruction, however it was put.
  return [{ id, role: "user", parts: [{ type: "text", text }], visibility: "internal" }];
}

function withinTags(text: string): string {
  return text.replaceAll("</summary", "<\\/summary");
}

const usualHead = 1_600;
const charactersPerLine = 66;
const shorts = new Map<number, WeakMap<Message, Message>>();

/** Its results cut to their beginning, with a pointer to the whole. The same object each time: it is measured once. */
export function short(message: Message, head = usualHead): Message {
  const made = shorts.get(head) ?? new WeakMap<Message, Message>();
  shorts.set(head, made);
  const known = made.get(message);
  if (known) return known;
  const parts = message.parts.map((part) =>
    part.type === "tool-result" ? { ...part, result: shortResult(part.result, { call: part.call, head }) } : part,
  );
  const next: Message = { ...message, parts };
  made.set(message, next);
  return next;
}

function shortResult(
  result: CallResult,
  { call, head: most }: { readonly call: string; readonly head: number },
): CallResult {
  if (result.kind !== "value") return result;
  const whole = result.say ?? (typeof result.value === "string" ? result.value : JSON.stringify(result.value));
  const head = beginning(whole, most);
  if (head.length === whole.length) return result;
  const place = result.content ? `content ${result.content.hash}` : `the result of call ${call}`;
  const say = `${head}\n[Shortened: ${whole.length - head.length} more characters; the whole is ${place}.]`;
  return { ...result, value: null, say };
}

function beginning(text: string, most: number): string {
  const lines = Math.ceil(most / charactersPerLine);
  const head = text.slice(0, most).split("\n").slice(0, lines).join("\n");
  return head.isWellFormed() ? head : head.slice(0, -1); // not in the middle of a character
}
