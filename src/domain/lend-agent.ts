/**
 * A delegate as its parent lends it: a manifest that is the delegate's own, cut down, and the code for it.
 *
 * G1 What a parent's manifest lists is the most that a child may be; under it the child is narrowed (M4): the parent's
 *    policies hold for it, no budget is larger than the parent's, and one that may only read lends nothing else.
 * G2 The same holds one level further down, with everything that holds above: what is lent twice is narrowed by both.
 * G3 Whose delegate it is, is part of its manifest: no run that was lent is ever taken for one that was started.
 * G4 A run that was lent is not handed over: nobody goes on with it who was not lent.
 */
import type { Agent, Delegate } from "./agent.ts";
import { narrowBudget } from "./budget.ts";
import type { DeclaredDelegate, DeclaredManifest } from "./declared-manifest.ts";
import { handBack } from "./handoff.ts";
import { declare } from "./manifest.ts";
import { isPolicyPlugin, narrowManifest } from "./narrow-manifest.ts";
import { type Making, restoreAgent } from "./restore-agent.ts";

/** G1. */
export function lendManifest(parent: DeclaredManifest, lent: DeclaredDelegate): DeclaredManifest {
  const { declared, name, budget = {}, readOnly = false, ephemeral } = lent;
  const kept = declared.delegates?.filter(({ handoff }) => !handoff); // G4
  const below = kept?.map((each) => (ephemeral ? { ...each, ephemeral } : each));
  const whole: DeclaredManifest = {
    ...declared,
    tools: declared.tools.filter(({ effect }) => effect !== "handoff"),
    ...(below ? { delegates: below } : {}),
    declaredBy: parent.declaredBy,
  };
  const policies = parent.plugins?.filter((each) => isPolicyPlugin(each.name)) ?? [];
  const most = {
    ...whole,
    plugins: [...policies, ...(whole.plugins ?? [])],
    budget: narrowBudget(budget, parent.budget),
  };
  return { ...narrowManifest(most, whole, { readOnly }), under: [...(parent.under ?? []), placeOf(parent, name)] };
}

function placeOf({ agent }: Pick<DeclaredManifest, "agent">, name: string): string {
  return `${agent}/${name}`;
}

/** What is here is what is declared, so nothing has to be made. */
const asItIs: Making = {
  schemaOf: () => {
    throw new TypeError("A delegate as it is lent has the output of its agent");
  },
  backendOf: () => undefined,
};

/** The delegate's code under that manifest, with its parent's policies. */
export function lendAgent(parent: Agent<unknown>, name: string): Agent<unknown> | undefined {
  const handoff = parent.delegates.find((each) => each.tool.spec.name === name && each.grant.handoff);
  if (handoff) return handedAgent(parent, handoff);
  const declared = declare(parent);
  const grant = declared.delegates?.find((each) => each.name === name);
  const found = parent.delegates.find((each) => each.tool.spec.name === name);
  if (!grant || !found) return undefined;
  const { agent } = found;
  const policies = parent.plugins.filter((each) => isPolicyPlugin(each.name));
  const source = { ...agent, plugins: [...policies, ...agent.plugins] };
  return restoreAgent(source, lendManifest(declared, grant), asItIs).agent;
}

/** The other agent with everything that is its own, as it goes on with a run of this one. */
function handedAgent(giver: Agent<unknown>, { tool, agent }: Delegate): Agent<unknown> {
  const under = [...(giver.under ?? []), `${giver.name}/${tool.spec.name}`];
  return { ...agent, under, tools: [...agent.tools, handBack] };
}

/** Agents, and everything that is below them as it is lent. */
export function withLent(agents: readonly Agent<unknown>[]): readonly Agent<unknown>[] {
  return agents.flatMap((agent) => [agent, ...withLent(lentBy(agent))]);
}

function lentBy(agent: Agent<unknown>): readonly Agent<unknown>[] {
  return agent.delegates.flatMap(({ tool }) => lendAgent(agent, tool.spec.name) ?? []);
}

/** The one that stands at this place below the agent. */
export function lentAt(root: Agent<unknown>, under: readonly string[]): Agent<unknown> | undefined {
  let agent: Agent<unknown> | undefined = root;
  for (const place of under) {
    const name = place.slice(place.indexOf("/") + 1);
    agent = agent && lendAgent(agent, name);
  }
  return agent;
}

/** How many levels are below it. */
export function heightOf({ agent }: Delegate): number {
  return agent.delegates.reduce((most, each) => Math.max(most, 1 + heightOf(each)), 0);
}
