/** An agent's plugins behind the port the engine calls: an instance of each per run, and a policy as a hook of the gate. */
import type { Agent } from "../domain/agent.ts";
import type { UsedPlugin } from "../domain/agent-plugins.ts";
import { HoldfastError } from "../domain/errors.ts";
import { messageOf } from "../domain/json.ts";
import { isPhase, type Phase, phases } from "../domain/phase.ts";
import type { CallPhaseView, PhaseView, PluginInstance, PluginRun } from "../domain/plugin.ts";
import { ofCall } from "../domain/policy.ts";
import { isFunction, Problems } from "../domain/problems.ts";
import { whenKnown } from "../engine/whenever.ts";
import type { AnyHook, OpenPlugin, PluginRunner } from "../ports/plugin-runner.ts";

export function createPluginRunner({ plugins, stateKeys }: Agent<unknown>): PluginRunner {
  return {
    keys: new Map(stateKeys.map((key) => [key.name, key])),
    context: plugins.flatMap(({ name, context }) => context.map((message) => ({ plugin: name, message }))),
    open: (run) => plugins.map((plugin) => openPlugin(plugin, run)),
  };
}

function openPlugin(plugin: UsedPlugin, run: PluginRun): OpenPlugin {
  const { name, config, code } = plugin;
  const instance = create(plugin, run);
  const { transform } = instance;
  return {
    name,
    config,
    writes: new Set(code.state.map((key) => key.name)),
    hooks: hooksOf(instance),
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

function create({ name, config, code }: UsedPlugin, run: PluginRun): PluginInstance {
  let instance: PluginInstance;
  try {
    instance = code.create(config, run);
  } catch (cause) {
    throw new HoldfastError("plugin-failed", `Plugin ${name} could not be created: ${messageOf(cause)}`, { cause });
  }
  const problems = new Problems(instance, ["hooks", "policy", "transform", "close"]);
  problems.optional("transform", isFunction, "must be a function of the request");
  problems.optional("close", isFunction, "must be a function");
  const hooks = new Problems(instance?.hooks ?? {}, phases);
  for (const phase of phases) hooks.optional(phase, isHooks, "must be a function, or a list of functions");
  problems.include("hooks", hooks);
  const policy = new Problems(instance?.policy ?? {}, ["tool-call"]);
  policy.optional("tool-call", isFunction, "must be a function of the call");
  problems.include("policy", policy);
  problems.refuse("plugin-failed", `Plugin ${name} could not be created`);
  return instance;
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
