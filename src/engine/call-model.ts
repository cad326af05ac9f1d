/** One model call: ask, read the reply, go on from what had come before. Failures become values. */
import { HoldfastError } from "../domain/errors.ts";
import { replyId } from "../domain/ids.ts";
import { shortened } from "../domain/json.ts";
import { modelErrorOf, retryAfterOf } from "../domain/model-error.ts";
import type { RunState } from "../domain/run-state.ts";
import type { ModelRequest } from "../ports/provider.ts";
import { openAssembly } from "./assemble-reply.ts";
import type { LiveMessage } from "./live.ts";
import { requestFor } from "./model-request.ts";
import { type Heard, type ModelCall, nameOf, placeOf, readWatched, show } from "./read-reply.ts";
import { isTruncated, mayGoOn, recover } from "./recover-reply.ts";
import { openReplyFiles, putFiles } from "./reply-files.ts";
import { settleWithin } from "./settle-within.ts";
import type { Stage } from "./stage.ts";
import type { ModelOutcome } from "./work.ts";

export async function callModel(call: ModelCall): Promise<ModelOutcome> {
  const { order, stage } = call;
  if (stage.clock.monotonic() >= order.beginBy) return { kind: "not-made" };
  const request = requestFor(call);
  if (request instanceof HoldfastError) return modelFailure(request);
  stage.calibration.saw(request.instructions);
  show(call, { type: "message-begun", text: "" });
  const outcome = await attempt(call, request);
  const failed = outcome.kind === "failed" ? { error: outcome.error } : {};
  if (outcome.kind !== "reply") show(call, { type: "message-retracted", text: "", ...failed });
  return outcome;
}

async function attempt(call: ModelCall, request: ModelRequest): Promise<ModelOutcome> {
  const { order, stage, state } = call;
  const live = stage.live.begin({ ...placeOf(call), attempt: order.attempt }, replyId(placeOf(call).run, order.step));
  tellKept(state, stage, live);
  try {
    return await hear(call, request, live);
  } catch (cause) {
    live.retract(); // its files could not be kept
    return modelFailure(cause, { begun: true });
  }
}

async function hear(call: ModelCall, request: ModelRequest, live: LiveMessage): Promise<ModelOutcome> {
  const { order, controller, stage } = call;
  const heard: Heard = { begun: false, silence: undefined };
  const files = openReplyFiles(stage);
  const assembly = openAssembly(placeOf(call), files);
  const within = await settleWithin(readWatched(call, request, { assembly, live, heard }), order.timeoutMs, stage);
  const goesOn = mayGoOn(stage.boundAgent.output?.spec, isGated(stage));
  if (within.kind === "value") {
    await putFiles(within.value.parts, files, stage);
    // What was stopped may be answered all the same, and what goes on is told anew: its message comes whole then.
    const isEnough = order.overrides?.maxOutputTokens !== undefined;
    if (controller.signal.aborted || (!isEnough && isTruncated(within.value, goesOn))) live.retract();
    else live.end();
    return { kind: "reply", ...within.value };
  }
  const wasStopped = controller.signal.aborted && heard.silence === undefined; // by somebody else
  if (within.kind === "threw" && wasStopped) {
    live.retract();
    return { kind: "aborted" };
  }
  const error = within.kind === "threw" ? modelErrorOf(heard.silence ?? within.cause) : late(call);
  if (within.kind === "timeout") controller.abort(error); // with the reason: whoever keeps an eye on the model is told
  const outcome = recover({ parts: assembly.soFar(), error, failed: modelFailure(error, heard), goesOn });
  await putFiles(outcome.kind === "reply" ? outcome.parts : (outcome.kept ?? []), files, stage);
  if (outcome.kind === "reply") live.end();
  else live.retract();
  return outcome;
}

function late(call: ModelCall): HoldfastError {
  return new HoldfastError("model-timeout", `${nameOf(call)} did not answer in ${call.order.timeoutMs} ms`);
}

function isGated({ hooks }: Stage): boolean {
  return hooks.has("output-gate");
}

/** Y2: an attempt that goes on begins with what had come before. */
function tellKept({ step }: RunState, stage: Stage, live: LiveMessage): void {
  if (isGated(stage)) return;
  for (const part of step?.model.kept ?? []) {
    if (part.type === "text") live.write({ type: "text-delta", text: part.text });
    if (part.type === "reasoning") live.write({ type: "reasoning-delta", text: part.text });
  }
}

type Failed = Extract<ModelOutcome, { kind: "failed" }>;

export function modelFailure(cause: unknown, { begun }: Pick<Heard, "begun"> = { begun: false }): Failed {
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
