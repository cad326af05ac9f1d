/** What an agent lacks to be run in this process, in the order in which the parts are asked for (L8). */
import type { Agent } from "../domain/agent.ts";
import { declare, manifestProblems, uncoded } from "../domain/manifest.ts";
import { isFunction } from "../domain/problems.ts";

/** What the process has that agents rely on. */
export interface Surroundings {
  /** Whose transactions a tool may write in, where the store has any. */
  readonly transactions: string | undefined;
  readonly sinks: readonly string[];
}

export function agentProblems(agent: Agent<unknown>, by: Surroundings): readonly string[] {
  return [...ownProblems(agent), ...transactionProblems(agent, by), ...sinkProblems(agent, by)];
}

/** Of the agent itself: its model, its tools, its plugins. */
export function ownProblems(agent: Agent<unknown>): readonly string[] {
  const { description, call } = (agent.model ?? {}) as Partial<Agent["model"]> & { readonly call?: unknown };
  const { provider, model } = description ?? {};
  const uncallable = `the model ${provider}/${model} of ${agent.name} cannot be called; give the agent a provider's model`;
  const found = description ? [...manifestProblems(declare(agent)), ...uncoded(agent)] : [];
  return [...(isFunction(call) ? [] : [uncallable]), ...found.map((problem) => `${agent.name}: ${problem}`)];
}

/** A tool that cannot write where it was made to. */
export function transactionProblems(
  { name, tools }: Agent<unknown>,
  { transactions }: Surroundings,
): readonly string[] {
  const foreign = tools.filter(({ spec }) => spec.transaction !== undefined && spec.transaction !== transactions);
  return foreign.map(
    ({ spec }) => `store: tool ${spec.name} of agent ${name} writes in a ${spec.transaction} transaction`,
  );
}

/** Whoever is named is there before anything runs. */
export function sinkProblems({ name, sinks }: Agent<unknown>, given: Surroundings): readonly string[] {
  const missing = sinks.filter((sink) => !given.sinks.includes(sink));
  return missing.map(
    (sink) => `sinks: agent ${name} tells sink ${sink}, which is not here; give sinks: { ${sink}: … }`,
  );
}
