/** Every problem with an agent's delegates, before anything of it exists. */
import { hasPrices } from "./budget.ts";
import type { DescribedModel } from "./model.ts";
import { isRouted } from "./model-route.ts";
import type { Problems } from "./problems.ts";
import type { RunBudget } from "./run.ts";
import type { Tool } from "./tool.ts";

/** A manifest holds those of all agents below it, so there is an end to them. */
const mostBelow = 100;

/** As far as it is looked at here. */
interface Lent {
  readonly tool: Tool;
  readonly agent: { readonly name: string; readonly model: DescribedModel; readonly delegates: readonly Lent[] };
}

interface Delegating {
  readonly tools: unknown;
  readonly budget: RunBudget;
}

export function checkDelegates<D extends Lent>(given: unknown, of: Delegating, problems: Problems): readonly D[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) {
    problems.add("delegates: must be a list of delegate(agent, { … })");
    return [];
  }
  const names = new Set(Array.isArray(of.tools) ? (of.tools as Tool[]).map((tool) => tool?.spec?.name) : []);
  const delegates: D[] = [];
  for (const [index, each] of (given as D[]).entries()) {
    const problem = problemOf(each, names, of.budget);
    if (problem) problems.add(`delegates[${index}]: ${problem}`);
    else {
      delegates.push(each);
      names.add(each.tool.spec.name);
    }
  }
  const below = delegates.reduce((sum, each) => sum + sizeOf(each), 0);
  if (below > mostBelow) problems.add(`delegates: there are ${below} agents below, the limit is ${mostBelow}`);
  return delegates;
}

function problemOf(each: Lent | undefined, names: ReadonlySet<string>, budget: RunBudget): string | undefined {
  const spec = each?.tool?.spec;
  if (!each?.agent || spec?.effect !== "child") return "must come from delegate(agent, { … })";
  if (names.has(spec.name))
    return `the name ${spec.name} is used twice; give it another one, delegate(agent, { name })`;
  const { name, model } = each.agent;
  if (budget.microUsd === undefined || isRouted(model) || hasPrices(model)) return undefined;
  return `the budget is in dollars, and the model of ${name} has no prices, so nobody could count`;
}

/** The agent and all that are below it. */
function sizeOf({ agent }: Lent): number {
  return agent.delegates.reduce((sum, each) => sum + sizeOf(each), 1);
}
