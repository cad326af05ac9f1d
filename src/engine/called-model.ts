/** Which model a step calls: the run's, unless a plugin of the step says otherwise. */
import { HoldfastError } from "../domain/errors.ts";
import type { ModelDescription } from "../domain/model.ts";
import type { Overrides } from "../domain/overrides.ts";
import type { RunState } from "../domain/run-state.ts";
import { overridesOf } from "../domain/step-overrides.ts";
import type { FindOther, Model } from "../ports/provider.ts";
import type { Draft } from "./draft.ts";
import type { Stage } from "./stage.ts";
import type { ModelOrder } from "./work.ts";

/** What it says of itself. */
export function describedFor({ state, at }: Draft): ModelDescription {
  return describedIn(state, at);
}

export function describedIn(
  state: RunState,
  { model, otherModel }: Pick<Draft["at"], "model" | "otherModel">,
): ModelDescription {
  const name = overridesOf(state)?.model;
  return name === undefined ? model : found(name, otherModel).model.description;
}

/** As they are recorded: with the model's whole route. */
export function recordedOverrides({ state, at }: Draft): Overrides | undefined {
  const said = overridesOf(state);
  return said?.model === undefined ? said : { ...said, model: found(said.model, at.otherModel).route };
}

export function calledModel({ overrides }: ModelOrder, { boundAgent, otherModel }: Stage): Model {
  return overrides?.model === undefined ? boundAgent.model : found(overrides.model, otherModel).model;
}

/** Looked for when the run was taken up, or when a plugin named it. */
function found(name: string, otherModel: FindOther): Extract<ReturnType<FindOther>, { route: string }> {
  const other = otherModel(name);
  if ("route" in other) return other;
  throw new HoldfastError("model-unresolved", `Model ${name} was here before, and is not any more: ${other.problem}`);
}
