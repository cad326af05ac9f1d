/**
 * Manifest: what decides a run's behaviour. The declared part is data; the hash of what is behavioural in it is the
 * fingerprint.
 *
 * M1 The fingerprint changes with each behavioural field and with nothing else: not with volatile fields, nor with the
 *    order in which anything was written down.
 * M2 Whatever the model is shown can be executed, and every name is there once.
 */
import type { Agent } from "./agent.ts";
import type { UsedPlugin } from "./agent-plugins.ts";
import type { DeclaredManifest, Manifest } from "./declared-manifest.ts";
import { HoldfastError } from "./errors.ts";
import type { Fingerprint } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import { behaviouralPart, fieldsOf } from "./manifest-fields.ts";
import { type ModelDescription, type ModelPrices, modalities } from "./model.ts";
import { present } from "./present.ts";
import type { StateKeyFacts } from "./state-key.ts";
import type { ToolSpec } from "./tool.ts";
import { holdfastVersion } from "./version.ts";

export const declaredBy: DeclaredManifest["declaredBy"] = { holdfast: holdfastVersion };

interface Hashing {
  canonical(value: JsonValue): string;
  sha256(text: string): string;
}

/** M1. */
export function fingerprintOf(declared: DeclaredManifest, hash: Hashing): Fingerprint {
  const part = behaviouralPart(declared as unknown as JsonValue) ?? null;
  return hash.sha256(hash.canonical(part)) as Fingerprint;
}

/** The manifest of an agent, whole; refused with every problem that it has. */
export function manifestOf(agent: Agent<unknown>, hash: Hashing): Manifest {
  const declared = declare(agent);
  const problems = [...manifestProblems(declared), ...uncoded(agent)];
  if (problems.length > 0) {
    throw new HoldfastError("invalid-manifest", `Agent ${agent.name} cannot be run`, { problems });
  }
  return { fingerprint: fingerprintOf(declared, hash), declared };
}

/** M2, F1, and a model that is named and can use the tools. */
export function manifestProblems(declared: DeclaredManifest): readonly string[] {
  const { model, tools, plugins = [], state = [], delegates = [] } = declared;
  const problems: string[] = [];
  if (!model.provider || !model.model) problems.push(`model: ${model.provider}/${model.model} names no model`);
  if (model.toolCalls === false && tools.length > 0) {
    problems.push(`model: ${model.provider}/${model.model} cannot call tools, and the agent has ${tools.length}`);
  }
  for (const [what, list] of Object.entries({ tools, plugins, state, delegates })) {
    for (const name of doubles(list)) problems.push(`${what}: ${name} is there twice`);
  }
  for (const { path, field } of fieldsOf(declared)) {
    if (!field) problems.push(`${path}: is neither behavioural nor volatile`);
  }
  return problems;
}

function doubles(list: readonly { readonly name: string }[]): readonly string[] {
  const names = list.map(({ name }) => name);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

export function uncoded({ tools }: Agent<unknown>): readonly string[] {
  const shown = tools.filter(({ code }) => !code);
  return shown.map(({ spec }) => `tools: ${spec.name} is shown to the model and has no code`);
}

export function declare(agent: Agent<unknown>): DeclaredManifest {
  return {
    format: 1,
    agent: agent.name,
    version: agent.version,
    model: described(agent.model.description),
    instructions:
      typeof agent.instructions === "string" ? { kind: "text", text: agent.instructions } : { kind: "function" },
    tools: declaredTools(agent),
    context: agent.contextSchema ?? null,
    ...(agent.output ? { output: agent.output.spec } : {}),
    ...(agent.plugins.length > 0 ? { plugins: agent.plugins.map(declaredPlugin) } : {}),
    ...(agent.stateKeys.length > 0 ? { state: agent.stateKeys.map(declaredKey) } : {}),
    ...(agent.history ? { history: agent.history.spec } : {}),
    ...declaredBackend(agent),
    ...(agent.delegates.length > 0 ? { delegates: declaredDelegates(agent) } : {}),
    ...(agent.under ? { under: agent.under } : {}),
    budget: agent.budget,
    ...(agent.sinks.length > 0 ? { sinks: agent.sinks } : {}),
    declaredBy,
  };
}

/** By name: in this order the model is shown them too, or one fingerprint would stand for two requests. */
export function declaredTools({ tools }: Agent<unknown>): readonly ToolSpec[] {
  return tools.map((each) => each.spec).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function declaredBackend({ backend, adapt = [] }: Agent<unknown>): Pick<DeclaredManifest, "backend"> {
  return backend ? { backend: { name: backend.name, endpoint: backend.endpoint, adapt } } : {};
}

/** Whatever it is lent again by its own parent: what is below it is declared here, whole. */
function declaredDelegates({ delegates }: Agent<unknown>): NonNullable<DeclaredManifest["delegates"]> {
  const all = delegates.map(({ tool, agent, grant }) => {
    const { declaredBy: _volatile, ...declared } = declare(agent);
    const { budget, readOnly, ephemeral, background, handoff } = grant;
    return {
      name: tool.spec.name,
      agent: agent.name,
      declared,
      ...(Object.keys(budget).length > 0 ? { budget } : {}),
      ...(readOnly ? { readOnly } : {}),
      ...(ephemeral ? { ephemeral } : {}),
      ...(background ? { background } : {}),
      ...(handoff ? { handoff } : {}),
    };
  });
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function declaredPlugin({ name, version, declared }: UsedPlugin): NonNullable<DeclaredManifest["plugins"]>[number] {
  return { name, version, config: declared };
}

function declaredKey({ name, scope, version, merge }: StateKeyFacts): NonNullable<DeclaredManifest["state"]>[number] {
  return { name, scope, version, merge };
}

/** Only what we know the meaning of: a foreign description may hold anything. The order of a list means nothing. */
function described({ provider, model, ...said }: ModelDescription): ModelDescription {
  const { prices, accepts, toolCalls, structuredOutput, contextWindow, maxOutputTokens } = said;
  return {
    provider,
    model,
    ...present({ toolCalls, structuredOutput, contextWindow, maxOutputTokens }),
    ...(prices ? { prices: describedPrices(prices) } : {}),
    ...(accepts ? { accepts: modalities.filter((each) => accepts.includes(each)) } : {}),
  };
}

function describedPrices(prices: ModelPrices): ModelPrices {
  const { inputPerMillion, outputPerMillion, cacheReadPerMillion, cacheWritePerMillion } = prices;
  return { inputPerMillion, outputPerMillion, ...present({ cacheReadPerMillion, cacheWritePerMillion }) };
}
