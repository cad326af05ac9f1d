/** Reads a reply as it comes, tells it to watchers and plugins, and gives up on a provider that falls silent. */
import { HoldfastError } from "../domain/errors.ts";
import type { PieceView } from "../domain/plugin.ts";
import type { RunState } from "../domain/run-state.ts";
import type { ModelRequest } from "../ports/provider.ts";
import { observe } from "./ask.ts";
import { type Assembly, isEmpty, type Reply } from "./assemble-reply.ts";
import { calledModel } from "./called-model.ts";
import { transformed } from "./context.ts";
import type { LiveMessage, LivePlace, Piece } from "./live.ts";
import { olderMessages } from "./older-messages.ts";
import { continuing } from "./recover-reply.ts";
import { withFiles } from "./send-files.ts";
import type { Stage } from "./stage.ts";
import { watchIdle } from "./watch-idle.ts";
import type { ModelOrder } from "./work.ts";

export interface ModelCall {
  readonly order: ModelOrder;
  readonly state: RunState;
  readonly controller: AbortController;
  readonly stage: Stage;
}

/** What was heard of an attempt. */
export interface Heard {
  /** Something of an answer has come. */
  begun: boolean;
  /** Why it was given up here. */
  silence: unknown;
}

interface Reading {
  readonly assembly: Assembly;
  readonly live: LiveMessage;
  readonly heard: Heard;
}

/** Gives up on a provider that has begun, or not even that, and then says nothing for too long. */
export function readWatched(call: ModelCall, request: ModelRequest, reading: Reading): Promise<Reply> {
  const { order, controller, stage } = call;
  const { modelIdleMs } = stage.limits;
  const { heard } = reading;
  if (modelIdleMs >= order.timeoutMs) return readReply(call, request, { ...reading, moved: () => undefined });
  return new Promise((resolve, reject) => {
    const watch = watchIdle(modelIdleMs, stage, (cause) => {
      if (controller.signal.aborted) return; // it was stopped, and is only deaf
      heard.silence =
        cause ?? new HoldfastError("model-timeout", `${nameOf(call)} has said nothing for ${modelIdleMs} ms`);
      controller.abort(heard.silence);
      reject(heard.silence);
    });
    readReply(call, request, { ...reading, moved: watch.moved })
      .then(resolve, reject)
      .finally(watch.stop);
  });
}

interface Listening extends Reading {
  /** The provider has given a sign of life. */
  readonly moved: () => void;
}

async function readReply(call: ModelCall, asked: ModelRequest, listening: Listening): Promise<Reply> {
  const { order, controller, stage, state } = call;
  const { assembly, live, heard, moved } = listening;
  const model = calledModel(order, stage);
  const older = olderMessages(state, stage); // as it is now, when the request is
  const wanted = continuing(await transformed(asked, stage.plugins), state);
  const request = await withFiles(wanted, { ...stage, description: model.description, older }, controller.signal);
  moved();
  for await (const part of model.call(request, controller.signal)) {
    moved();
    heard.begun ||= part?.type !== "ping";
    const problem = assembly.add(part);
    if (problem) throw new HoldfastError("model-malformed", `${nameOf(call)} broke its protocol: ${problem}`);
    if ("text" in part) tell(call, part, live);
  }
  const reply = assembly.end();
  if (!reply) throw new HoldfastError("model-interrupted", `${nameOf(call)} broke off before its answer was whole`);
  if (isEmpty(reply) && !state.step?.model.kept) {
    throw new HoldfastError("model-empty", `${nameOf(call)} answered with neither text nor a call`);
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

export function show({ order, state, stage }: ModelCall, piece: Omit<PieceView, "attempt">): void {
  const delta = { ...piece, attempt: order.attempt };
  void observe({ phase: "model-delta", delta }, { state, entries: [] }, stage);
}

export function placeOf({ state, order }: ModelCall): Pick<LivePlace, "scope" | "run" | "thread" | "step"> {
  const { scope, run, thread } = state.created.identity;
  return { scope, run, thread, step: order.step };
}

export function nameOf({ order, stage }: ModelCall): string {
  const { provider, model } = calledModel(order, stage).description;
  return `${provider}/${model}`;
}
