/** What comes in as input or history, checked and made storable. */
import { HoldfastError } from "../domain/errors.ts";
import { type MessageId, parseId } from "../domain/ids.ts";
import { toJson } from "../domain/json.ts";
import { isContentRef, type Message, type Part } from "../domain/message.ts";
import type { NewContent } from "../ports/content-store.ts";
import type { Desk } from "./desk.ts";
import { fileProblems, takeFiles } from "./given-files.ts";
import type { NewMessage, NewPart } from "./new-message.ts";
import type { StartInput } from "./runtime.ts";

const roles = ["system", "user", "assistant", "tool"];
const visibilities = ["all", "internal"];
/** What a part of each type cannot do without; images and files have rules of their own. */
const words: Readonly<Record<Part["type"], readonly string[]>> = {
  text: ["text"],
  reasoning: ["text"],
  image: [],
  file: [],
  "tool-call": ["call", "tool"],
  "tool-result": ["call", "tool"],
  data: ["name"],
};
const records: Readonly<Partial<Record<Part["type"], string>>> = { "tool-call": "input", "tool-result": "result" };

/** What came in, and the content that its messages refer to and that is not put yet. */
export interface Incoming {
  readonly messages: readonly Message[];
  readonly contents: readonly NewContent[];
}

export function readInput(input: StartInput, desk: Desk): Incoming {
  if (typeof input === "string") return storable([userMessage([{ type: "text", text: input }], desk)], desk);
  if (!Array.isArray(input) || input.length === 0) {
    throw new HoldfastError("invalid-input", "A run starts with a string, a list of parts or a list of messages");
  }
  const items = input as readonly (NewPart | NewMessage)[];
  if (!items.every((item) => isPart(item))) return readMessages(items, desk);
  const problems = items.flatMap((item, index) => partProblems(item, `parts[${index}]`, desk));
  if (problems.length > 0) throw new HoldfastError("invalid-input", "The input does not fit", { problems });
  return storable([userMessage(items as readonly NewPart[], desk)], desk);
}

/** A message without an id gets one. */
export function readMessages(items: readonly unknown[], desk: Desk): Incoming {
  if (!Array.isArray(items)) throw new HoldfastError("invalid-input", "Messages are a list");
  const messages = items.map((item, index) => {
    const { id, ...message } = checkMessage(item, index, desk);
    return { id: id ?? (desk.ids.next() as MessageId), ...message };
  });
  return storable(messages, desk);
}

/** Of a run that is forked: stored before, so by the rules of its own time. */
export function storedInput(messages: readonly Message[]): Incoming {
  return {
    messages: messages.map(({ id, role, parts, visibility }) => ({ id, role, parts, visibility })),
    contents: [],
  };
}

/** As it comes in: with bytes in its parts. */
type Unread = Omit<Message, "parts"> & { readonly parts: readonly NewPart[] };

function userMessage(parts: readonly NewPart[], desk: Desk): Unread {
  return { id: desk.ids.next() as MessageId, role: "user", parts, visibility: "all" };
}

function isPart(item: unknown): item is NewPart {
  return typeof item === "object" && item !== null && "type" in item && !("role" in item);
}

function checkMessage(item: unknown, index: number, desk: Desk): Omit<Unread, "id"> & { readonly id?: MessageId } {
  const message = (item ?? {}) as Partial<Unread>;
  const problems: string[] = [];
  if (!roles.includes(message.role as string)) problems.push(`role must be one of ${roles.join(", ")}`);
  if (!visibilities.includes(message.visibility ?? "all")) problems.push("visibility must be all or internal");
  if (!Array.isArray(message.parts)) problems.push("parts must be a list");
  else problems.push(...message.parts.flatMap((part, place) => partProblems(part, `parts[${place}]`, desk)));
  if (problems.length > 0) throw new HoldfastError("invalid-input", `Message ${index} does not fit`, { problems });
  const { role, parts, visibility = "all" } = message as Unread;
  const id = message.id === undefined ? {} : { id: parseId<MessageId>(`id of message ${index}`, message.id) };
  return { ...id, role, parts, visibility };
}

function partProblems(part: unknown, place: string, desk: Desk): readonly string[] {
  const { type, ...rest } = Object(part) as Record<string, unknown>;
  if (!Object.hasOwn(words, type as string)) return [`${place}.type must be one of ${Object.keys(words).join(", ")}`];
  if (type === "image" || type === "file")
    return fileProblems({ type, ...rest }, desk).map((problem) => `${place}.${problem}`);
  const missing = words[type as Part["type"]].filter((name) => typeof rest[name] !== "string");
  const record = records[type as Part["type"]];
  const problems = missing.map((name) => `${place}.${name} must be a string`);
  if (record && Object(rest[record]) !== rest[record]) return [...problems, `${place}.${record} must be a record`];
  return type === "tool-result" ? [...problems, ...resultProblems(rest.result, `${place}.result`, desk)] : problems;
}

/** What the result of a call refers to; the rest of it is its author's. */
function resultProblems(result: unknown, place: string, desk: Desk): readonly string[] {
  const { content, shown = [] } = Object(result) as { readonly content?: unknown; readonly shown?: unknown };
  const problems = content === undefined || isContentRef(content) ? [] : [`${place}.content must be content`];
  if (!Array.isArray(shown)) return [...problems, `${place}.shown must be a list`];
  const isShown = (part: unknown): boolean => ["text", "image", "file"].includes(String(Object(part).type));
  const parts = shown.flatMap((part, index) => {
    const at = `${place}.shown[${index}]`;
    if (!isShown(part) || Object(part).body !== undefined)
      return [`${at} must be text, or an image or a file without body`];
    return partProblems(part, at, desk);
  });
  return [...problems, ...parts];
}

function storable(unread: readonly Unread[], desk: Desk): Incoming {
  const contents: NewContent[] = [];
  const messages = unread.map((message) => {
    const taken = takeFiles(message.parts, desk);
    contents.push(...taken.contents);
    const json = toJson({ ...message, parts: taken.parts });
    if (json.ok) return json.value as unknown as Message;
    throw new HoldfastError("invalid-input", `The input cannot be stored: ${json.problem} at ${json.path}`);
  });
  return { messages, contents };
}
