/**
 * Policy: one place that says what an agent may do, stage by stage. It is asked like a plugin, before all others, and like
 * any of them it never fails open: what a stage throws at does not go on.
 *
 * V1 Only a plain "allow" lets something through.
 * V2 What is asked at the start, before a model call or of the answer, is answered before anything else begins; a no ends
 *    the run.
 * V3 A result or an answer that is denied is read by nobody: the model, watchers and sinks see that it was denied, and why.
 *    What a stage throws is no reason that anybody is told: it may quote what it has looked at (F1 of hook-failure).
 */
import type { ApprovalTerms } from "./approval.ts";
import { termsProblems } from "./approval.ts";
import type { Command } from "./command.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { type PolicyStageName, policyStages } from "./phase.ts";
import {
  type CallPhaseView,
  type ConfiguredPlugin,
  type DecisionView,
  type OutputView,
  type PhaseView,
  type PluginInstance,
  type PolicyName,
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
  /** Calls of delegates; without it they are tool calls like any other. */
  readonly delegation?: Stage<CallPhaseView>;
  readonly "tool-result"?: Stage<CallPhaseView>;
  readonly output?: Stage<OutputView>;
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

export function policy(options: PolicyOptions): Policy {
  const problems = new Problems(options, ["name", "version", ...policyStages]);
  problems.check(
    "name",
    (name) => typeof name === "string" && toolNamePattern.test(name),
    `must match ${toolNamePattern}`,
  );
  problems.optional("version", (text) => typeof text === "string" && text !== "", "must be a non-empty string");
  for (const stage of policyStages) problems.optional(stage, isFunction, "must be a function of the view");
  if (policyStages.every((stage) => options?.[stage] === undefined))
    problems.add(`one of ${policyStages.join(", ")} must be given`);
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
  const own: PolicyName = { name, version };
  const made = plugin({ name: pluginName(own), version, create: () => instanceOf(own, stages) })();
  return { ...made, code: { ...made.code, policy: own } };
}

const prefix = "policy-";

function pluginName({ name }: PolicyName): string {
  return `${prefix}${name}`.slice(0, 64);
}

/** The policy that a plugin of a manifest asks; undefined of any other plugin. */
export function policyOf(plugin: string): string | undefined {
  return plugin.startsWith(prefix) ? plugin.slice(prefix.length) : undefined;
}

function instanceOf(own: PolicyName, stages: PolicyStages): PluginInstance {
  const { "run-start": start, "model-call": model, "tool-result": result, output } = stages;
  const gate = gateOf(stages);
  return {
    hooks: {
      ...(start ? { "before-run": decide(start, (verdict) => ofRun(verdict, "run-start")) } : {}),
      ...(model ? { "before-model": decide(model, (verdict) => ofRun(verdict, "model-call")) } : {}),
      ...(gate ? { "tool-gate": gate } : {}),
      ...(result ? { "after-tool": decide(result, ofResult) } : {}),
      ...(output ? { "output-gate": decide(output, ofOutput) } : {}),
      ...(start || model || output ? { "on-decision": (view: DecisionView) => afterAnswer(view, own) } : {}),
    },
  };
}

/** A delegate's call is ruled by its own stage, where there is one. */
function gateOf({ "tool-call": call, delegation }: PolicyStages): ((view: CallPhaseView) => Answered) | undefined {
  const plain = call && decide(call, ofCall);
  if (!delegation) return plain;
  const lent = decide(delegation, ofCall);
  return (view) => (view.call.delegate === undefined ? plain?.(view) : lent(view));
}

type Answered = Said | Promise<Said>;
type Said = Command | undefined;
type Lower<View> = (verdict: PolicyVerdict, view: View) => Said;

function decide<View>(stage: Stage<View>, lower: Lower<View>): (view: View) => Said | Promise<Said> {
  return (view) => {
    const verdict = stage(view);
    return verdict instanceof Promise ? verdict.then((known) => lower(known, view)) : lower(verdict, view);
  };
}

/** V2. */
function ofRun(verdict: PolicyVerdict, stage: "run-start" | "model-call"): Said {
  if (verdict === "allow") return undefined;
  const { deny, ask, modify } = read(verdict);
  if (deny !== undefined) return stopping(deny);
  if (ask !== undefined) return asking(ask, stage);
  if (stage === "run-start") throw new VerdictProblem("policy modification is not valid for runtime start");
  if (typeof modify !== "object" || modify === null || Array.isArray(modify))
    throw new VerdictProblem("modify must be settings");
  return { type: "patch-request", settings: modify as JsonObject };
}

function stopping({ code, text }: Denial): Command {
  return { type: "stop", code, detail: text, outcome: "blocked" };
}

function asking(ask: NonNullable<Read["ask"]>, stage: PolicyStageName): Command {
  return { type: "open-ticket", kind: "approval", name: stage, ...ask };
}

export function ofCall(verdict: PolicyVerdict): Said {
  if (verdict === "allow") return undefined;
  const { deny, ask, modify } = read(verdict);
  if (deny !== undefined) {
    return { type: "deny", reason: deny.text, code: deny.code, ...(deny.stop ? { stop: true } : {}) };
  }
  if (ask !== undefined) return { type: "ask", ...ask };
  return { type: "patch-input", input: modify as JsonValue };
}

/** V3. */
function ofResult(verdict: PolicyVerdict): Said {
  if (verdict === "allow") return undefined;
  const { deny, ask, modify } = read(verdict);
  if (deny !== undefined) {
    return { type: "rewrite-result", error: `The result is withheld: ${deny.text}`, code: deny.code };
  }
  if (ask !== undefined) throw new VerdictProblem("ask is no verdict on a tool-result");
  return { type: "rewrite-result", value: modify as JsonValue };
}

/** V2, V3. */
function ofOutput(verdict: PolicyVerdict, { output }: OutputView): Said {
  if (verdict === "allow") return undefined;
  const { deny, ask, modify } = read(verdict);
  if (deny !== undefined) return stopping(deny);
  if (ask !== undefined) return asking(ask, "output");
  if (output.value !== undefined) return { type: "rewrite-output", text: JSON.stringify(modify) };
  if (typeof modify !== "string") throw new VerdictProblem("modify must be the text to say instead");
  return { type: "rewrite-output", text: modify };
}

interface Denial {
  readonly text: string;
  readonly code: string;
  readonly stop: boolean;
}

interface Read {
  readonly deny?: Denial;
  readonly ask?: { readonly prompt: string; readonly terms?: ApprovalTerms };
  readonly modify?: JsonValue;
}

/** A verdict that means nothing, in words that quote nothing of what it was made of. */
export class VerdictProblem extends TypeError {}

/** V1. */
function read(verdict: PolicyVerdict): Read {
  if (typeof verdict === "object" && verdict !== null) {
    if ("deny" in verdict) return { deny: denial(verdict) };
    if ("ask" in verdict) return { ask: question(verdict) };
    if ("modify" in verdict) return { modify: verdict.modify };
  }
  throw new VerdictProblem(
    `a policy answers allow, deny, ask or modify, not ${verdict === null ? "null" : typeof verdict}`,
  );
}

function denial({ deny, code = "policy.denied", stop = false }: Extract<PolicyVerdict, { deny: string }>): Denial {
  if (typeof deny !== "string" || typeof code !== "string") throw new VerdictProblem("deny and code must be text");
  return { text: `${code}: ${deny}`, code, stop };
}

function question({ ask, terms: given }: Extract<PolicyVerdict, { ask: string }>): NonNullable<Read["ask"]> {
  if (typeof ask !== "string" || ask === "") throw new VerdictProblem("ask must say what is asked");
  return { prompt: ask, ...terms(given) };
}

function terms(given: ApprovalTerms | undefined): { readonly terms?: ApprovalTerms } {
  if (given === undefined) return {};
  termsProblems(given).refuse("invalid-policy", "The terms of an ask do not fit");
  return { terms: given };
}

/** V2: only a plain approval lets the run go on. */
function afterAnswer({ ticket, decision, by }: DecisionView, own: PolicyName): Said {
  if (ticket.plugin !== pluginName(own) || ticket.call !== undefined) return undefined;
  const isYes = decision.kind === "approve" || (decision.kind === "expired" && decision.counts === "approve");
  if (isYes) return undefined;
  if (decision.kind === "expired") return refusal("policy.expired", "nobody answered in time");
  return refusal("policy.rejected", `by ${by}: ${decision.kind === "reject" ? decision.reason : decision.kind}`);
}

function refusal(code: string, why: string): Command {
  return { type: "stop", code, detail: `${code}: ${why}`, outcome: "blocked" };
}
