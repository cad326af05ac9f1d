/** What comes in as input or history, checked and made storable. */
import { HoldfastError } from "../domain/errors.ts";
import { type MessageId, parseId } from "../domain/ids.ts";
import { toJson } from "../domain/json.ts";
import type { Message, Part } from "../domain/message.ts";
import type { Desk } from "./desk.ts";
import type { NewMessage } from "./new-message.ts";
import type { StartInput } from "./runtime.ts";

const roles = ["system", "user", "assistant", "tool"];
const visibilities = ["all", "internal"];
/** What a part of each type cannot do without. */
const words: Readonly<Record<Part["type"], readonly string[]>> = {
  text: ["text"],
  reasoning: ["text"],
  image: ["mediaType", "url"],
  file: ["mediaType", "url"],
  "tool-call": ["call", "tool"],
  "tool-result": ["call", "tool"],
  data: ["name"],
};
const records: Readonly<Partial<Record<Part["type"], string>>> = { "tool-call": "input", "tool-result": "result" };

export function readInput(input: StartInput, desk: Desk): readonly Message[] {
  if (typeof input === "string") return [userMessage([{ type: "text", text: input }], desk)].map(storable);
  if (!Array.isArray(input) || input.length === 0) {
    throw new HoldfastError("invalid-input", "A run starts with a string, a list of parts or a list of messages");
  }
  const items = input as readonly (Part | NewMessage)[];
  if (!items.every((item) => isPart(item))) return readMessages(items, desk);
  const problems = items.flatMap((item, index) => partProblems(item, `parts[${index}]`));
  if (problems.length > 0) throw new HoldfastError("invalid-input", "The input does not fit", { problems });
  return [userMessage(items as readonly Part[], desk)].map(storable);
}

/** A message without an id gets one. */
export function readMessages(items: readonly unknown[], desk: Desk): readonly Message[] {
  if (!Array.isArray(items)) throw new HoldfastError("invalid-input", "Messages are a list");
  return items.map((item, index) => {
    const { id, ...message } = checkMessage(item, index);
    return storable({ id: id ?? (desk.ids.next() as MessageId), ...message });
  });
}

function userMessage(parts: readonly Part[], desk: Desk): Message {
  return { id: desk.ids.next() as MessageId, role: "user", parts, visibility: "all" };
}

function isPart(item: unknown): item is Part {
  return typeof item === "object" && item !== null && "type" in item && !("role" in item);
}

function checkMessage(item: unknown, index: number): Omit<Message, "id"> & { readonly id?: MessageId } {
  const message = (item ?? {}) as Partial<Message>;
  const problems: string[] = [];
  if (!roles.includes(message.role as string)) problems.push(`role must be one of ${roles.join(", ")}`);
  if (!visibilities.includes(message.visibility ?? "all")) problems.push("visibility must be all or internal");
  if (!Array.isArray(message.parts)) problems.push("parts must be a list");
  else problems.push(...message.parts.flatMap((part, place) => partProblems(part, `parts[${place}]`)));
  if (problems.length > 0) throw new HoldfastError("invalid-input", `Message ${index} does not fit`, { problems });
  const { role, parts, visibility = "all" } = message as Message;
  const id = message.id === undefined ? {} : { id: parseId<MessageId>(`id of message ${index}`, message.id) };
  return { ...id, role, parts, visibility };
}

function partProblems(part: unknown, place: string): readonly string[] {
  const { type, ...rest } = Object(part) as Record<string, unknown>;
  if (!Object.hasOwn(words, type as string)) return [`${place}.type must be one of ${Object.keys(words).join(", ")}`];
  const missing = words[type as Part["type"]].filter((name) => typeof rest[name] !== "string");
  const record = records[type as Part["type"]];
  const problems = missing.map((name) => `${place}.${name} must be a string`);
  return record && Object(rest[record]) !== rest[record]
    ? [...problems, `${place}.${record} must be a record`]
    : problems;
}

function storable(message: Message): Message {
  const json = toJson(message);
  if (json.ok) return json.value as unknown as Message;
  throw new HoldfastError("invalid-input", `The input cannot be stored: ${json.problem} at ${json.path}`);
}
