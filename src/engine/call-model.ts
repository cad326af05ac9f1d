/** One model call: build the request, read the stream, assemble one reply. Failures become values. */
import { HoldfastError } from "../domain/errors.ts";
import { callId, replyId } from "../domain/ids.ts";
import { toJson } from "../domain/json.ts";
import type { CallInput, Part } from "../domain/message.ts";
import type { RunState } from "../domain/run-state.ts";
import type { ModelPart, ModelRequest } from "../ports/provider.ts";
import type { BoundAgent, EngineDeps } from "./deps.ts";
import type { LiveMessage, LivePlace } from "./live.ts";
import { classifyModelError } from "./retry.ts";
import { settleWithin } from "./settle-within.ts";
import type { Transcript } from "./transcript.ts";
import type { ModelOrder, ModelOutcome } from "./work.ts";

export interface ModelCall {
  readonly order: ModelOrder;
  readonly state: RunState;
  readonly transcript: Transcript;
  readonly agent: BoundAgent;
  readonly controller: AbortController;
}

type Reply = Omit<Extract<ModelOutcome, { kind: "reply" }>, "verdicts" | "kind">;

export async function callModel(call: ModelCall, deps: EngineDeps): Promise<ModelOutcome> {
  const { order, controller } = call;
  if (deps.clock.now() >= order.startBy) return { kind: "not-made" };
  const live = deps.live.begin({ ...placeOf(call), attempt: order.attempt }, replyId(placeOf(call).run, order.step));
  const within = await settleWithin(readReply(call, live), order.timeoutMs, deps.clock);
  live.end();
  if (within.kind === "value") return { kind: "reply", ...within.value, verdicts: [] };
  if (within.kind === "timeout") controller.abort();
  else if (controller.signal.aborted) return { kind: "aborted" };
  const error =
    within.kind === "timeout"
      ? new HoldfastError(
          "model-timeout",
          `${call.agent.model.description.model} did not answer in ${order.timeoutMs} ms`,
        )
      : classifyModelError(within.cause);
  const { retryAfterMs } = error.details;
  return {
    kind: "failed",
    error: { code: error.code, message: error.message },
    retry: error.retry,
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
  };
}

async function readReply(call: ModelCall, live: LiveMessage): Promise<Reply> {
  const { agent, controller } = call;
  const place = placeOf(call);
  const parts: Part[] = [];
  let finish: Extract<ModelPart, { type: "finish" }> | undefined;
  for await (const part of agent.model.call(requestOf(call), controller.signal)) {
    if (finish) throw malformed(call, `a ${part.type} after its finish`);
    if (part.type === "finish") finish = part;
    else {
      if (part.type !== "tool-call") live.write(part);
      addPart(parts, part, place);
    }
  }
  if (!finish) throw malformed(call, "the stream ended without a finish");
  return { parts, finish: finish.reason, usage: finish.usage };
}

function placeOf({ state, order }: ModelCall): Pick<LivePlace, "scope" | "run" | "thread" | "step"> {
  const { scope, run, thread } = state.created.identity;
  return { scope, run, thread, step: order.step };
}

function requestOf(call: ModelCall): ModelRequest {
  const { agent, order, state, transcript } = call;
  return {
    agent: agent.name,
    step: order.step,
    attempt: order.attempt,
    instructions: agent.instructions(state.created.context),
    messages: transcript.window(),
    tools: agent.shown,
  };
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
    return { kind: "text", text: text.toWellFormed(), problem: cause instanceof Error ? cause.message : "not JSON" };
  }
  const json = toJson(parsed);
  if (json.ok) return { kind: "json", value: json.value };
  return { kind: "text", text: "", problem: `${json.problem} at ${json.path}` };
}

function malformed(call: ModelCall, what: string): HoldfastError {
  const { provider, model } = call.agent.model.description;
  return new HoldfastError("model-malformed", `${provider}/${model} broke its protocol: ${what}`);
}
