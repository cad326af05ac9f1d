/** What comes in as input or history, checked and made storable. */
import { HoldfastError } from "../domain/errors.ts";
import { type MessageId, parseId } from "../domain/ids.ts";
import { toJson } from "../domain/json.ts";
import type { Message, Part } from "../domain/message.ts";
import type { Desk } from "./desk.ts";
import type { StartInput } from "./runtime.ts";

const roles = ["system", "user", "assistant", "tool"];

export function readInput(input: StartInput, desk: Desk): readonly Message[] {
  if (typeof input === "string") return [userMessage([{ type: "text", text: input }], desk)].map(storable);
  if (!Array.isArray(input) || input.length === 0) {
    throw new HoldfastError("invalid-input", "A run starts with a string, a list of parts or a list of messages");
  }
  const items = input as readonly (Part | Message)[];
  if (items.every((item) => isPart(item))) return [userMessage(items as readonly Part[], desk)].map(storable);
  return readMessages(items);
}

export function readMessages(items: readonly unknown[]): readonly Message[] {
  if (!Array.isArray(items)) throw new HoldfastError("invalid-input", "Messages are a list");
  return items.map((item, index) => storable(checkMessage(item, index)));
}

function userMessage(parts: readonly Part[], desk: Desk): Message {
  return { id: desk.ids.next() as MessageId, role: "user", parts, visibility: "all" };
}

function isPart(item: unknown): item is Part {
  return typeof item === "object" && item !== null && "type" in item && !("role" in item);
}

function checkMessage(item: unknown, index: number): Message {
  const message = (item ?? {}) as Partial<Message>;
  const problems: string[] = [];
  if (!roles.includes(message.role as string)) problems.push(`role must be one of ${roles.join(", ")}`);
  if (!Array.isArray(message.parts)) problems.push("parts must be a list");
  if (problems.length > 0) throw new HoldfastError("invalid-input", `Message ${index} does not fit`, { problems });
  const { role, parts, visibility = "all" } = message as Message;
  return { id: parseId<MessageId>(`id of message ${index}`, message.id), role, parts, visibility };
}

function storable(message: Message): Message {
  const json = toJson(message);
  if (json.ok) return json.value as unknown as Message;
  throw new HoldfastError("invalid-input", `The input cannot be stored: ${json.problem} at ${json.path}`);
}
