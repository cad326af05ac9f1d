/** What an agent's plugins add to it, and every problem with them: config, names, dependencies, state keys. */
import type { ContextMessage } from "./command.ts";
import { commandProblem } from "./command-shape.ts";
import { type JsonValue, messageOf } from "./json.ts";
import type { ConfiguredPlugin, PluginCode } from "./plugin.ts";
import { isFunction, type Problems } from "./problems.ts";
import { showIssues } from "./standard-schema.ts";
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

const mostContext = 256;

export function usePlugins(plugins: unknown, tools: unknown, problems: Problems): Used {
  const configured = listOf(plugins, problems);
  const used: UsedPlugin[] = [];
  const added: Tool[] = [];
  const names = new Set<string>();
  for (const [index, each] of configured.entries()) {
    const where = `plugins[${index}]`;
    if (typeof each?.name !== "string" || !each.code) {
      problems.add(
        `${where}: must come from plugin({ … }), called with its config${isFunction(each) ? ": add ()" : ""}`,
      );
      continue;
    }
    if (names.has(each.name)) problems.add(`${where}: the plugin ${each.name} is used twice`);
    for (const needed of each.code.requires) {
      if (!names.has(needed)) problems.add(`${where}: ${each.name} needs the plugin ${needed} before it in the list`);
    }
    names.add(each.name);
    const config = checkedConfig(each, where, problems);
    if (!config) continue;
    added.push(...contributed(each.code.tools, { each, where, what: "tools", config: config.value, problems }));
    const context = contributed(each.code.context, { each, where, what: "context", config: config.value, problems });
    checkContext(context, `${where} (${each.name})`, problems);
    const { name, version, code } = each;
    used.push({ name, version, code, config: config.value, declared: declaredConfig(each.config ?? null), context });
  }
  const all = Array.isArray(tools) || tools === undefined ? [...((tools ?? []) as Tool[]), ...added] : tools;
  return { plugins: used, tools: all, stateKeys: keysOf(used, all, problems) };
}

function listOf(plugins: unknown, problems: Problems): readonly (ConfiguredPlugin | undefined)[] {
  if (plugins === undefined) return [];
  if (Array.isArray(plugins)) return plugins;
  problems.add("plugins: must be a list");
  return [];
}

function checkedConfig(
  { name, config, code }: ConfiguredPlugin,
  where: string,
  problems: Problems,
): { value: unknown } | undefined {
  if (!code.config) {
    if (config === undefined) return { value: undefined };
    problems.add(`${where}: ${name} takes no config`);
    return undefined;
  }
  try {
    const result = code.config["~standard"].validate(config === undefined ? {} : config);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      problems.add(`${where}: the config schema of ${name} must be synchronous`);
    } else if (result.issues)
      problems.add(`${where}: the config of ${name} does not fit: ${showIssues(result.issues)}`);
    else return { value: result.value };
  } catch (cause) {
    problems.add(`${where}: checking the config of ${name} threw: ${messageOf(cause)}`);
  }
  return undefined;
}

interface Contribution {
  readonly each: ConfiguredPlugin;
  readonly where: string;
  readonly what: string;
  readonly config: unknown;
  readonly problems: Problems;
}

function contributed<T>(make: (config: unknown) => readonly T[], of: Contribution): readonly T[] {
  try {
    const list = make(of.config);
    if (Array.isArray(list)) return list;
    of.problems.add(`${of.where}: ${of.what} of ${of.each.name} must be a list`);
  } catch (cause) {
    of.problems.add(`${of.where}: ${of.what} of ${of.each.name} threw: ${messageOf(cause)}`);
  }
  return [];
}

function checkContext(messages: readonly ContextMessage[], where: string, problems: Problems): void {
  if (messages.length > mostContext) {
    problems.add(`${where}: ${messages.length} context messages, the limit is ${mostContext}`);
    return;
  }
  for (const [index, message] of messages.entries()) {
    const problem = commandProblem({ ...message, type: "add-context" });
    if (problem) problems.add(`${where}: context[${index}]: ${problem}`);
  }
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

const code = "(code)";

function declaredConfig(value: unknown): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : code;
  if (Array.isArray(value)) return value.map(declaredConfig);
  if (typeof value !== "object" || !isPlain(value)) return code;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, declaredConfig(field)]));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
