/** What plugins add to a model call: words around the conversation, and the last say on what is sent. */
import { HoldfastError } from "../domain/errors.ts";
import { frozen } from "../domain/frozen.ts";
import type { MessageId } from "../domain/ids.ts";
import { messageOf } from "../domain/json.ts";
import type { Message } from "../domain/message.ts";
import type { OutgoingRequest } from "../domain/plugin.ts";
import type { ContextSlot } from "../domain/plugin-state.ts";
import type { RunState } from "../domain/run-state.ts";
import type { OpenPlugin } from "../ports/plugin-runner.ts";
import type { ModelRequest } from "../ports/provider.ts";

export function withSystem(instructions: string, context: readonly ContextSlot[]): string {
  const said = context.filter(({ target }) => target === "system").map(({ text }) => text);
  return said.length === 0 ? instructions : [instructions, ...said].join("\n\n");
}

export function withContextMessages(
  messages: readonly Message[],
  context: readonly ContextSlot[],
  state: RunState,
): readonly Message[] {
  if (context.every(({ target }) => target === "system")) return messages;
  const made = (...targets: readonly ContextSlot["target"][]): readonly Message[] =>
    context.filter(({ target }) => targets.includes(target)).map((slot) => messageOfSlot(slot, state));
  return [...made("session", "conversation"), ...messages, ...made("suffix")];
}

/** How many messages at the end of a request are said for this step only. */
export function suffixCount(context: readonly ContextSlot[]): number {
  return context.filter(({ target }) => target === "suffix").length;
}

function messageOfSlot({ plugin, key, text, target }: ContextSlot, state: RunState): Message {
  const { run } = state.created.identity;
  const step = state.step?.step ?? 0;
  const isSaidByUser = target === "conversation";
  return {
    id: `${run}.${step}.context.${plugin}.${key}` as MessageId,
    role: isSaidByUser ? "user" : "system",
    parts: [{ type: "text", text }],
    visibility: isSaidByUser ? "all" : "internal",
  };
}

/** Every transform in its turn. One that throws, or answers no request, fails the call: nothing is sent unchanged. */
export async function transformed(request: ModelRequest, plugins: readonly OpenPlugin[]): Promise<ModelRequest> {
  let next = request;
  for (const { name, transform } of plugins) {
    if (!transform) continue;
    const { instructions, messages, settings = {} } = next;
    try {
      next = followed(next, checked(await transform(frozen({ instructions, messages, settings }))));
    } catch (cause) {
      throw new HoldfastError("plugin-failed", `Plugin ${name} failed in its transform: ${messageOf(cause)}`, {
        cause,
      });
    }
  }
  return next;
}

/** What comes again is told by its last message, wherever a transform has moved it; nothing does if that is gone. */
function followed(request: ModelRequest, changed: OutgoingRequest): ModelRequest {
  const { cache, messages } = request;
  if (!cache || cache.stable === 0) return { ...request, ...changed };
  const { id } = messages[cache.stable - 1] as Message;
  const stable = changed.messages.findLastIndex((message) => message.id === id) + 1;
  return { ...request, ...changed, cache: { ...cache, stable } };
}

function checked(request: OutgoingRequest): OutgoingRequest {
  const { instructions, messages, settings } = request ?? {};
  const isRequest = typeof instructions === "string" && Array.isArray(messages) && isRecord(settings);
  if (!isRequest) throw new TypeError("it must answer { instructions, messages, settings }");
  return { instructions, messages, settings };
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
