/** An agent's plugins behind the port the engine calls: an instance of each per run, and a policy as a hook of the gate. */
import type { Agent } from "../domain/agent.ts";
import type { UsedPlugin } from "../domain/agent-plugins.ts";
import { HoldfastError } from "../domain/errors.ts";
import { messageOf } from "../domain/json.ts";
import { isPhase, type Phase, phases } from "../domain/phase.ts";
import type { CallPhaseView, PhaseView, PluginInstance, PluginRun } from "../domain/plugin.ts";
import { ofCall } from "../domain/policy.ts";
import { isFunction, Problems } from "../domain/problems.ts";
import { isAwaitable, whenKnown } from "../engine/whenever.ts";
import type { AnyHook, OpenPlugin, PluginRunner } from "../ports/plugin-runner.ts";

export function createPluginRunner({ plugins, stateKeys }: Agent<unknown>): PluginRunner {
  return {
    keys: new Map(stateKeys.map((key) => [key.name, key])),
    context: plugins.flatMap(({ name, context }) => context.map((message) => ({ plugin: name, message }))),
    open: (run) => openAll(plugins, run),
  };
}

/** All of them or none: those before one that cannot be created are closed again. */
function openAll(plugins: readonly UsedPlugin[], run: PluginRun): readonly OpenPlugin[] {
  const opened: OpenPlugin[] = [];
  try {
    for (const plugin of plugins) opened.push(openPlugin(plugin, run));
  } catch (cause) {
    for (const plugin of opened) plugin.close();
    throw cause;
  }
  return opened;
}

function openPlugin({ name, config, code }: UsedPlugin, run: PluginRun): OpenPlugin {
  let instance: PluginInstance;
  let problems: Problems;
  let hooks: OpenPlugin["hooks"] = new Map();
  try {
    instance = code.create(config, run);
    problems = problemsOf(instance);
    if (problems.count === 0) hooks = hooksOf(instance);
  } catch (cause) {
    throw new HoldfastError("plugin-failed", `Plugin ${name} could not be created: ${messageOf(cause)}`, { cause });
  }
  problems.refuse("plugin-failed", `Plugin ${name} could not be created`);
  const { transform } = instance;
  return {
    name,
    config,
    ...(code.policy ? { policy: code.policy } : {}),
    writes: new Set(code.state.map((key) => key.name)),
    hooks,
    ...(transform ? { transform } : {}),
    close() {
      try {
        instance.close?.();
      } catch (cause) {
        run.log(`Plugin ${name} failed in its close: ${messageOf(cause)}`);
      }
    },
  };
}

function problemsOf(instance: PluginInstance): Problems {
  const problems = new Problems(instance, ["hooks", "policy", "transform", "close"]);
  if (isAwaitable(instance)) {
    Promise.resolve(instance).catch(() => undefined);
    problems.add("create answered a promise; it must answer at once"); // or the hooks in it would never be asked
    return problems;
  }
  problems.optional("transform", isFunction, "must be a function of the request");
  problems.optional("close", isFunction, "must be a function");
  const { hooks = {}, policy = {} } = instance ?? {};
  const inHooks = new Problems(hooks, phases);
  for (const phase of phases) inHooks.optional(phase, isHooks, "must be a function, or a list of functions");
  problems.include("hooks", inHooks);
  const inPolicy = new Problems(policy, ["tool-call"]);
  inPolicy.optional("tool-call", isFunction, "must be a function of the call");
  problems.include("policy", inPolicy);
  return problems;
}

function isHooks(value: unknown): boolean {
  return isFunction(value) || (Array.isArray(value) && value.every(isFunction));
}

function hooksOf({ hooks = {}, policy }: PluginInstance): ReadonlyMap<Phase, readonly AnyHook[]> {
  const byPhase = new Map<Phase, readonly AnyHook[]>();
  for (const [phase, given] of Object.entries(hooks)) {
    if (!isPhase(phase) || given === undefined) continue;
    const list = (Array.isArray(given) ? given : [given]) as readonly AnyHook[];
    if (list.length > 0) byPhase.set(phase, list);
  }
  const judge = policy?.["tool-call"];
  if (!judge) return byPhase;
  const gate: AnyHook = (view: PhaseView) => whenKnown(judge(view as CallPhaseView), ofCall) as ReturnType<AnyHook>;
  byPhase.set("tool-gate", [gate, ...(byPhase.get("tool-gate") ?? [])]);
  return byPhase;
}
