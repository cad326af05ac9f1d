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
  if (step) failAsPlanned(step, request);
  for (const part of partsOf(step, request)) {
    signal.throwIfAborted();
    yield part;
  }
}

function failAsPlanned(step: StepPlan, { attempt }: ModelRequest): void {
  if (attempt > step.failures) return;
  if (step.fatal) throw new HoldfastError("model-refused", "The plan says that this request is refused");
  throw new HoldfastError("model-overloaded", `The plan says that attempt ${attempt} fails`);
}

function* partsOf(step: StepPlan | undefined, request: ModelRequest): Iterable<ModelPart> {
  const calls = step?.calls ?? [];
  yield { type: "text-delta", text: `step ${request.step}` };
  for (const [index, call] of calls.entries()) {
    yield { type: "tool-call", alias: `alias-${index}`, tool: call.tool, inputText: textOf(call) };
  }
  if (step?.malformed && request.attempt === 1) return;
  const reason = calls.length > 0 ? "tool-calls" : "stop";
  yield { type: "finish", reason, usage: { inputTokens: 1, outputTokens: 1 } };
}

function textOf({ garbled, input }: CallPlan): string {
  return garbled ?? JSON.stringify(input);
}
