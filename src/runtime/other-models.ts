/**
 * Models that a run or a step names instead of its agent's, found among the runtime's providers.
 *
 * W1 A name with a slash is a route, always; one without is a model of the agent's own provider. Nothing is guessed.
 * W2 It is looked at as the agent's own was: what it says of itself must do for the agent's tools, output and budget.
 */
import type { Agent } from "../domain/agent.ts";
import { HoldfastError } from "../domain/errors.ts";
import { type DescribedModel, isPrices, type ModelDescription } from "../domain/model.ts";
import { readRoute } from "../domain/model-route.ts";
import type { OutputSpec } from "../domain/output.ts";
import { type Overrides, readOverrides, spoken } from "../domain/overrides.ts";
import type { RunBudget } from "../domain/run.ts";
import type { FindOther, Model } from "../ports/provider.ts";
import type { FindRoute } from "./routed-models.ts";

/** What the model has to do for. */
export interface Needs {
  readonly provider: string;
  /** How many the agent has. */
  readonly tools: number;
  readonly output: OutputSpec | undefined;
  readonly budget: RunBudget;
}

export function createFindOther(needs: Needs, findRoute: FindRoute): FindOther {
  return (name) => {
    const asked = readRoute(name.includes("/") ? name : `${needs.provider}/${name}`); // W1
    if (!asked) return { problem: `${name} names no model` };
    const model = findRoute(asked);
    if ("why" in model) return { problem: model.why };
    const problem = unfit(model.description, needs);
    return problem ? { problem: `${asked.route} ${problem}` } : { route: asked.route, model };
  };
}

/** W2. */
function unfit(description: ModelDescription, { tools, output, budget }: Needs): string | undefined {
  const { toolCalls, structuredOutput, prices } = description;
  if (toolCalls === false && tools > 0) return `cannot call tools, and the agent has ${tools}`;
  if (toolCalls === false && output?.mode === "tool") return "cannot call tools, and the agent is answered by one";
  if (structuredOutput !== true && output?.mode === "native") {
    return 'has no structuredOutput, and the agent is to be bound to its output; define it with outputMode "tool" or "text"';
  }
  if (budget.microUsd !== undefined && !isPrices(prices)) {
    return "has no prices, so nobody could count the budget in usd; say them in its description";
  }
  return undefined;
}

/** Of a start, whose fields were looked at: with the model's whole route, or refused with every problem (L8). */
export function checkedOverrides(
  given: unknown,
  agent: Agent<unknown>,
  { findRoute }: { readonly findRoute: FindRoute },
): Overrides | undefined {
  const read = readOverrides(given);
  if (!read) return undefined;
  if (agent.backend)
    throw refused(agent, [`overrides: agent ${agent.name} is run elsewhere, which asks its model itself`]);
  const { model: name, ...asked } = read;
  const { provider, tools, output, budget } = agent;
  const findOther = createFindOther({ provider, tools: tools.length, output: output?.spec, budget }, findRoute);
  const other = name === undefined ? undefined : findOther(name);
  const problems =
    other && "problem" in other ? [`model: ${other.problem}`] : problemsWith(other?.model ?? agent.model, asked);
  if (problems.length > 0)
    throw refused(
      agent,
      problems.map((problem) => `overrides.${problem}`),
    );
  return spoken({ ...asked, ...(other && "route" in other ? { model: other.route } : {}) });
}

function refused({ name }: Agent<unknown>, problems: readonly string[]): HoldfastError {
  return new HoldfastError("invalid-options", `Run of ${name} cannot be started`, { problems });
}

function problemsWith(model: DescribedModel, asked: Omit<Overrides, "model">): readonly string[] {
  return (model as Partial<Model>).problemsWith?.(asked) ?? [];
}
