/**
 * Policy: one place that says what an agent may do, stage by stage. It is asked like a plugin, before all others, and like
 * any of them it never fails open: what a stage throws at does not go on.
 *
 * V1 Only a plain "allow" lets something through.
 * V2 What is asked at the start, or before a model call, is answered before anything else begins; a no ends the run.
 * V3 A result that is denied is read by nobody: the model, watchers and sinks see that it was denied, and why.
 */
import type { ApprovalTerms } from "./approval.ts";
import { termsProblems } from "./approval.ts";
import type { Command } from "./command.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { messageOf } from "./json.ts";
import {
  type CallPhaseView,
  type ConfiguredPlugin,
  type DecisionView,
  type PhaseView,
  type PluginInstance,
  type PolicyVerdict,
  plugin,
  type PolicyStage as Stage,
} from "./plugin.ts";
import { isFunction, Problems, shown } from "./problems.ts";
import { toolNamePattern } from "./tool.ts";

/** Stages that are left out allow what the agent's definition exposes. */
export interface PolicyStages {
  readonly "run-start"?: Stage<PhaseView>;
  readonly "model-call"?: Stage<PhaseView>;
  readonly "tool-call"?: Stage<CallPhaseView>;
  readonly "tool-result"?: Stage<CallPhaseView>;
}

export interface PolicyOptions extends PolicyStages {
  readonly name: string;
  /** Change it when the code's meaning changes: code without a new version is invisible to the fingerprint. */
  readonly version?: string;
}

export interface Policy {
  readonly name: string;
  readonly version: string;
  readonly stages: PolicyStages;
}

const stageNames = ["run-start", "model-call", "tool-call", "tool-result"] as const;

export function policy(options: PolicyOptions): Policy {
  const problems = new Problems(options, ["name", "version", ...stageNames]);
  problems.check(
    "name",
    (name) => typeof name === "string" && toolNamePattern.test(name),
    `must match ${toolNamePattern}`,
  );
  problems.optional("version", (text) => typeof text === "string" && text !== "", "must be a non-empty string");
  for (const stage of stageNames) problems.optional(stage, isFunction, "must be a function of the view");
  if (stageNames.every((stage) => options?.[stage] === undefined))
    problems.add(`one of ${stageNames.join(", ")} must be given`);
  problems.refuse("invalid-policy", `Policy ${shown(options?.name)} cannot be defined`);
  const { name, version = "1", ...stages } = options;
  return { name, version, stages };
}

export function isPolicy(value: unknown): value is Policy {
  const { name, stages } = (value ?? {}) as Partial<Policy>;
  return typeof name === "string" && typeof stages === "object" && stages !== null;
}

/** The plugin that asks it. */
export function asPlugin({ name, version, stages }: Policy): ConfiguredPlugin {
  return plugin({ name: `policy-${name}`.slice(0, 64), version, create: () => instanceOf(name, stages) })();
}

function instanceOf(name: string, stages: PolicyStages): PluginInstance {
  const { "run-start": start, "model-call": model, "tool-call": call, "tool-result": result } = stages;
  const decide =
    <View>(stage: Stage<View>, lower: Lower) =>
    (view: View): Said =>
      later(stage(view), (verdict) => lower(verdict, name));
  return {
    hooks: {
      ...(start ? { "before-run": decide(start, (verdict) => ofRun(verdict, "run-start")) } : {}),
      ...(model ? { "before-model": decide(model, (verdict) => ofRun(verdict, "model-call")) } : {}),
      ...(call ? { "tool-gate": decide(call, ofCall) } : {}),
      ...(result ? { "after-tool": decide(result, ofResult) } : {}),
      ...(start || model ? { "on-decision": (view: DecisionView) => afterAnswer(view, name) } : {}),
    },
  };
}

type Said = Command | undefined | Promise<Command | undefined>;
type Lower = (verdict: PolicyVerdict, name: string) => Command | undefined;

function later(
  verdict: PolicyVerdict | Promise<PolicyVerdict>,
  lower: (verdict: PolicyVerdict) => Command | undefined,
): Said {
  return verdict instanceof Promise ? verdict.then(lower) : lower(verdict);
}

/** V2. */
function ofRun(verdict: PolicyVerdict, stage: "run-start" | "model-call"): Command | undefined {
  if (verdict === "allow") return undefined;
  const { deny, ask, modify } = read(verdict);
  if (deny !== undefined) return { type: "stop", code: deny.code, detail: deny.text, outcome: "blocked" };
  if (ask !== undefined) return { type: "open-ticket", kind: "approval", name: stage, ...ask };
  if (stage === "run-start") throw new TypeError("modify is no verdict at run-start");
  if (typeof modify !== "object" || modify === null || Array.isArray(modify))
    throw new TypeError("modify must be settings");
  return { type: "patch-request", settings: modify as JsonObject };
}

export function ofCall(verdict: PolicyVerdict): Command | undefined {
  if (verdict === "allow") return undefined;
  const { deny, ask, modify } = read(verdict);
  if (deny !== undefined) return { type: "deny", reason: deny.text, ...(deny.stop ? { stop: true } : {}) };
  if (ask !== undefined) return { type: "ask", ...ask };
  return { type: "patch-input", input: modify as JsonValue };
}

/** V3. */
function ofResult(verdict: PolicyVerdict): Command | undefined {
  if (verdict === "allow") return undefined;
  const { deny, ask, modify } = read(verdict);
  if (deny !== undefined) return { type: "rewrite-result", error: `The result is withheld: ${deny.text}` };
  if (ask !== undefined) throw new TypeError("ask is no verdict on a tool-result");
  return { type: "rewrite-result", value: modify as JsonValue };
}

interface Read {
  readonly deny?: { readonly text: string; readonly code: string; readonly stop: boolean };
  readonly ask?: { readonly prompt: string; readonly terms?: ApprovalTerms };
  readonly modify?: JsonValue;
}

/** V1. */
function read(verdict: PolicyVerdict): Read {
  if (typeof verdict === "object" && verdict !== null) {
    if ("deny" in verdict) return { deny: denial(verdict) };
    if ("ask" in verdict) return { ask: { prompt: verdict.ask, ...terms(verdict.terms) } };
    if ("modify" in verdict) return { modify: verdict.modify };
  }
  throw new TypeError(`a policy answers allow, deny, ask or modify, not ${messageOf(verdict)}`);
}

function denial({
  deny,
  code = "policy.denied",
  stop = false,
}: Extract<PolicyVerdict, { deny: string }>): NonNullable<Read["deny"]> {
  return { text: `${code}: ${deny}`, code, stop };
}

function terms(given: ApprovalTerms | undefined): { readonly terms?: ApprovalTerms } {
  if (given === undefined) return {};
  termsProblems(given).refuse("invalid-policy", "The terms of an ask do not fit");
  return { terms: given };
}

/** V2: only a plain approval lets the run go on. */
function afterAnswer({ ticket, decision, by }: DecisionView, name: string): Command | undefined {
  if (ticket.plugin !== `policy-${name}`.slice(0, 64) || ticket.call !== undefined) return undefined;
  const isYes = decision.kind === "approve" || (decision.kind === "expired" && decision.counts === "approve");
  if (isYes) return undefined;
  const why = decision.kind === "reject" ? decision.reason : "nobody answered in time";
  return { type: "stop", code: "policy.rejected", detail: `policy.rejected by ${by}: ${why}`, outcome: "blocked" };
}
