/** One model call: build the request, read the stream, tell it as it comes. Failures become values. */
import { HoldfastError } from "../domain/errors.ts";
import { replyId } from "../domain/ids.ts";
import { messageOf, shortened } from "../domain/json.ts";
import { unreadable } from "../domain/modality.ts";
import { modelErrorOf, retryAfterOf } from "../domain/model-error.ts";
import { outputHint } from "../domain/output.ts";
import type { PieceView } from "../domain/plugin.ts";
import { isOffered } from "../domain/plugin-state.ts";
import type { RunState } from "../domain/run-state.ts";
import type { ModelRequest } from "../ports/provider.ts";
import { observe } from "./ask.ts";
import { isEmpty, openAssembly, type Reply } from "./assemble-reply.ts";
import { transformed, withContextMessages, withSystem } from "./context.ts";
import type { BoundAgent } from "./deps.ts";
import type { LiveMessage, LivePlace, Piece } from "./live.ts";
import { settleWithin } from "./settle-within.ts";
import type { Stage } from "./stage.ts";
import { watchIdle } from "./watch-idle.ts";
import type { ModelOrder, ModelOutcome } from "./work.ts";

export interface ModelCall {
  readonly order: ModelOrder;
  readonly state: RunState;
  readonly controller: AbortController;
  readonly stage: Stage;
}

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
  const heard: Heard = { begun: false, silence: undefined };
  const within = await settleWithin(readWatched(call, request, { live, heard }), order.timeoutMs, stage);
  // What was stopped may be answered all the same; its message comes whole then, if it still counts.
  if (within.kind === "value" && !controller.signal.aborted) live.end();
  else live.retract();
  if (within.kind === "value") return { kind: "reply", ...within.value };
  if (within.kind === "threw") {
    const wasStopped = controller.signal.aborted && heard.silence === undefined; // by somebody else
    return wasStopped ? { kind: "aborted" } : modelFailure(heard.silence ?? within.cause, heard);
  }
  const { model } = stage.boundAgent.model.description;
  const late = new HoldfastError("model-timeout", `${model} did not answer in ${order.timeoutMs} ms`);
  controller.abort(late); // with the reason: whoever keeps an eye on the model is told
  return modelFailure(late, heard);
}

/** What was heard of an attempt. */
interface Heard {
  /** Something of an answer has come. */
  begun: boolean;
  /** Why it was given up here. */
  silence: unknown;
}

/** Gives up on a provider that has begun, or not even that, and then says nothing for too long. */
function readWatched(
  call: ModelCall,
  request: ModelRequest,
  { live, heard }: Pick<Listening, "live" | "heard">,
): Promise<Reply> {
  const { order, controller, stage } = call;
  const { modelIdleMs } = stage.limits;
  if (modelIdleMs >= order.timeoutMs) return readReply(call, request, { live, heard, moved: () => undefined });
  return new Promise((resolve, reject) => {
    const watch = watchIdle(modelIdleMs, stage, (cause) => {
      if (controller.signal.aborted) return; // it was stopped, and is only deaf
      const { model } = stage.boundAgent.model.description;
      heard.silence = cause ?? new HoldfastError("model-timeout", `${model} has said nothing for ${modelIdleMs} ms`);
      controller.abort(heard.silence);
      reject(heard.silence);
    });
    readReply(call, request, { live, heard, moved: watch.moved }).then(resolve, reject).finally(watch.stop);
  });
}

interface Listening {
  readonly live: LiveMessage;
  readonly heard: Heard;
  /** The provider has given a sign of life. */
  readonly moved: () => void;
}

export function modelFailure(cause: unknown, { begun }: Pick<Heard, "begun"> = { begun: false }): ModelOutcome {
  const error = modelErrorOf(cause);
  const { code, message, retry } = error;
  const retryAfterMs = retryAfterOf(error);
  return {
    kind: "failed",
    error: { code, message: shortened(message) },
    retry,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(begun ? { begun } : {}),
  };
}

async function readReply(call: ModelCall, asked: ModelRequest, { live, heard, moved }: Listening): Promise<Reply> {
  const { controller, stage } = call;
  const request = await transformed(asked, stage.plugins);
  const assembly = openAssembly(placeOf(call));
  moved();
  for await (const part of stage.boundAgent.model.call(request, controller.signal)) {
    moved();
    heard.begun ||= part?.type !== "ping";
    const problem = assembly.add(part);
    if (problem) throw malformed(call, problem);
    if (part.type !== "tool-call" && part.type !== "ping" && part.type !== "finish") tell(call, part, live);
  }
  const reply = assembly.end();
  if (typeof reply === "string") throw malformed(call, reply);
  if (isEmpty(reply)) {
    const { provider, model } = stage.boundAgent.model.description;
    throw new HoldfastError("model-empty", `${provider}/${model} answered with neither text nor a call`);
  }
  return reply;
}

/** To watchers, and to plugins that only look. */
function tell(call: ModelCall, part: Piece, live: LiveMessage): void {
  const { type, text } = part;
  show(call, { type, text });
  if (call.stage.hooks.has("output-gate")) return; // what may not be said in the end is not said piece by piece either
  // Only these fields: what a provider wants back is nobody else's.
  live.write(type === "tool-input-delta" ? { type, text, index: part.index, tool: part.tool } : { type, text });
}

function show({ order, state, stage }: ModelCall, piece: Omit<PieceView, "attempt">): void {
  const delta = { ...piece, attempt: order.attempt };
  void observe({ phase: "model-delta", delta }, { state, entries: [] }, stage);
}

function placeOf({ state, order }: ModelCall): Pick<LivePlace, "scope" | "run" | "thread" | "step"> {
  const { scope, run, thread } = state.created.identity;
  return { scope, run, thread, step: order.step };
}

/** Instructions are the user's code: when they throw, no provider has failed and trying again helps nobody. */
function requestFor(call: ModelCall): ModelRequest | HoldfastError {
  try {
    const request = requestOf(call);
    const { description } = call.stage.boundAgent.model;
    const problem = unreadable(request.messages, description);
    if (!problem) return request;
    return new HoldfastError(
      "model-refused",
      `${description.provider}/${description.model} was not called: ${problem}`,
    );
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
    ...nativeOutput(agent),
    messages: withContextMessages(transcript.window(), context, state),
    tools: [...agent.shown.filter(({ name }) => isOffered(name, changes)), ...answerTools(agent)],
    ...(settings === undefined ? {} : { settings }),
    ...(order.maxOutputTokens === undefined ? {} : { maxOutputTokens: order.maxOutputTokens }),
  };
}

function nativeOutput({ output }: BoundAgent): Pick<ModelRequest, "output"> {
  return output?.spec.mode === "native" ? { output: { schema: output.spec.schema } } : {};
}

/** Plugins choose among the agent's tools; how it answers is not theirs to take away. */
function answerTools({ output }: BoundAgent): ModelRequest["tools"] {
  return output?.tool ? [output.tool] : [];
}

/** Only words: what binds the answer is the check at the end. */
function withOutput(instructions: string, { output }: BoundAgent): string {
  const hint = output && outputHint(output.spec);
  return hint === undefined ? instructions : `${instructions}\n\n${hint}`;
}

function malformed(call: ModelCall, what: string): HoldfastError {
  const { provider, model } = call.stage.boundAgent.model.description;
  return new HoldfastError("model-malformed", `${provider}/${model} broke its protocol: ${what}`);
}
