/** An agent's code behind the ports the engine calls: its model, and its tools as a ToolRunner. */
import type { Agent, Delegate, OnUpgrade } from "../domain/agent.ts";
import { answerToolFor } from "../domain/answer-tool.ts";
import { bareText } from "../domain/backend/backend-error.ts";
import { fullCapabilities } from "../domain/backend/capabilities.ts";
import type { DeclaredBackend } from "../domain/backend/endpoint.ts";
import { durableDelegate, ephemeralDelegate, negotiate, refusalOf } from "../domain/backend/negotiate.ts";
import { checkCandidate } from "../domain/candidate.ts";
import type { DeclaredManifest } from "../domain/declared-manifest.ts";
import type { Verdict } from "../domain/entry.ts";
import { HoldfastError, ToolFailure } from "../domain/errors.ts";
import { defaultHistory } from "../domain/history.ts";
import { carries, type JsonValue, messageOf, shortened } from "../domain/json.ts";
import { heightOf, lendAgent } from "../domain/lend-agent.ts";
import { declare, declaredTools } from "../domain/manifest.ts";
import type { AgentOutput } from "../domain/output.ts";
import { type Making, restoreAgent } from "../domain/restore-agent.ts";
import { type SchemaResult, showIssues } from "../domain/standard-schema.ts";
import type { Tool, ToolSpec } from "../domain/tool.ts";
import type { BoundDelegate } from "../engine/bound-delegate.ts";
import type { BoundAgent, BoundOutput } from "../engine/deps.ts";
import { isAwaitable } from "../engine/whenever.ts";
import type { ConfiguredBackend, RemoteBackend } from "../ports/backend.ts";
import type { Model } from "../ports/provider.ts";
import type { JudgedCall, ToolRunner } from "../ports/tool-runner.ts";
import { createPluginRunner } from "./bind-plugins.ts";

/** An agent's code, with what it declares. */
export interface AgentCode extends BoundAgent {
  /** What it was made from. */
  readonly agent: Agent<unknown>;
  readonly declared: DeclaredManifest;
  readonly onUpgrade: OnUpgrade;
  /** The same code under a manifest of another day, and what of it is not here. */
  readonly pin: (declared: DeclaredManifest, by: Making) => Pinned;
}

export interface Pinned {
  readonly agent: BoundAgent;
  readonly missing: readonly string[];
}

export function bindAgent(agent: Agent<unknown>): AgentCode {
  return {
    ...boundParts(agent),
    agent,
    declared: declare(agent),
    onUpgrade: agent.onUpgrade,
    pin(declared, by) {
      const restored = restoreAgent(agent, declared, by);
      const model = agent.model as Model;
      const described: Model = { description: declared.model, call: (request, signal) => model.call(request, signal) };
      return { agent: { ...boundParts(restored.agent), model: described }, missing: restored.missing };
    },
  };
}

function boundParts(agent: Agent<unknown>): BoundAgent {
  const { instructions, output, history } = agent;
  return {
    name: agent.name,
    provider: agent.provider,
    model: agent.model as Model,
    tools: createToolRunner(agent.tools),
    plugins: createPluginRunner(agent),
    ...(output ? { output: boundOutput(output) } : {}),
    shown: declaredTools(agent).map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    instructions: typeof instructions === "function" ? instructions : () => instructions,
    ...(typeof instructions === "string" ? { written: instructions } : {}),
    history: history?.spec ?? defaultHistory,
    ...(history?.summariser ? { summariser: history.summariser as Model } : {}),
    ...boundRemote(agent),
    delegates: new Map(agent.delegates.map((each) => [each.tool.spec.name, boundDelegate(agent, each)])),
  };
}

/** Made when it is first needed: most runs delegate nothing. */
function boundDelegate(parent: Agent<unknown>, lent: Delegate): BoundDelegate {
  const { tool, agent, grant } = lent;
  let made: DeclaredManifest | undefined;
  return {
    agent: agent.name,
    ephemeral: grant.ephemeral,
    background: grant.background,
    height: heightOf(lent),
    ...refusedDelegate(lent),
    manifest: () => {
      made ??= declare(lendAgent(parent, tool.spec.name) ?? agent);
      return made;
    },
  };
}

/** What a delegate needs of its backend is known before anything of it happens. */
function refusedDelegate({ agent, grant }: Delegate): Pick<BoundDelegate, "refusal"> {
  const { remote } = boundRemote(agent);
  const policy = grant.ephemeral ? ephemeralDelegate : durableDelegate;
  const negotiated = negotiate({ for: "delegate", policy }, remote?.backend.capabilities ?? fullCapabilities);
  const refusal = refusalOf(agent.name, negotiated);
  return refusal ? { refusal: bareText(refusal) } : {};
}

const built = new WeakMap<DeclaredBackend, RemoteBackend>();

/** A backend is built once, whoever binds it; one that cannot be built is refused before anything is written. */
function boundRemote({ backend, adapt = [] }: Agent<unknown>): Pick<BoundAgent, "remote"> {
  if (!backend) return {};
  const found = built.get(backend) ?? build(backend as ConfiguredBackend);
  built.set(backend, found);
  return { remote: { backend: found, timeoutMs: backend.endpoint.timeoutMs, adapt } };
}

function build(backend: ConfiguredBackend): RemoteBackend {
  try {
    return backend.build();
  } catch (cause) {
    const what = `failed to build backend '${backend.name}': ${messageOf(cause)}`;
    throw new HoldfastError("invalid-backend", what, { cause });
  }
}

function boundOutput({ spec, schema }: AgentOutput): BoundOutput {
  const tool = spec.mode === "tool" ? { tool: answerToolFor(spec.schema) } : {};
  return { spec, ...tool, check: (candidate, isHeldBack) => checkCandidate({ schema, spec, isHeldBack }, candidate) };
}

export function createToolRunner(tools: readonly Tool[]): ToolRunner {
  const byName = new Map(tools.map((tool) => [tool.spec.name, tool]));

  function parse(tool: Tool, input: JsonValue): SchemaResult<unknown> | Promise<SchemaResult<unknown>> {
    return tool.code.schema["~standard"].validate(input);
  }

  function find(name: string): Tool {
    const tool = byName.get(name);
    if (!tool) throw new ToolFailure(`There is no tool ${name}`);
    return tool;
  }

  async function parsed(tool: Tool, input: JsonValue): Promise<unknown> {
    const result = await parse(tool, input);
    if (result.issues) throw new ToolFailure(`The input does not fit any more: ${showIssues(result.issues)}`);
    return result.value;
  }

  return {
    spec: (name) => byName.get(name)?.spec,
    judge(call) {
      const tool = byName.get(call.tool);
      if (!tool) return unknownTool(call.tool, [...byName.keys()]);
      try {
        return whenKnown(parse(tool, call.input), (result) => gate(tool, call, result));
      } catch (cause) {
        return brokenCheck(cause);
      }
    },
    async execute(name, input, context) {
      const tool = find(name);
      if (!tool.code.execute) throw new ToolFailure(`Tool ${name} has no code here any more; this attempt ran nothing`);
      const value = await parsed(tool, input);
      return tool.code.execute(value, context);
    },
    apply: (name, { tx, prepared, context }) => find(name).code.apply?.(tx, prepared, context),
    async reconcile(name, key, input) {
      const tool = find(name);
      const value = await parsed(tool, input);
      return (await tool.code.reconcile?.(key, value)) ?? { status: "unknown" };
    },
  };
}

function gate(tool: Tool, call: JudgedCall, result: SchemaResult<unknown>): Verdict | Promise<Verdict> {
  if (!result.issues && !carries(result, "value")) throw new TypeError("The schema gave neither a value nor issues");
  if (result.issues) {
    return { kind: "refuse", code: "invalid-input", message: shortened(showIssues(result.issues)) };
  }
  if (call.edited) return { kind: "allow" }; // an edit itself answers the ask
  const { spec, code } = tool;
  if (spec.effect === "child" || spec.effect === "handoff") return { kind: "allow" };
  if (!code.execute) return ask("input", `Answer ${spec.name}`);
  if (spec.resume === "pass-decision-to-tool" && spec.gate === "never") return ask("input", `Answer for ${spec.name}`);
  if (spec.gate === "always") return askApproval(spec);
  if (spec.gate === "never" || !code.needsApproval) return { kind: "allow" };
  return whenKnown(code.needsApproval(result.value), (yes) => verdict(yes, spec));
}

/** Goes on at once with a plain value; with anything that can be awaited, later. */
function whenKnown<T>(
  value: T | PromiseLike<T>,
  next: (value: T) => Verdict | Promise<Verdict>,
): Verdict | Promise<Verdict> {
  return isAwaitable(value) ? later(Promise.resolve(value).then(next)) : next(value);
}

function verdict(needed: unknown, spec: ToolSpec): Verdict {
  const { name: tool } = spec;
  if (needed === true) return askApproval(spec);
  if (needed === false) return { kind: "allow" };
  // Only a plain "no" lets a call through unattended.
  return brokenCheck(new TypeError(`needsApproval of ${tool} answered ${messageOf(needed)} instead of true or false`));
}

function askApproval({ name, approval }: ToolSpec): Verdict {
  return { kind: "ask", ticket: "approval", prompt: `Run ${name}?`, ...(approval ? { terms: approval } : {}) };
}

function ask(ticket: "input", prompt: string): Verdict {
  return { kind: "ask", ticket, prompt };
}

/** A check that throws never lets a call through. */
function later(verdict: Promise<Verdict>): Promise<Verdict> {
  return verdict.catch(brokenCheck);
}

function brokenCheck(cause: unknown): Verdict {
  return { kind: "refuse", code: "tool-failed", message: `Checking the call threw: ${messageOf(cause)}` };
}

function unknownTool(name: string, known: readonly string[]): Verdict {
  const list = known.length > 0 ? `; the tools are ${known.join(", ")}` : "; this agent has no tools";
  return { kind: "refuse", code: "unknown-tool", message: `There is no tool ${name}${list}` };
}
