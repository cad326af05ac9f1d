/** Which agents this process has: a list that it was given, or whatever its resolver knows. */
import type { Agent } from "../domain/agent.ts";
import type { Manifest } from "../domain/declared-manifest.ts";
import { HoldfastError } from "../domain/errors.ts";
import type { Fingerprint, RunId, Scope } from "../domain/ids.ts";
import { manifestOf } from "../domain/manifest.ts";
import { isSame } from "../domain/manifest-diff.ts";
import type { RunToBind } from "../engine/deps.ts";
import type { Hash } from "../ports/hash.ts";
import type { AgentCode } from "./bind-agent.ts";
import type { FindModel } from "./routed-models.ts";

export interface AgentDirectory {
  /** Names of agents whose runs are executed here. */
  names(): readonly string[];
  /** The agent that a run is to be started with; refused by name when it is not here. */
  toStart(asked: AskedAgent): Promise<Startable>;
  /** The agent that takes a run up, or why none does. */
  toBind(run: RunToBind): Promise<Found>;
}

export interface AskedAgent {
  /** Itself, or its name: `support` or `support@2`. */
  readonly agent: Agent<unknown> | string;
  readonly run: RunId;
  readonly scope: Scope;
}

export interface Startable {
  readonly agent: Agent<unknown>;
  readonly manifest: Manifest;
}

export interface Known {
  readonly code: AgentCode;
  readonly fingerprint: Fingerprint;
}

export type Found =
  | (FoundFacts & { readonly kind: "found"; readonly known: Known })
  | (FoundFacts & { readonly kind: "missing"; readonly why: string });

interface FoundFacts {
  /** When to ask again for what is missing; else someone has to say so. */
  readonly againMs?: number;
}

/** As the ticket of a run says it that no worker has the agent of. */
export function missingAgent(agent: string): string {
  return `No worker has agent ${agent}; start one that does, or cancel the run`;
}

function missingDelegate(agent: string, under: readonly string[]): string {
  return `No worker has agent ${agent} as it was lent by ${under.join(", ") || "nobody"}; start one that does, or cancel the run`;
}

export interface Looking {
  readonly hash: Hash;
  readonly findModel: FindModel;
}

/** Agents in the order in which they were given; of one name the last counts, unless a run or a start asks for another. */
export function listedAgents(known: readonly Known[], { hash, findModel }: Looking): AgentDirectory {
  const names = [...new Set(known.map(({ code }) => code.name))];
  const started = known.filter(({ code }) => !code.declared.under); // what is lent is started by its parent only
  const labels = started.map(({ code }) => `${code.name}@${code.declared.version}`).join(", ");

  function named(text: string): Startable {
    const { name, version } = readRef(text);
    const found = started.findLast(
      ({ code }) => code.name === name && (version === undefined || code.declared.version === version),
    );
    if (found) return { agent: found.code.agent, manifest: { ...found, declared: found.code.declared } };
    const have = labels === "" ? "none; pass the agent itself, or give createRuntime agents or a resolver" : labels;
    throw new HoldfastError("unknown-agent", `Agent ${text} is not one of this runtime's: ${have}`, {
      details: { agent: name, ...(version === undefined ? {} : { version }) },
    });
  }

  /** What this process runs is exactly what it was given: a start that means something else would run something else. */
  function given(asked: Agent<unknown>, run: RunId): Startable {
    const agent = findModel(asked, run);
    const own = [...new Set(started.map(({ code }) => code.name))];
    if (known.length > 0 && !own.includes(agent.name)) {
      throw new HoldfastError("unknown-agent", `Agent ${agent.name} is not one of this runtime's: ${own.join(", ")}`);
    }
    const manifest = manifestOf(agent, hash);
    const { fingerprint } = manifest;
    if (known.length === 0 || known.some((each) => each.fingerprint === fingerprint)) return { agent, manifest };
    const { name, version } = agent;
    throw new HoldfastError(
      "unknown-agent",
      `Agent ${name}@${version} is not what this runtime has: ${labels}; start one of those, or give createRuntime this one too`,
      { details: { agent: name, version, fingerprint } },
    );
  }

  return {
    names: () => names,
    toStart: async ({ agent, run }) => (typeof agent === "string" ? named(agent) : given(agent, run)),
    async toBind({ agent, fingerprint, declared }) {
      const named = known.filter(({ code }) => code.name === agent);
      if (named.length === 0) return { kind: "missing", why: missingAgent(agent) };
      const same = named.find((each) => each.fingerprint === fingerprint);
      if (same) return { kind: "found", known: same };
      const { version, under = [] } = await declared();
      const candidates = named.filter(({ code }) => isSame(code.declared.under ?? [], under)); // G3
      const last = candidates.at(-1);
      if (!last) return { kind: "missing", why: missingDelegate(agent, under) };
      const chosen = candidates.findLast(({ code }) => code.declared.version === version);
      return { kind: "found", known: chosen ?? last };
    },
  };
}

/** Names have no @, so it can be read in one way only. */
export function readRef(text: string): { readonly name: string; readonly version?: string } {
  const at = text.indexOf("@");
  return at < 0 ? { name: text } : { name: text.slice(0, at), version: text.slice(at + 1) };
}

/** As far as it is looked at before its manifest is. */
export function isAgent(value: unknown): value is Agent<unknown> {
  const { name, tools, sinks } = (value ?? {}) as Partial<Agent<unknown>>;
  return typeof name === "string" && Array.isArray(tools) && Array.isArray(sinks);
}

export function noAgent(verb: string): HoldfastError {
  return new HoldfastError("invalid-agent", `${verb} takes an agent made by agent({ … })`);
}

/** The name of what was asked for, by itself or by name. */
export function nameOf(asked: Agent<unknown> | string, verb: string): string {
  if (typeof asked === "string") return readRef(asked).name;
  if (!isAgent(asked)) throw noAgent(verb);
  return asked.name;
}
