/** Puts the parts together on ports that someone else has opened: tests wrap them to cut, delay or reorder every call. */

import { backendMaker } from "./backends/define.ts";
import { createInProcessBackend } from "./backends/in-process.ts";
import { createInMemoryBus } from "./buses/in-memory.ts";
import { keptElsewhere, type Sweep } from "./content/elsewhere.ts";
import { startCaretaker } from "./dispatchers/claiming/caretaker.ts";
import { createClaimingDispatcher } from "./dispatchers/claiming/claiming.ts";
import { createCollection } from "./dispatchers/collection.ts";
import { createOutboxRelay } from "./dispatchers/outbox/outbox-relay.ts";
import { createSinkRelay } from "./dispatchers/outbox/sink-relay.ts";
import { createRetention } from "./dispatchers/retention.ts";
import type { Agent } from "./domain/agent.ts";
import { HoldfastError } from "./domain/errors.ts";
import { defaultScope, parseId, type Scope } from "./domain/ids.ts";
import { messageOf } from "./domain/json.ts";
import { fingerprintOf } from "./domain/manifest.ts";
import { Problems } from "./domain/problems.ts";
import { type Redactor, readRedaction } from "./domain/redaction.ts";
import type { TicketRecord } from "./domain/ticket.ts";
import type { EngineDeps } from "./engine/deps.ts";
import { defaultLimits, type EngineLimits } from "./engine/limits.ts";
import { createLive, type Live } from "./engine/live.ts";
import { loadState } from "./engine/load.ts";
import { bindRun } from "./engine/open.ts";
import type { RuntimeOptions } from "./options.ts";
import { createAjvChecker } from "./platform/ajv-checker.ts";
import { consoleLogger } from "./platform/console-logger.ts";
import { jsonSchema } from "./platform/json-schema.ts";
import { nodeClock } from "./platform/node-clock.ts";
import { nodeHash } from "./platform/node-hash.ts";
import { nodeIds } from "./platform/node-ids.ts";
import { redactingLogger } from "./platform/redacting-logger.ts";
import type { Clock } from "./ports/clock.ts";
import type { Counts } from "./ports/counts.ts";
import type { Advance } from "./ports/dispatcher.ts";
import type { Logger } from "./ports/logger.ts";
import type { RunKey, Store } from "./ports/store.ts";
import { adoptAiSdk } from "./providers/ai-sdk/adopt.ts";
import { type AgentDirectory, listedAgents, missingAgent } from "./runtime/agent-directory.ts";
import { agentProblems } from "./runtime/agent-problems.ts";
import { assembleRuntime } from "./runtime/assemble.ts";
import type { AgentCode } from "./runtime/bind-agent.ts";
import { createBinder } from "./runtime/bind-run.ts";
import type { Desk } from "./runtime/desk.ts";
import { redactingErrors } from "./runtime/redacted-error.ts";
import { resolvedAgents } from "./runtime/resolved-agents.ts";
import { createFindModel, createFindRoute, type FindModel, type FindRoute } from "./runtime/routed-models.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { memory } from "./stores/memory/memory.ts";

export interface RuntimePorts extends Pick<Desk, "store" | "bus" | "clock" | "ids" | "hash" | "logger" | "schemas"> {
  /** Whose transactions tools may write in, where the store has any. */
  readonly transactions?: string;
  /** Where content is not in the store. */
  readonly sweep?: Sweep;
}
export interface RuntimeSettings extends Omit<RuntimeOptions, "agents" | "store" | "logger" | "clock" | "ids"> {
  /** Nobody looks after runs without a worker. For simulated processes: its rounds would fill their schedules. */
  readonly isUnattended?: boolean;
}

export async function openPorts(options: RuntimeOptions): Promise<RuntimePorts> {
  const { clock = nodeClock, ids = nodeIds, logger = consoleLogger } = options;
  const definition = options.store ?? memory();
  const given = { clock, logger: redactingLogger(logger, redactorOf(options)) };
  const opened = await definition.open(given);
  const content = await openContent(options, opened);
  const bus = definition.bus?.(given) ?? createInMemoryBus(given.logger);
  const { transactions } = definition;
  return {
    ...{ ...content, bus, clock: storeClock(opened, clock), ids, hash: nodeHash, logger, schemas: createAjvChecker() },
    ...(transactions === undefined ? {} : { transactions }),
  };
}

/** What is thrown about options may repeat them. Rules that are wrong themselves are as none. */
export async function redactingSetup<T>(options: Pick<RuntimeOptions, "redact">, call: () => Promise<T>): Promise<T> {
  return redactingErrors({ redactor: setupRedactor(options) }, call);
}

function setupRedactor({ redact }: Pick<RuntimeOptions, "redact">): Redactor {
  const problems = new Problems({}, []);
  try {
    return readRedaction(redact, problems);
  } catch {
    return readRedaction(undefined, problems);
  }
}

async function openContent({ content }: RuntimeOptions, store: Store): Promise<Pick<RuntimePorts, "store" | "sweep">> {
  if (!content) return { store };
  try {
    return keptElsewhere(store, await content.open(), nodeHash);
  } catch (cause) {
    await store.close();
    const what = `The content's place cannot be opened: ${messageOf(cause)}`;
    throw new HoldfastError("content-unavailable", what, { cause });
  }
}

/** Of options that were checked before. */
function redactorOf({ redact }: Pick<RuntimeOptions, "redact">): Redactor {
  return readRedaction(redact, new Problems({}, []));
}

/** Deadlines and timers are compared with store time, by other machines too: where the store has a clock, it is ours. */
function storeClock({ now }: Store, clock: Clock): Clock {
  if (!now) return clock;
  return { now, monotonic: () => clock.monotonic(), sleep: (ms, signal) => clock.sleep(ms, signal) };
}

/** What a process does for runs, whoever started them. */
export interface WorkerPart {
  readonly scope: Scope;
  readonly live: Live;
  readonly counts: Counts;
  readonly redactor: Redactor;
  /** Says nothing that is to be hidden. */
  readonly logger: Logger;
  readonly limits: EngineLimits;
  readonly agents: AgentDirectory;
  readonly sinkNames: readonly string[];
  readonly providerNames: readonly string[];
  readonly findModel: FindModel;
  readonly findRoute: FindRoute;
  /** Stops claiming, gives every run back, then closes the ports. */
  close(): Promise<void>;
}

export function composeWorker(
  given: RuntimePorts,
  agents: readonly AgentCode[],
  settings: RuntimeSettings,
): WorkerPart {
  const { leaseMs = 30_000, pollMs = 1_000, concurrency = 256, closeGraceMs = 5_000 } = settings;
  const { concurrencyPerAgent = {}, concurrencyPerScope = concurrency } = settings;
  const scope = settings.scope === undefined ? defaultScope : parseId<Scope>("scope", settings.scope);
  const redactor = redactorOf(settings);
  const ports = { ...given, redactor, logger: redactingLogger(given.logger, redactor) };
  const limits = { ...defaultLimits, ...settings.limits };
  const { providers = {} } = settings;
  const findRoute = createFindRoute(providers, adoptAiSdk);
  const findModel = createFindModel(findRoute);
  const directory = directoryOf(agents, settings, { ...ports, limits, findModel });
  const live = createLive();
  const counts: Counts = { runsInHand: 0, leasesLost: 0, fencedWrites: 0, behindAnswers: 0 };
  const engine: EngineDeps = {
    ...ports,
    live,
    counts,
    limits,
    startMarginMs: Math.ceil(leaseMs / 6),
    nudgeOutbox: () => relay?.nudge(),
    bind: createBinder(directory, { schemaOf: jsonSchema, findRoute, backendOf: backendMaker(settings.backends) }),
  };
  const backend = createInProcessBackend(engine);
  const worker = { ...ports, counts, scope, agents: directory.names, leaseMs, pollMs, concurrency, closeGraceMs };
  const claiming = {
    ...{ concurrencyPerAgent, concurrencyPerScope, scopes: servedScopes(settings, scope) },
    crashLimit: engine.limits.crashes + 1,
  };
  const works = agents.length > 0 || settings.resolver?.names !== undefined;
  const dispatcher = works ? createClaimingDispatcher({ ...worker, ...claiming }) : undefined;
  if (dispatcher) ports.bus.pieces?.offer(live);
  const advance: Advance = (held) => backend.executeRoot(held);
  dispatcher?.serve(advance);
  const mayTake = async ({ agent, run, prompt }: TicketRecord, of: Scope): Promise<boolean> =>
    prompt === missingAgent(agent) || (settings.resolver === undefined && (await canTake({ scope: of, run }, engine)));
  const chores: { close(): Promise<void> }[] = [];
  const relay = dispatcher && createOutboxRelay({ ...worker, scopes: claiming.scopes });
  if (dispatcher && relay) chores.push(dispatcher, relay);
  const { sinks = {} } = settings;
  if (dispatcher) chores.push(createSinkRelay({ ...worker, scopes: claiming.scopes, sinks, redactor }));
  if (dispatcher && !settings.isUnattended)
    chores.push(createCollection({ ...worker, scopes: namedScopes(claiming.scopes, scope) }));
  if (dispatcher && settings.retention) chores.push(createRetention({ ...worker, ...settings.retention }));
  if (dispatcher && !settings.isUnattended)
    chores.push(startCaretaker({ ...worker, ...claiming, unservedMs: engine.limits.unservedMs, mayTake }, advance));
  async function close(): Promise<void> {
    try {
      await Promise.all(chores.map((chore) => chore.close()));
    } finally {
      await closeBoth(ports);
    }
  }
  const { logger } = ports;
  const names = { sinkNames: Object.keys(sinks), providerNames: Object.keys(providers) };
  return { scope, live, counts, redactor, logger, limits, agents: directory, ...names, findModel, findRoute, close };
}

function directoryOf(
  agents: readonly AgentCode[],
  { resolver, sinks = {} }: RuntimeSettings,
  by: RuntimePorts & Pick<EngineDeps, "limits" | "redactor"> & { readonly findModel: FindModel },
): AgentDirectory {
  if (!resolver) {
    const known = agents.map((code) => ({ code, fingerprint: fingerprintOf(code.declared, by.hash) }));
    return listedAgents(known, by);
  }
  const { phaseTimeoutMs, unservedMs } = by.limits;
  const here = { transactions: by.transactions, sinks: Object.keys(sinks) };
  const problemsOf = (agent: Agent<unknown>): readonly string[] => agentProblems(agent, here);
  return resolvedAgents(resolver, { ...by, timeoutMs: phaseTimeoutMs, againMs: unservedMs, problemsOf });
}

/** The resolver is never asked here: it may hang, and a run that it had nothing for asks again by itself. */
async function canTake(key: RunKey, engine: EngineDeps): Promise<boolean> {
  const { state } = await loadState(key, engine.store);
  const { signal } = new AbortController();
  return (await bindRun(state, { ...engine, signal })).missing === undefined;
}

/** Its own, and those it was given besides. */
function servedScopes({ scopes = [] }: RuntimeSettings, own: Scope): readonly Scope[] | "all" {
  if (scopes === "all") return "all";
  return [...new Set([own, ...scopes.map((scope) => parseId<Scope>("scope", scope))])];
}

/** Of "all" only its own has a name here. */
function namedScopes(served: readonly Scope[] | "all", own: Scope): readonly Scope[] {
  return served === "all" ? [own] : served;
}

/** A worker and a front desk in one process. Without agents, or a resolver that names some, it is a front desk only. */
export function composeRuntime(ports: RuntimePorts, agents: readonly AgentCode[], settings: RuntimeSettings): Runtime {
  const { pollMs = 1_000, watchPollMs = 50 } = settings;
  const { close: shutDown, ...worker } = composeWorker(ports, agents, settings);
  return assembleRuntime({ ...ports, ...worker, pollMs, watchPollMs, shutDown });
}

/** Each is closed, whatever happens to the other. */
async function closeBoth({ bus, store }: Pick<RuntimePorts, "bus" | "store">): Promise<void> {
  try {
    await bus.close();
  } finally {
    await store.close();
  }
}
