/**
 * Agents that a resolver knows. Its code is a user's, its registry may be away: it is asked behind a deadline.
 *
 * A1 What it answers is used only if it is the agent that was asked for, and if everything that it needs is here. A start
 *    is refused before anything is written; the error carries the run's id.
 * A2 A run that goes on is never lost by it: where the resolver throws, hangs, has nothing or answers something else, the run
 *    waits on a ticket that says so, can be cancelled, and asks again by itself.
 * A3 Only agents that it names are asked for to go on; names that cannot be read leave those that were read last.
 */
import type { Agent } from "../domain/agent.ts";
import { HoldfastError } from "../domain/errors.ts";
import { messageOf } from "../domain/json.ts";
import { lentAt } from "../domain/lend-agent.ts";
import { fingerprintOf, manifestOf } from "../domain/manifest.ts";
import type { RunToBind } from "../engine/deps.ts";
import type { AgentResolver, WantedAgent } from "../ports/agent-resolver.ts";
import {
  type AgentDirectory,
  type AskedAgent,
  type Found,
  isAgent,
  type Known,
  type Looking,
  missingAgent,
  readRef,
} from "./agent-directory.ts";
import { type Asking, askResolver, createNames, patiently } from "./ask-resolver.ts";
import { bindAgent } from "./bind-agent.ts";

export interface Resolving extends Asking, Looking {
  /** After how long a run that found nothing asks again. */
  readonly againMs: number;
  /** What an agent needs that this process does not have. */
  readonly problemsOf: (agent: Agent<unknown>) => readonly string[];
}

export function resolvedAgents(resolver: AgentResolver, by: Resolving): AgentDirectory {
  const names = createNames(resolver, by.logger);
  const codes = new WeakMap<Agent<unknown>, Known>();

  function codeOf(agent: Agent<unknown>): Known {
    const known = codes.get(agent);
    if (known) return known;
    const code = bindAgent(agent);
    const made = { code, fingerprint: fingerprintOf(code.declared, by.hash) };
    codes.set(agent, made);
    return made;
  }

  async function ask(wanted: WantedAgent, signal?: AbortSignal): Promise<Agent<unknown> | undefined> {
    const answer = await askResolver(resolver, wanted, { ...by, signal });
    return answer === undefined ? undefined : checked(answer, wanted, by);
  }

  return {
    names,
    toStart: (asked) => startable(asked, by, ask),
    async toBind(run) {
      if (!names().includes(run.agent)) return { kind: "missing", why: missingAgent(run.agent) }; // A3
      const { fingerprint, scope } = run;
      const { version, under = [] } = await run.declared();
      const root = under[0]?.split("/")[0]; // what is lent is found below the agent that was started
      const own = { agent: run.agent, version, fingerprint };
      const wanted = { ...(root === undefined ? own : { agent: root }), run: run.run, scope };
      const { againMs } = by;
      try {
        const found = await patiently(() => ask(wanted, run.signal), { clock: by.clock, signal: run.signal });
        const answer = found && lentOf(found, under);
        if (answer) return { kind: "found", known: codeOf(answer), againMs };
        return { kind: "missing", why: nothing(wanted), againMs };
      } catch (cause) {
        return failed(cause, run, by);
      }
    },
  };
}

/** Made once, so that its code is bound once. */
const lent = new WeakMap<Agent<unknown>, Map<string, Agent<unknown> | undefined>>();

function lentOf(root: Agent<unknown>, under: readonly string[]): Agent<unknown> | undefined {
  if (under.length === 0) return root;
  const known = lent.get(root) ?? new Map<string, Agent<unknown> | undefined>();
  lent.set(root, known);
  const place = under.join(" ");
  if (!known.has(place)) known.set(place, lentAt(root, under));
  return known.get(place);
}

function nothing({ agent, version }: WantedAgent): string {
  const started = version === undefined ? "" : `, which was started with version ${version}`;
  return `The resolver has no agent ${agent} for this run${started}; let it find one, or cancel the run`;
}

/** A2. */
function failed(cause: unknown, { run, agent, signal }: RunToBind, { logger, againMs }: Resolving): Found {
  if (signal.aborted) throw cause; // nobody waits for it any more
  const why = messageOf(cause);
  logger.warn(`Run ${run} waits: agent ${agent} was not found; it is looked for again`, { cause: why });
  return { kind: "missing", why: `${why}. It is asked again; the run can also be cancelled`, againMs };
}

type Ask = (wanted: WantedAgent) => Promise<Agent<unknown> | undefined>;

/** A1. */
async function startable(
  asked: AskedAgent,
  { hash, findModel }: Resolving,
  ask: Ask,
): ReturnType<AgentDirectory["toStart"]> {
  const { run, scope } = asked;
  const given = typeof asked.agent === "string" ? undefined : findModel(asked.agent, run);
  const own = given ? manifestOf(given, hash).fingerprint : undefined;
  const { name, version } = given ?? readRef(asked.agent as string);
  const wanted = { agent: name, ...(version === undefined ? {} : { version }), run, scope };
  const found = await ask(own === undefined ? wanted : { ...wanted, fingerprint: own });
  const label = version === undefined ? name : `${name}@${version}`;
  const details = { ...wanted };
  if (!found) throw new HoldfastError("unknown-agent", `Run ${run}: the resolver has no agent ${label}`, { details });
  const manifest = manifestOf(found, hash);
  const isOther = own !== undefined && own !== manifest.fingerprint;
  if (isOther || (version !== undefined && found.version !== version)) {
    const what = `Run ${run}: the resolver answers ${found.name}@${found.version} as it is there for ${label}`;
    throw new HoldfastError("unknown-agent", `${what}; start what it has, by name, or let it have this one`, {
      details,
    });
  }
  return { agent: found, manifest };
}

/** A1. */
function checked(answered: unknown, { agent, run }: WantedAgent, by: Resolving): Agent<unknown> {
  const details = { run, agent };
  const { problemsOf, findModel } = by;
  const answer = isAgent(answered) ? findModel(answered, run) : undefined;
  if (!answer) {
    const what = `Run ${run}: the resolver answered something for agent ${agent} that does not come from agent({ … })`;
    throw new HoldfastError("invalid-manifest", what, { details });
  }
  if (answer.name !== agent) {
    const what = `Run ${run}: the resolver answered agent ${answer.name} for agent ${agent}`;
    throw new HoldfastError("invalid-manifest", what, { details });
  }
  const problems = problemsOf(answer);
  if (problems.length === 0) return answer;
  throw new HoldfastError("invalid-manifest", `Run ${run}: agent ${agent} cannot be run here`, { details, problems });
}
