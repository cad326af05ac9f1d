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
  const body = shortened.size === 0 ? messages : messages.map((each) => (shortened.has(each.id) ? short(each) : each));
  return [...before(mark), ...pinned, ...body];
}

/** What stands for what is not sent. */
function before({ from, before: count, summary }: HistoryMark): readonly Message[] {
  if (count === 0) return [];
  const text = summary
    ? `Summary of the conversation so far:\n<summary>\n${summary.text}\n</summary>`
    : `The conversation began earlier; ${count} messages before this are not shown.`;
  const id = summary?.id ?? (`${from}.before` as MessageId);
  return [{ id, role: "system", parts: [{ type: "text", text }], visibility: "internal" }];
}

const kept = { characters: 1_600, lines: 24 };
const shorts = new WeakMap<Message, Message>();

/** Its results cut to their beginning, with a pointer to the whole. The same object each time: it is measured once. */
export function short(message: Message): Message {
  const made = shorts.get(message);
  if (made) return made;
  const parts = message.parts.map((part) =>
    part.type === "tool-result" ? { ...part, result: shortResult(part.result, part.call) } : part,
  );
  const next: Message = { ...message, parts };
  shorts.set(message, next);
  return next;
}

function shortResult(result: CallResult, call: string): CallResult {
  if (result.kind !== "value") return result;
  const whole = result.say ?? (typeof result.value === "string" ? result.value : JSON.stringify(result.value));
  const head = beginning(whole);
  if (head.length === whole.length) return result;
  const place = result.content ? `content ${result.content.hash}` : `the result of call ${call}`;
  const say = `${head}\n[Shortened: ${whole.length - head.length} more characters; the whole is ${place}.]`;
  return { ...result, value: null, say };
}

function beginning(text: string): string {
  const head = text.slice(0, kept.characters).split("\n").slice(0, kept.lines).join("\n");
  return head.isWellFormed() ? head : head.slice(0, -1); // not in the middle of a character
}
