/** What an agent's plugins add to it, and every problem with them: config, names, dependencies, state keys. */
import type { ContextMessage } from "./command.ts";
import { commandLimits, commandProblem } from "./command-shape.ts";
import { type JsonValue, messageOf, toJson } from "./json.ts";
import type { ConfiguredPlugin, PluginCode } from "./plugin.ts";
import { checkConfig } from "./plugin-config.ts";
import { isFunction, type Problems } from "./problems.ts";
import type { StateKeyFacts } from "./state-key.ts";
import type { Tool } from "./tool.ts";

/** A plugin of one agent, with its config checked. */
export interface UsedPlugin {
  readonly name: string;
  readonly version: string;
  /** As its code gets it. */
  readonly config: unknown;
  /** As the manifest has it: functions and live objects are code, and only said to be there. */
  readonly declared: JsonValue;
  readonly context: readonly ContextMessage[];
  readonly code: PluginCode;
}

interface Used {
  readonly plugins: readonly UsedPlugin[];
  /** The agent's own and those of its plugins; whatever was given, when it was no list. */
  readonly tools: unknown;
  readonly stateKeys: readonly StateKeyFacts[];
}

export function usePlugins(plugins: unknown, tools: unknown, problems: Problems): Used {
  const own = Array.isArray(tools) || tools === undefined ? ((tools ?? []) as Tool[]) : undefined;
  const taken: Taken = { names: new Set(), tools: [...(own ?? [])], context: 0 };
  const used: UsedPlugin[] = [];
  for (const [index, each] of listOf(plugins, problems).entries()) {
    const where = `plugins[${index}]`;
    if (typeof each?.name !== "string" || !each.code) {
      problems.add(
        `${where}: must come from plugin({ … }), called with its config${isFunction(each) ? ": add ()" : ""}`,
      );
      continue;
    }
    checkNames(each, taken.names, (problem) => problems.add(`${where}: ${problem}`));
    const checked = checkConfig(each);
    if (!checked.ok) {
      problems.add(`${where}: ${checked.problem}`);
      continue;
    }
    const { config, declared } = checked;
    const of = { each, where, config, problems };
    addTools(contributed(each.code.tools, "tools", of), of, taken);
    const context = addContext(contributed(each.code.context, "context", of), of, taken);
    const { name, version, code } = each;
    used.push({ name, version, code, config, declared, context });
  }
  const all = own ? taken.tools : tools;
  return { plugins: used, tools: all, stateKeys: keysOf(used, all, problems) };
}

/** What the agent and the plugins before have already. */
interface Taken {
  readonly names: Set<string>;
  readonly tools: Tool[];
  context: number;
}

function checkNames({ name, code }: ConfiguredPlugin, names: Set<string>, add: (problem: string) => void): void {
  if (names.has(name)) add(`the plugin ${name} is used twice`);
  for (const needed of code.requires) {
    if (!names.has(needed)) add(`${name} needs the plugin ${needed} before it in the list`);
  }
  names.add(name);
}

function listOf(plugins: unknown, problems: Problems): readonly (ConfiguredPlugin | undefined)[] {
  if (plugins === undefined) return [];
  if (Array.isArray(plugins)) return plugins;
  problems.add("plugins: must be a list");
  return [];
}

interface Contribution {
  readonly each: ConfiguredPlugin;
  readonly where: string;
  readonly config: unknown;
  readonly problems: Problems;
}

function contributed<T>(make: (config: unknown) => readonly T[], what: string, of: Contribution): readonly T[] {
  const { each, where, config, problems } = of;
  try {
    const list = make(config);
    if (Array.isArray(list)) return list;
    problems.add(`${where}: ${what} of ${each.name} must be a list`);
  } catch (cause) {
    problems.add(`${where}: ${what} of ${each.name} threw: ${messageOf(cause)}`);
  }
  return [];
}

function addTools(tools: readonly (Tool | undefined)[], { each, where, problems }: Contribution, taken: Taken): void {
  for (const [index, tool] of tools.entries()) {
    const place = `${where} (${each.name}): tools[${index}]`;
    if (typeof tool?.spec?.name !== "string" || !tool.code) {
      problems.add(`${place}: must come from tool({ … })`);
    } else if (taken.tools.some((known) => known?.spec?.name === tool.spec.name)) {
      problems.add(`${place}: the name ${tool.spec.name} is used twice`);
    } else taken.tools.push(tool);
  }
}

/** Copies: what is changed later is not what was checked. A run could not hold more than this many. */
function addContext(
  messages: readonly ContextMessage[],
  { each, where, problems }: Contribution,
  taken: Taken,
): readonly ContextMessage[] {
  const place = `${where} (${each.name})`;
  taken.context += messages.length;
  if (taken.context > commandLimits.contexts) {
    problems.add(`${place}: with it ${taken.context} context messages, the limit is ${commandLimits.contexts}`);
    return [];
  }
  const copies: ContextMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const json = toJson(message);
    const problem = json.ok ? contextProblem(json.value) : `${json.problem} at ${json.path}`;
    if (problem) problems.add(`${place}: context[${index}]: ${problem}`);
    else copies.push((json as { value: unknown }).value as ContextMessage);
  }
  return copies;
}

function contextProblem(message: JsonValue): string | undefined {
  const isRecord = typeof message === "object" && message !== null && !Array.isArray(message);
  return isRecord ? commandProblem({ ...message, type: "add-context" }) : "must be a context message";
}

/** One key per name: the same object may come from many, another one of the same name from nobody. */
function keysOf(plugins: readonly UsedPlugin[], tools: unknown, problems: Problems): readonly StateKeyFacts[] {
  const keys = new Map<string, StateKeyFacts>();
  const add = (key: StateKeyFacts, by: string): void => {
    const known = keys.get(key.name);
    if (known && known !== key) problems.add(`${by}: the state key ${key.name} is defined twice`);
    keys.set(key.name, key);
  };
  for (const { name, code } of plugins) for (const key of code.state) add(key, `plugin ${name}`);
  for (const each of Array.isArray(tools) ? (tools as (Tool | undefined)[]) : []) {
    for (const key of each?.code?.writes ?? []) add(key, `tool ${each?.spec.name}`);
  }
  return [...keys.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
