/**
 * What the provider's checks are written with. Whoever tests a provider plays answers in its own format: over a local
 * server, by a stub, or by a script. The answers here are in our words.
 */
import assert from "node:assert/strict";
import type { FinishReason } from "../../domain/entry.ts";
import { type ErrorCode, type HoldfastError, isHoldfastError } from "../../domain/errors.ts";
import type { CallId, MessageId, ThreadId } from "../../domain/ids.ts";
import type { Message, Part, Role } from "../../domain/message.ts";
import type { Usage } from "../../domain/run.ts";
import type { Model, ModelPart, ModelRequest } from "../../ports/provider.ts";

export interface PlayedReply {
  readonly reasoning?: string;
  readonly text?: string;
  /** After the text, each with its bytes in a `data:` address. */
  readonly files?: readonly { readonly mediaType: string; readonly url: string }[];
  readonly calls?: readonly { readonly tool: string; readonly inputText: string }[];
  /** By what the provider's own words mean; `stop`, or `tool-calls` with calls, unless said. */
  readonly finish?: FinishReason;
  /** null: it does not count. */
  readonly usage?: Usage | null;
  /** Text and input come in pieces of so many characters; 4 unless said. */
  readonly pieces?: number;
}

export type PlayedAnswer =
  | PlayedReply
  /** Fails before it begins, as the provider says that. */
  | { readonly fails: ErrorCode; readonly retryAfterMs?: number }
  /** Says this much and then the connection is gone. */
  | { readonly cutAfter: string }
  /** Says this much and nothing more, and stays open. */
  | { readonly silentAfter: string };

export interface PlayedModel extends AsyncDisposable {
  readonly model: Model;
  /** The key it is called with, which no message may show; undefined where there is none. */
  readonly key?: string;
  /** What went over the wire, as text, one for each call; undefined where there is no wire. */
  readonly sent?: readonly string[];
}

/** A model that gives these answers, one for each call, and the last one for every further call. */
export type PlayModel = (answers: readonly PlayedAnswer[]) => Promise<PlayedModel>;

export type ModelCheck = (play: PlayModel) => Promise<void>;

export function requestWith(more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    agent: "checked",
    thread: "thread" as ThreadId,
    step: 1,
    attempt: 1,
    instructions: "Be brief.",
    messages: [said("user", { type: "text", text: "Hello" })],
    tools: [],
    ...more,
  };
}

let messages = 0;

export function said(role: Role, ...parts: readonly Part[]): Message {
  messages += 1;
  return { id: `m${messages}` as MessageId, role, parts, visibility: "all" };
}

export const callOne = "run.1.0" as CallId;

export async function collect(model: Model, request = requestWith()): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.call(request, new AbortController().signal)) parts.push(part);
  return parts;
}

export interface Failed {
  readonly error: HoldfastError;
  readonly before: readonly ModelPart[];
}

/** What it yielded before it failed, and how. */
export async function failureOf(model: Model, request = requestWith()): Promise<Failed> {
  const before: ModelPart[] = [];
  try {
    for await (const part of model.call(request, new AbortController().signal)) before.push(part);
  } catch (error) {
    assert.ok(isHoldfastError(error), `threw ${String(error)}, which is no HoldfastError`);
    return { error, before };
  }
  return assert.fail(`did not fail; it gave ${JSON.stringify(before)}`);
}

export function textIn(parts: readonly ModelPart[], type: "text-delta" | "reasoning-delta" = "text-delta"): string {
  return parts.map((part) => (part.type === type ? part.text : "")).join("");
}

export function callsIn(parts: readonly ModelPart[]): readonly Extract<ModelPart, { type: "tool-call" }>[] {
  return parts.filter((part) => part.type === "tool-call");
}

export function finishIn(parts: readonly ModelPart[]): Extract<ModelPart, { type: "finish" }> {
  const last = parts.at(-1);
  assert.ok(last?.type === "finish", `the last part is ${last?.type}, not finish`);
  assert.equal(parts.filter(({ type }) => type === "finish").length, 1, "there is one finish");
  return last;
}
