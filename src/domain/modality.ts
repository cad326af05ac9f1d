/** What of a conversation a model cannot read, and what it is told of that instead. */
import { describeFile, isFile, modalityOf, named } from "./file-part.ts";
import type { MessageId } from "./ids.ts";
import type { CallResult, FilePart, Message, Part, ShownPart } from "./message.ts";
import type { ModelDescription } from "./model.ts";

/**
 * Of what people have given, in words; undefined when it reads everything, or nobody has said what it reads. What tools and
 * models have made is not refused, nor what a run has found: nobody who could choose another model would be asked.
 */
export function unreadable(
  messages: readonly Message[],
  { accepts }: ModelDescription,
  older: ReadonlySet<MessageId>,
): string | undefined {
  if (!accepts) return undefined;
  for (const { id, role, parts } of messages) {
    const isPast = role === "assistant" || older.has(id);
    const at = parts.findIndex((part) => !accepts.includes(modalityOf(part)) && !(isPast && isFile(part)));
    const part = parts[at];
    if (!part) continue;
    const what = isFile(part) ? describeFile(part) : modalityOf(part);
    const next = `leave it out, or give the agent a model that accepts ${modalityOf(part)}`;
    return `message ${id} has ${what} as its part ${at + 1}, and it reads ${accepts.join(", ")}; ${next}`;
  }
  return undefined;
}

/** The conversation as this model reads it: what tools show follows their results, and what it does not read is named. */
export function readable(
  given: readonly Message[],
  model: ModelDescription,
  older: ReadonlySet<MessageId>,
): readonly Message[] {
  const messages = given.map((message) => (older.has(message.id) ? withoutUnread(message, model) : message));
  if (!messages.some(hasMade)) return messages.every((each, at) => each === given[at]) ? given : messages;
  const read: Message[] = [];
  let shown: Part[] = [];
  for (const [index, message] of messages.entries()) {
    const results = message.parts.flatMap((part) => (part.type === "tool-result" ? [part] : []));
    read.push({ ...message, parts: message.parts.map((part) => asRead(part, message, model)) });
    for (const { tool, result } of results)
      shown.push(
        ...shownBy(
          tool,
          filesOf(result).filter((part) => isSeen(part, model)),
        ),
      );
    if (shown.length === 0 || messages[index + 1]?.role === "tool") continue; // results of one step stay together
    read.push({
      ...message,
      id: shownAfter(message.id),
      role: "user",
      parts: shown,
      visibility: "internal",
    });
    shown = [];
  }
  return read;
}

/** What people have given to a run before this one. */
function withoutUnread(message: Message, { accepts }: ModelDescription): Message {
  const isUnread = (part: Part): part is ShownPart => isFile(part) && !accepts?.includes(modalityOf(part));
  if (!accepts || message.role === "assistant" || !message.parts.some(isUnread)) return message;
  const parts = message.parts.map((part) => (isUnread(part) ? named(part, "this model does not read it") : part));
  return { ...message, parts };
}

/** The message that holds what a result shows. */
export function shownAfter(id: MessageId): MessageId {
  return `${id}.shown` as MessageId;
}

function hasMade({ role, parts }: Message): boolean {
  if (role === "assistant") return parts.some(isFile);
  return parts.some((part) => part.type === "tool-result" && filesOf(part.result).length > 0);
}

function filesOf(result: CallResult): readonly ShownPart[] {
  return result.kind === "value" ? (result.shown ?? []) : [];
}

function shownBy(tool: string, files: readonly ShownPart[]): readonly Part[] {
  return files.length === 0 ? [] : [{ type: "text", text: `[Shown by the tool ${tool}]` }, ...files];
}

/** Only where somebody has said so: a model that refuses the call for it would end the run. */
function isSeen(part: ShownPart, { accepts }: ModelDescription): boolean {
  return accepts?.includes(modalityOf(part)) ?? false;
}

function asRead(part: Part, { role }: Message, model: ModelDescription): Part {
  if (part.type === "tool-result") return { ...part, result: withoutShown(part.result, model) };
  if (role !== "assistant" || !isFile(part) || isSeen(part, model) || isOwn(part, model)) return part;
  return { type: "text", text: `[Not shown: ${describeFile(part)}, which was part of this reply]` };
}

/** What it has made itself, as far as it is known what it reads. */
function isOwn(part: ShownPart, { accepts, provider }: ModelDescription): boolean {
  return accepts === undefined && (part as FilePart).metadata?.[provider] !== undefined;
}

function withoutShown(result: CallResult, model: ModelDescription): CallResult {
  const files = filesOf(result);
  if (result.kind !== "value" || files.length === 0) return result;
  const { shown: _, ...rest } = result;
  const left = files.filter((part) => !isSeen(part, model)).map(describeFile);
  const notes = [
    ...(left.length < files.length ? ["[What it shows is in the next message]"] : []),
    ...(left.length > 0 ? [`[Not shown, for this model is not said to read it: ${left.join(", ")}]`] : []),
  ];
  return { ...rest, say: [wordsOf(rest), ...notes].join("\n") };
}

function wordsOf({ say, value }: Extract<CallResult, { kind: "value" }>): string {
  return say ?? (typeof value === "string" ? value : JSON.stringify(value));
}
