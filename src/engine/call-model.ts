/** One model call: build the request, read the stream, assemble one reply. Failures become values. */
import type { FinishReason } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { callId, replyId } from "../domain/ids.ts";
import { messageOf, shortened, toJson } from "../domain/json.ts";
import type { CallInput, Part } from "../domain/message.ts";
import { outputHint } from "../domain/output.ts";
import type { PieceView } from "../domain/plugin.ts";
import { isOffered } from "../domain/plugin-state.ts";
import type { RunState } from "../domain/run-state.ts";
import type { ModelPart, ModelRequest } from "../ports/provider.ts";
import { observe } from "./ask.ts";
import { transformed, withContextMessages, withSystem } from "./context.ts";
import type { LiveMessage, LivePlace, Piece } from "./live.ts";
import { classifyModelError } from "./retry.ts";
import { settleWithin } from "./settle-within.ts";
import type { Stage } from "./stage.ts";
import type { ModelOrder, ModelOutcome } from "./work.ts";

export interface ModelCall {
  readonly order: ModelOrder;
  readonly state: RunState;
  readonly controller: AbortController;
  readonly stage: Stage;
}

/** One reply with more calls would hold the process longer than a lease. */
const maxCalls = 256;

type Reply = Omit<Extract<ModelOutcome, { kind: "reply" }>, "kind">;

export async function callModel(call: ModelCall): Promise<ModelOutcome> {
  const { order, stage } = call;
  if (stage.clock.monotonic() >= order.beginBy) return { kind: "not-made" };
  const request = requestFor(call);
  if (request instanceof HoldfastError) return modelFailure(request);
  show(call, { type: "message-begun", text: "" });
  const outcome = await attempt(call, request);
  const failed = outcome.kind === "failed" ? { error: outcome.error } : {};
  if (outcome.kind !== "reply") show(call, { type: "message-retracted", text: "", ...failed });
  return outcome;
}

async function attempt(call: ModelCall, request: ModelRequest): Promise<ModelOutcome> {
  const { order, controller, stage } = call;
  const live = stage.live.begin({ ...placeOf(call), attempt: order.attempt }, replyId(placeOf(call).run, order.step));
  const within = await settleWithin(readReply(call, request, live), order.timeoutMs, stage);
  // What was stopped may be answered all the same; its message comes whole then, if it still counts.
  if (within.kind === "value" && !controller.signal.aborted) live.end();
  else live.retract();
  if (within.kind === "value") return { kind: "reply", ...within.value };
  if (within.kind === "timeout") controller.abort();
  else if (controller.signal.aborted) return { kind: "aborted" };
  if (within.kind === "threw") return modelFailure(within.cause);
  const { model } = stage.boundAgent.model.description;
  return modelFailure(new HoldfastError("model-timeout", `${model} did not answer in ${order.timeoutMs} ms`));
}

export function modelFailure(cause: unknown): ModelOutcome {
  const { code, message, retry, details } = classifyModelError(cause);
  const { retryAfterMs } = details;
  return {
    kind: "failed",
    error: { code, message: shortened(message) },
    retry,
    ...(Number.isFinite(retryAfterMs) ? { retryAfterMs: Number(retryAfterMs) } : {}),
  };
}

async function readReply(call: ModelCall, asked: ModelRequest, live: LiveMessage): Promise<Reply> {
  const { controller, stage } = call;
  const agent = stage.boundAgent;
  const request = await transformed(asked, stage.plugins);
  const place = placeOf(call);
  const parts: Part[] = [];
  let finish: Extract<ModelPart, { type: "finish" }> | undefined;
  let calls = 0;
  for await (const part of agent.model.call(request, controller.signal)) {
    const problem = finish ? "a part after its finish" : problemOf(part);
    if (problem) throw malformed(call, problem);
    if (part.type === "finish") finish = part;
    else {
      if (part.type === "tool-call") calls += 1;
      if (calls > maxCalls) throw malformed(call, `more than ${maxCalls} tool calls in one reply`);
      if (part.type !== "tool-call") tell(call, part, live);
      addPart(parts, part, place);
    }
  }
  if (!finish) throw malformed(call, "the stream ended without a finish");
  const { inputTokens, outputTokens } = finish.usage;
  return { parts: parts.map(wellFormed), finish: finish.reason, usage: { inputTokens, outputTokens } };
}

/** To watchers, and to plugins that only look. */
function tell(call: ModelCall, part: Piece, live: LiveMessage): void {
  live.write(part);
  const { type, text } = part;
  show(call, { type, text });
}

function show({ order, state, stage }: ModelCall, piece: Omit<PieceView, "attempt">): void {
  const delta = { ...piece, attempt: order.attempt };
  void observe({ phase: "model-delta", delta }, { state, entries: [] }, stage);
}

const finishReasons: readonly string[] = [
  "stop",
  "tool-calls",
  "length",
  "content-filter",
  "error",
  "other",
] satisfies readonly FinishReason[];

/** A provider is foreign code: what it yields is looked at before it is believed. */
function problemOf(part: ModelPart): string | undefined {
  switch (part?.type) {
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta":
      return typeof part.text === "string" ? undefined : `a ${part.type} without text`;
    case "tool-call": {
      const words = [part.tool, part.inputText, part.alias];
      return words.every((word) => typeof word === "string") ? undefined : "a tool-call that lacks text";
    }
    case "finish": {
      const counts = [part.usage?.inputTokens, part.usage?.outputTokens];
      if (!counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0)) return "a finish without usage";
      return finishReasons.includes(part.reason) ? undefined : `the finish reason ${messageOf(part.reason)}`;
    }
    default:
      return `a part of the unknown type ${messageOf((part as { type?: unknown } | null)?.type)}`;
  }
}

/** Only of the whole: a stream may cut a pair of surrogates in two. */
function wellFormed(part: Part): Part {
  if (part.type === "text" || part.type === "reasoning") return { ...part, text: part.text.toWellFormed() };
  if (part.type !== "tool-call") return part;
  return { ...part, tool: shortened(part.tool), ...(part.alias ? { alias: shortened(part.alias) } : {}) };
}

function placeOf({ state, order }: ModelCall): Pick<LivePlace, "scope" | "run" | "thread" | "step"> {
  const { scope, run, thread } = state.created.identity;
  return { scope, run, thread, step: order.step };
}

/** Instructions are the user's code: when they throw, no provider has failed and trying again helps nobody. */
function requestFor(call: ModelCall): ModelRequest | HoldfastError {
  try {
    return requestOf(call);
  } catch (cause) {
    const what = `The instructions of agent ${call.stage.boundAgent.name} threw: ${messageOf(cause)}`;
    return new HoldfastError("instructions-failed", what, { cause });
  }
}

function requestOf({ order, state, stage }: ModelCall): ModelRequest {
  const { boundAgent: agent, transcript } = stage;
  const { changes = {}, context = [] } = state.step ?? {};
  const { instructions = agent.instructions(state.created.context), settings } = changes;
  return {
    agent: agent.name,
    thread: state.created.identity.thread,
    step: order.step,
    attempt: order.attempt,
    instructions: withOutput(withSystem(instructions, context), agent),
    ...(agent.output ? { output: { schema: agent.output.spec.schema } } : {}),
    messages: withContextMessages(transcript.window(), context, state),
    tools: agent.shown.filter(({ name }) => isOffered(name, changes)),
    ...(settings === undefined ? {} : { settings }),
    ...(order.maxOutputTokens === undefined ? {} : { maxOutputTokens: order.maxOutputTokens }),
  };
}

/** Only words: what binds the answer is the check at the end. */
function withOutput(instructions: string, { output, model }: Stage["boundAgent"]): string {
  if (!output || model.description.structuredOutput) return instructions;
  return `${instructions}\n\n${outputHint(output.spec)}`;
}

function addPart(
  parts: Part[],
  part: Exclude<ModelPart, { type: "finish" }>,
  place: Pick<LivePlace, "run" | "step">,
): void {
  const last = parts.at(-1);
  switch (part.type) {
    case "text-delta":
      if (last?.type === "text") parts[parts.length - 1] = { type: "text", text: last.text + part.text };
      else parts.push({ type: "text", text: part.text });
      return;
    case "reasoning-delta": {
      const signature = part.signature === undefined ? {} : { signature: part.signature };
      if (last?.type === "reasoning") parts[parts.length - 1] = { ...last, text: last.text + part.text, ...signature };
      else parts.push({ type: "reasoning", text: part.text, ...signature });
      return;
    }
    case "tool-input-delta":
      return;
    case "tool-call": {
      const index = parts.filter((each) => each.type === "tool-call").length;
      const call = callId(place.run, place.step, index);
      parts.push({ type: "tool-call", call, tool: part.tool, input: readInput(part.inputText), alias: part.alias });
      return;
    }
    default:
      part satisfies never;
  }
}

/** Raw JSON as written. What is not JSON, or not storable, is kept as text with the reason: never repaired. */
export function readInput(text: string): CallInput {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    return { kind: "text", text: shortened(text), problem: messageOf(cause) };
  }
  const json = toJson(parsed);
  if (json.ok) return { kind: "json", value: json.value };
  return { kind: "text", text: "", problem: `${json.problem} at ${json.path}` };
}

function malformed(call: ModelCall, what: string): HoldfastError {
  const { provider, model } = call.stage.boundAgent.model.description;
  return new HoldfastError("model-malformed", `${provider}/${model} broke its protocol: ${what}`);
}
