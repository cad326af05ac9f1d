/** The model of one simulated run: says what the plan says, fails as often as the plan says. */
import { HoldfastError } from "../../domain/errors.ts";
import type { Model, ModelPart, ModelRequest } from "../../ports/provider.ts";
import type { CallPlan, RunPlan, StepPlan } from "./plan.ts";
import type { World } from "./world.ts";

export function createSimModel(plan: RunPlan, world: World): Model {
  return {
    description: { provider: "sim", model: plan.name },
    call(request, signal) {
      world.modelAsked(request); // sent now; what may be late or lost is the answer
      return answer(plan.steps[request.step - 1], request, signal);
    },
  };
}

async function* answer(
  step: StepPlan | undefined,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  if (step) yield* failAsPlanned(step, request);
  for (const part of partsOf(step, request)) {
    signal.throwIfAborted();
    yield part;
  }
}

/** Before anything is said, or in the middle of it. */
function* failAsPlanned(step: StepPlan, request: ModelRequest): Iterable<ModelPart> {
  const { attempt } = request;
  if (attempt > step.failures) return;
  if (step.pieces) for (const text of writtenBy(step, request).pieces.slice(0, 2)) yield { type: "text-delta", text };
  if (step.fatal) throw new HoldfastError("model-refused", "The plan says that this request is refused");
  throw new HoldfastError("model-overloaded", `The plan says that attempt ${attempt} fails`);
}

function* partsOf(step: StepPlan | undefined, request: ModelRequest): Iterable<ModelPart> {
  const calls = step?.calls ?? [];
  const { reasoning, pieces } = writtenBy(step, request);
  for (const text of reasoning) yield { type: "reasoning-delta", text };
  for (const text of pieces) yield { type: "text-delta", text };
  for (const [index, call] of calls.entries()) {
    if (step?.pieces) yield* inputDeltas(index, call);
    yield { type: "tool-call", alias: `alias-${index}`, tool: call.tool, inputText: inputTextOf(call) };
  }
  if (step?.malformed && request.attempt === 1) return;
  const reason = calls.length > 0 ? "tool-calls" : "stop";
  yield { type: "finish", reason, usage: { inputTokens: 1, outputTokens: 1 } };
}

/** Two attempts at the same step never say the same. */
export function writtenBy(
  step: StepPlan | undefined,
  request: Pick<ModelRequest, "step" | "attempt">,
): { readonly reasoning: readonly string[]; readonly pieces: readonly string[] } {
  if (!step?.pieces) return { reasoning: [], pieces: [`step ${request.step}`] };
  const say = (piece: string): string => `${piece}#${request.attempt} `;
  return { reasoning: step.pieces.slice(0, 1).map(say), pieces: step.pieces.map(say) };
}

const cutAt = 5;

function* inputDeltas(index: number, call: CallPlan): Iterable<ModelPart> {
  const text = inputTextOf(call);
  for (const piece of [text.slice(0, cutAt), text.slice(cutAt)]) {
    yield { type: "tool-input-delta", index, tool: call.tool, text: piece };
  }
}

export function inputTextOf({ garbled, input }: CallPlan): string {
  return garbled ?? JSON.stringify(input);
}
