/**
 * An agent as a run was started with it: what the stored manifest declares, bound to the code that is here.
 *
 * N1 What the model is shown and what limits the run is data, and comes from the manifest alone.
 * N2 Code is bound by name@version. What is not here is named, all of it, and nothing stands in for it.
 */
import type { Agent, Delegate } from "./agent.ts";
import { type UsedPlugin, usePlugins } from "./agent-plugins.ts";
import type { DeclaredBackend } from "./backend/endpoint.ts";
import type { DeclaredDelegate, DeclaredManifest } from "./declared-manifest.ts";
import type { AgentHistory } from "./history.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { declaredBy } from "./manifest.ts";
import { isSame } from "./manifest-diff.ts";
import type { AgentOutput } from "./output.ts";
import { hasCode } from "./plugin-config.ts";
import { policyOf } from "./policy.ts";
import { Problems } from "./problems.ts";
import type { StandardSchema } from "./standard-schema.ts";
import type { StateKeyFacts } from "./state-key.ts";
import type { Tool, ToolSpec } from "./tool.ts";

export type SchemaMaker = (schema: JsonObject) => StandardSchema;

/** A backend that a manifest declares and the agent at hand does not have; undefined when nobody here can build it. */
export type BackendMaker = (declared: DeclaredBackend) => DeclaredBackend | undefined;

export interface Making {
  readonly schemaOf: SchemaMaker;
  readonly backendOf: BackendMaker;
}

export interface Restored {
  readonly agent: Agent<unknown>;
  /** In words; nothing of the agent may be used unless this is empty. */
  readonly missing: readonly string[];
}

export function restoreAgent(agent: Agent<unknown>, declared: DeclaredManifest, by: Making): Restored {
  const missing: string[] = [];
  const { provider, model } = agent.model.description;
  if (provider !== declared.model.provider || model !== declared.model.model) {
    missing.push(`model ${declared.model.provider}/${declared.model.model}`);
  }
  const { kind } = declared.instructions;
  if (kind === "function" && typeof agent.instructions !== "function") missing.push("the instructions function");
  const plugins = restorePlugins(agent, declared, missing);
  const pool = [...plugins.tools, ...agent.tools];
  const tools = declared.tools.flatMap((spec) => restoreTool(spec, pool, missing));
  const keys = [...plugins.keys, ...agent.stateKeys];
  const { output: _output, history: _history, backend: _backend, adapt: _adapt, under: _under, ...rest } = agent;
  const delegates = (declared.delegates ?? []).flatMap((each) => restoreDelegate(each, agent, { ...by, missing }));
  return {
    agent: {
      ...rest,
      version: declared.version,
      instructions: declared.instructions.kind === "text" ? declared.instructions.text : agent.instructions,
      tools,
      delegates,
      ...(declared.under ? { under: declared.under } : {}),
      plugins: plugins.used,
      stateKeys: (declared.state ?? []).flatMap(({ name }) => restoreKey(name, keys, missing)),
      ...restoreOutput(agent, declared, by.schemaOf),
      ...restoreHistory(agent, declared, missing),
      ...restoreBackend(agent, declared, { ...by, missing }),
      budget: declared.budget,
      sinks: declared.sinks ?? [],
    },
    missing,
  };
}

interface Restoring extends Making {
  readonly missing: string[];
}

/** What is below it is restored too: it is part of what the run was started with. */
function restoreDelegate(
  { name, agent, declared, budget = {}, readOnly, ephemeral, background, handoff }: DeclaredDelegate,
  source: Agent<unknown>,
  { missing, ...by }: Restoring,
): readonly Delegate[] {
  const found = source.delegates.find((each) => each.tool.spec.name === name && each.agent.name === agent);
  const tool = source.tools.find((each) => each.spec.name === name);
  if (!found || !tool) {
    missing.push(`delegate ${name}`);
    return [];
  }
  const below = restoreAgent(found.agent, { ...declared, declaredBy }, by);
  missing.push(...below.missing.map((what) => `${what} of delegate ${name}`));
  const flags = { readOnly: readOnly === true, ephemeral: ephemeral === true, background: background === true };
  const handed = handoff ? { handoff } : {};
  return [{ tool, agent: below.agent, grant: { budget, ...flags, ...handed } }];
}

/** N2. The data is the stored one; of the code only its being there is asked. */
function restoreTool(spec: ToolSpec, pool: readonly Tool[], missing: string[]): readonly Tool[] {
  const { name, version } = spec;
  const found = pool.find((each) => each.spec.name === name && each.spec.version === version);
  const lacking = found ? lacks(spec, found) : [];
  if (found && lacking.length === 0) return [{ spec, code: found.code }];
  missing.push(`tool ${name}@${version}${lacking.length > 0 ? ` with ${lacking.join(" and ")}` : ""}`);
  return [];
}

/** What the stored data says about its code, and the code at hand is not. */
function lacks(spec: ToolSpec, { code, spec: present }: Tool): readonly string[] {
  const isQuestion = spec.resume === "use-decision-as-result";
  const needed: Readonly<Record<string, boolean>> = {
    "its code": !isQuestion && !code.execute && spec.effect !== "child" && spec.effect !== "handoff",
    "an agent of its own": (spec.effect === "child") !== (present.effect === "child"),
    "a handoff": (spec.effect === "handoff") !== (present.effect === "handoff"),
    "no code": isQuestion && code.execute !== undefined,
    "an approval rule": spec.gate === "by-input" && !code.needsApproval,
    reconcile: spec.reconciles && !code.reconcile,
    [`writes in ${spec.transaction ?? "no store"}`]: spec.transaction !== present.transaction,
  };
  return Object.keys(needed).filter((what) => needed[what]);
}

function restoreKey(name: string, keys: readonly StateKeyFacts[], missing: string[]): readonly StateKeyFacts[] {
  const key = keys.find((each) => each.name === name);
  if (!key) missing.push(`state key ${name}`);
  return key ? [key] : [];
}

interface RestoredPlugins {
  readonly used: readonly UsedPlugin[];
  readonly tools: readonly Tool[];
  readonly keys: readonly StateKeyFacts[];
}

function restorePlugins(agent: Agent<unknown>, declared: DeclaredManifest, missing: string[]): RestoredPlugins {
  const used: UsedPlugin[] = [];
  const tools: Tool[] = [];
  const keys: StateKeyFacts[] = [];
  for (const { name, version, config } of declared.plugins ?? []) {
    const present = agent.plugins.find((each) => each.name === name && each.version === version);
    if (!present) missing.push(labelOf(name, version));
    else if (isSame(config, present.declared)) used.push(present);
    else if (hasCode(config))
      missing.push(`${labelOf(name, version)} with the config it had, which has code or a secret in it`);
    else {
      const problems = new Problems({}, []);
      const code = { ...present.code, requires: [] }; // the order was checked when the manifest was declared
      const again = usePlugins([{ name, version, config: config ?? undefined, code }], [], problems);
      for (const problem of problems.found)
        missing.push(`${labelOf(name, version)} with the config it had (${problem})`);
      used.push(...again.plugins);
      tools.push(...(again.tools as readonly Tool[]));
      keys.push(...again.stateKeys);
    }
  }
  return { used, tools, keys };
}

function restoreHistory(
  { history }: Agent<unknown>,
  { history: spec }: DeclaredManifest,
  missing: string[],
): { readonly history?: AgentHistory } {
  if (!spec) return {};
  const wanted = spec.compact?.model;
  if (!wanted) return { history: { spec } };
  const found = history?.summariser;
  if (found && found.description.provider === wanted.provider && found.description.model === wanted.model) {
    return { history: { spec, summariser: found } };
  }
  missing.push(`model ${wanted.provider}/${wanted.model}, which summarises`);
  return { history: { spec } };
}

/** What opens doors is not stored: an endpoint with a login comes from the agent at hand, or not at all. */
function restoreBackend(
  { backend }: Agent<unknown>,
  { backend: declared }: DeclaredManifest,
  { backendOf, missing }: Making & { readonly missing: string[] },
): Pick<Agent, "backend" | "adapt"> {
  if (!declared) return {};
  const { name, endpoint, adapt } = declared;
  const isPresent = backend?.name === name && isSame(json(backend.endpoint), json(endpoint));
  const found = isPresent ? backend : endpoint.auth ? undefined : backendOf(declared);
  if (found) return { backend: found, adapt };
  missing.push(`backend ${name} at ${endpoint.baseUrl}${endpoint.auth ? ` with its ${endpoint.auth.type} login` : ""}`);
  return {};
}

function json(value: object): JsonValue {
  return value as unknown as JsonValue;
}

/** A policy is called what its author called it. */
function labelOf(plugin: string, version: string): string {
  const policy = policyOf(plugin);
  return policy === undefined ? `plugin ${plugin}@${version}` : `policy ${policy}@${version}`;
}

/** A schema is data: where the code has another one by now, the stored one is checked as JSON Schema. */
function restoreOutput(
  { output }: Agent<unknown>,
  declared: DeclaredManifest,
  schemaOf: SchemaMaker,
): { readonly output?: AgentOutput } {
  if (!declared.output) return {};
  const { schema } = declared.output;
  const isPresent = output !== undefined && isSame(output.spec.schema, schema);
  return { output: { spec: declared.output, schema: isPresent ? output.schema : schemaOf(schema) } };
}
