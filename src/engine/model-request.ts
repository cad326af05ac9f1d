/** What one model call sends: instructions, conversation and tools, with what plugins changed for this step. */
import { HoldfastError } from "../domain/errors.ts";
import { messageOf } from "../domain/json.ts";
import { unreadable } from "../domain/modality.ts";
import { outputHint } from "../domain/output.ts";
import { isOffered } from "../domain/plugin-state.ts";
import { present } from "../domain/present.ts";
import type { RunState } from "../domain/run-state.ts";
import type { ModelRequest } from "../ports/provider.ts";
import { calledModel } from "./called-model.ts";
import { suffixCount, withContextMessages, withSystem } from "./context.ts";
import type { BoundAgent } from "./deps.ts";
import { olderMessages } from "./older-messages.ts";
import type { Stage } from "./stage.ts";
import type { ModelOrder } from "./work.ts";

interface Asked {
  readonly order: ModelOrder;
  readonly state: RunState;
  readonly stage: Stage;
}

/** Instructions are the user's code: when they throw, no provider has failed and trying again helps nobody. */
export function requestFor(call: Asked): ModelRequest | HoldfastError {
  try {
    const request = requestOf(call);
    const { description } = calledModel(call.order, call.stage);
    const problem = unreadable(request.messages, description, olderMessages(call.state, call.stage));
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

function requestOf({ order, state, stage }: Asked): ModelRequest {
  const { boundAgent: agent, transcript } = stage;
  const { changes = {}, context = [] } = state.step ?? {};
  const { instructions = agent.instructions(state.created.context) } = changes;
  const { temperature, topP, reasoningEffort, settings } = order.overrides ?? {};
  const messages = withContextMessages(transcript.window(), context, state);
  return {
    agent: agent.name,
    thread: state.created.identity.thread,
    step: order.step,
    attempt: order.attempt,
    instructions: withOutput(withSystem(instructions, context), agent),
    ...nativeOutput(agent),
    messages,
    tools: [...agent.shown.filter(({ name }) => isOffered(name, changes)), ...answerTools(agent)],
    ...present({ temperature, topP, reasoningEffort, settings, maxOutputTokens: order.maxOutputTokens }),
    cache: { key: stage.cacheKey, stable: messages.length - suffixCount(context) },
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
