/** What a step asks of the model otherwise than the agent does, and which models the steps at hand name (U1). */
import { mergeOverrides, type Overrides, spoken } from "./overrides.ts";
import type { RunState } from "./run-state.ts";

/** Of the step at hand; between two of the one to come. Undefined when nothing is asked otherwise. */
export function overridesOf({ created, step, plugins }: RunState): Overrides | undefined {
  const { overrides: said = {} } = step && !step.ended ? step.changes : plugins.ahead;
  return spoken(mergeOverrides(created.request.overrides ?? {}, said));
}

/** Names that the steps at hand say, also by commands that are only scheduled: whoever goes on needs them all. */
export function stepModels({ step, plugins }: RunState): readonly string[] {
  const changes = [step && !step.ended ? step.changes : {}, plugins.ahead];
  const scheduled = plugins.scheduled.map(({ command }) =>
    command.type === "patch-request" ? command.model : undefined,
  );
  const names = [...changes.map(({ overrides }) => overrides?.model), ...scheduled];
  return [...new Set(names.filter((name) => name !== undefined))];
}
