/**
 * Models that agents name by route, `provider/model`, found among the runtime's providers.
 *
 * P1 An agent is looked at again with the model that was found, so that every check sees what the model says of itself, and
 *    the manifest declares it. Until then nothing of it is written or run.
 * P2 What cannot be found is refused by its route, with what there is; a provider that throws has refused it.
 * P3 One route is one model in a process, whoever names it.
 */
import type { Agent } from "../domain/agent.ts";
import { HoldfastError, isHoldfastError } from "../domain/errors.ts";
import type { RunId } from "../domain/ids.ts";
import { messageOf } from "../domain/json.ts";
import { isRouted, type RoutedModel } from "../domain/model-route.ts";
import { isFunction, type Problems } from "../domain/problems.ts";
import { toolNamePattern } from "../domain/tool.ts";
import type { Model, Providers } from "../ports/provider.ts";

/** The agent with its model; itself where it has one already. */
export type FindModel = (agent: Agent<unknown>, run?: RunId) => Agent<unknown>;

/** How models of other kinds become ours. */
export type Adopt = (answer: unknown) => unknown;

/** The model of a route, or why there is none. */
export type FindRoute = (route: RoutedModel) => Model | NoModel;

export interface NoModel {
  readonly why: string;
  readonly cause?: unknown;
}

export function createFindRoute(providers: Providers | undefined, adopt: Adopt): FindRoute {
  const models = new Map<string, Model>();
  return (asked) => {
    const model = models.get(asked.route) ?? find(asked, providers ?? {}, adopt);
    if (!("why" in model)) models.set(asked.route, model); // P3
    return model;
  };
}

export function createFindModel(findRoute: FindRoute): FindModel {
  const found = new WeakMap<Agent<unknown>, Agent<unknown>>();
  function own(agent: Agent<unknown>, run: RunId | undefined): Agent<unknown> {
    if (!agent.model || !isRouted(agent.model) || !agent.withModel) return agent;
    const model = findRoute(agent.model);
    if ("why" in model) throw unresolved(agent, model, run);
    return agent.withModel(model); // P1
  }

  const whole: FindModel = (agent, run) => {
    const known = found.get(agent);
    if (known) return known;
    const mine = own(agent, run);
    const delegates = mine.delegates?.map((each) => ({ ...each, agent: whole(each.agent, run) })) ?? [];
    const isSame = delegates.every((each, index) => each.agent === mine.delegates[index]?.agent);
    const made = isSame ? mine : { ...mine, delegates };
    found.set(agent, made);
    return made;
  };
  return whole;
}

function unresolved({ name, model }: Agent<unknown>, { why, cause }: NoModel, run: RunId | undefined): HoldfastError {
  const route = isRouted(model) ? model.route : "";
  return new HoldfastError("model-unresolved", `${run ? `Run ${run}: ` : ""}agent ${name}: ${why}`, {
    details: { agent: name, route, ...(run ? { run } : {}) },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** P2. */
function find({ route, description }: RoutedModel, providers: Providers, adopt: Adopt): Model | NoModel {
  const { provider, model } = description;
  if (!Object.hasOwn(providers, provider)) {
    const names = Object.keys(providers).join(", ") || "none";
    const give = `give createRuntime providers: { ${provider}: … }; there are ${names}`;
    return { why: `missing provider adapter for package route ${route}: ${give}` };
  }
  let answer: unknown;
  try {
    answer = adopt(providers[provider]?.(model));
  } catch (cause) {
    const problems = isHoldfastError(cause) ? cause.problems.join("; ") : "";
    return { why: `provider ${provider} refuses ${route}: ${problems || messageOf(cause)}`, cause };
  }
  if (answer === undefined) return { why: `provider ${provider} has no model ${model}` };
  return isModel(answer) ? answer : { why: `provider ${provider} answered for ${route} what is no model` };
}

function isModel(value: unknown): value is Model {
  const { description, call } = (value ?? {}) as Partial<Model>;
  return typeof description?.provider === "string" && typeof description.model === "string" && isFunction(call);
}

/** L8: every wrong one is named; those that are functions are looked at all the same, so that agents are too. */
export function checkProviders(providers: unknown, problems: Problems): Providers {
  if (providers === undefined) return {};
  if (typeof providers !== "object" || providers === null || Array.isArray(providers)) {
    problems.add("providers: must be an object: functions of a model's name, by the provider's name");
    return {};
  }
  for (const [name, provider] of Object.entries(providers)) {
    if (!toolNamePattern.test(name)) problems.add(`providers.${name}: the name must match ${toolNamePattern}`);
    if (!isFunction(provider)) problems.add(`providers.${name}: must be a function of a model's name`);
  }
  return Object.fromEntries(Object.entries(providers).filter(([, provider]) => isFunction(provider)));
}

/** The agent with its model, or what is wrong with that. */
export function modelProblems(agent: Agent<unknown>, findModel: FindModel): Agent<unknown> | readonly string[] {
  try {
    return findModel(agent);
  } catch (cause) {
    if (!isHoldfastError(cause)) throw cause;
    return cause.problems.length > 0 ? cause.problems.map((problem) => `${agent.name}: ${problem}`) : [cause.message];
  }
}
