/** createRuntime: the default composition root. It checks every option, chooses adapters and assembles. */
import { createInProcessBackend } from "./backends/in-process.ts";
import { createInMemoryBus } from "./buses/in-memory.ts";
import { createClaimingDispatcher } from "./dispatchers/claiming.ts";
import type { Agent } from "./domain/agent.ts";
import { HoldfastError } from "./domain/errors.ts";
import { defaultScope, idProblem, parseId, type Scope } from "./domain/ids.ts";
import { isFunction, Problems } from "./domain/problems.ts";
import type { BoundAgent, EngineDeps } from "./engine/deps.ts";
import { defaultLimits, type EngineLimits } from "./engine/limits.ts";
import { createLive } from "./engine/live.ts";
import { createAjvChecker } from "./platform/ajv-checker.ts";
import { consoleLogger } from "./platform/console-logger.ts";
import { nodeClock } from "./platform/node-clock.ts";
import { nodeHash } from "./platform/node-hash.ts";
import { nodeIds } from "./platform/node-ids.ts";
import { nodeProblem } from "./platform/node-version.ts";
import type { Clock } from "./ports/clock.ts";
import type { Ids } from "./ports/ids.ts";
import type { Logger } from "./ports/logger.ts";
import type { Store, StoreDefinition } from "./ports/store.ts";
import { assembleRuntime } from "./runtime/assemble.ts";
import { bindAgent } from "./runtime/bind-agent.ts";
import type { Desk } from "./runtime/desk.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { memory } from "./stores/memory/memory.ts";

export interface RuntimeOptions {
  /** Agents this process runs. Without any it only starts runs and decides tickets. */
  readonly agents?: readonly Agent<unknown>[];
  /** Where runs are remembered; in memory unless said. */
  readonly store?: StoreDefinition;
  /** Tenant; "default" unless said. */
  readonly scope?: string;
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Runs in hand at once. */
  readonly concurrency?: number;
  /** How long a claim lasts without being renewed, in milliseconds. */
  readonly leaseMs?: number;
  /** How often work of other processes is looked for, in milliseconds. */
  readonly pollMs?: number;
  /** The same while someone watches, in milliseconds. */
  readonly watchPollMs?: number;
  /** How long close() lets running work settle, in milliseconds. */
  readonly closeGraceMs?: number;
  readonly limits?: Partial<EngineLimits>;
}

const optionNames = [
  "agents",
  "store",
  "scope",
  "logger",
  "clock",
  "ids",
  "concurrency",
  "leaseMs",
  "pollMs",
  "watchPollMs",
  "closeGraceMs",
  "limits",
] as const satisfies readonly (keyof RuntimeOptions)[];

const day = 24 * 60 * 60_000;

export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const agents = checkOptions(options);
  const { clock = nodeClock, ids = nodeIds, logger = consoleLogger } = options;
  const definition = options.store ?? memory();
  const store = await definition.open({ clock, logger });
  const ports: RuntimePorts = {
    store,
    bus: definition.bus?.({ clock, logger }) ?? createInMemoryBus(logger),
    clock: storeClock(store, clock),
    ids,
    hash: nodeHash,
    logger,
    schemas: createAjvChecker(),
  };
  return composeRuntime(ports, agents.map(bindAgent), options);
}

/** Deadlines and timers are compared with store time, by other machines too: where the store has a clock, it is ours. */
function storeClock({ now }: Store, clock: Clock): Clock {
  if (!now) return clock;
  return { now, monotonic: () => clock.monotonic(), sleep: (ms, signal) => clock.sleep(ms, signal) };
}

export type RuntimePorts = Pick<Desk, "store" | "bus" | "clock" | "ids" | "hash" | "logger" | "schemas">;
export type RuntimeSettings = Pick<
  RuntimeOptions,
  "scope" | "concurrency" | "leaseMs" | "pollMs" | "watchPollMs" | "closeGraceMs" | "limits"
>;

/** The same runtime on ports that someone else has opened: tests wrap them to cut, delay or reorder every call. */
export function composeRuntime(ports: RuntimePorts, agents: readonly BoundAgent[], settings: RuntimeSettings): Runtime {
  const { leaseMs = 30_000, pollMs = 1_000, watchPollMs = 50, concurrency = 256, closeGraceMs = 5_000 } = settings;
  const scope = settings.scope === undefined ? defaultScope : parseId<Scope>("scope", settings.scope);
  const byName = new Map(agents.map((each) => [each.name, each]));
  const agentNames = [...byName.keys()];
  const live = createLive();
  const engine: EngineDeps = {
    ...ports,
    live,
    limits: { ...defaultLimits, ...settings.limits },
    startMarginMs: Math.ceil(leaseMs / 6),
    agent: (name) => byName.get(name),
  };
  const backend = createInProcessBackend(engine);
  const worker = { ...ports, scope, agents: agentNames, leaseMs, pollMs, concurrency, closeGraceMs };
  const dispatcher = agentNames.length === 0 ? undefined : createClaimingDispatcher(worker);
  dispatcher?.serve((held) => backend.executeRoot(held));
  async function shutDown(): Promise<void> {
    try {
      await dispatcher?.close();
    } finally {
      await closeBoth(ports);
    }
  }
  return assembleRuntime({ ...ports, live, scope, pollMs, watchPollMs, agentNames, shutDown });
}

/** Each is closed, whatever happens to the other. */
async function closeBoth({ bus, store }: Pick<RuntimePorts, "bus" | "store">): Promise<void> {
  try {
    await bus.close();
  } finally {
    await store.close();
  }
}

function checkOptions(options: RuntimeOptions): readonly Agent<unknown>[] {
  const old = nodeProblem();
  if (old) throw new HoldfastError("node-too-old", old);
  const problems = new Problems(options, optionNames);
  problems.optional(
    "store",
    (store) => isFunction((store as StoreDefinition | null)?.open),
    "must be a store, for example sqlite(path)",
  );
  problems.optional(
    "scope",
    (scope) => idProblem(scope) === undefined,
    "must be an id: 1 to 512 bytes, no control characters",
  );
  problems.optional("logger", (logger) => has(logger, ["warn", "note"]), "must have warn and note");
  problems.optional(
    "clock",
    (clock) => has(clock, ["now", "monotonic", "sleep"]),
    "must have now, monotonic and sleep",
  );
  problems.optional("ids", (ids) => has(ids, ["next"]), "must have next");
  problems.integer("concurrency", 1, 100_000);
  problems.integer("leaseMs", 100, day);
  problems.integer("pollMs", 1, day);
  problems.integer("watchPollMs", 1, day);
  problems.integer("closeGraceMs", 0, day);
  checkLimits(options?.limits, problems);
  const agents = checkAgents(options?.agents, problems);
  checkTransactions(options, problems);
  problems.refuse("invalid-options", "The runtime cannot be created");
  return agents;
}

function has(value: unknown, methods: readonly string[]): boolean {
  return methods.every((method) => isFunction((value as Record<string, unknown> | null)?.[method]));
}

function checkLimits(limits: RuntimeOptions["limits"], problems: Problems): void {
  if (limits === undefined) return;
  const inner = new Problems(limits, Object.keys(defaultLimits));
  for (const name of Object.keys(defaultLimits)) inner.integer(name, 1, 366 * day);
  problems.include("limits", inner);
}

/** L8: a tool that cannot write where it was made to is refused before anything runs. */
function checkTransactions({ agents, store = memory() }: RuntimeOptions, problems: Problems): void {
  if (!Array.isArray(agents)) return;
  for (const { name, tools } of agents as Agent<unknown>[]) {
    for (const { spec } of tools ?? []) {
      if (spec.transaction === undefined || spec.transaction === store.transactions) continue;
      problems.add(`store: tool ${spec.name} of agent ${name} writes in a ${spec.transaction} transaction`);
    }
  }
}

function checkAgents(agents: unknown, problems: Problems): readonly Agent<unknown>[] {
  if (agents === undefined) return [];
  if (!Array.isArray(agents)) {
    problems.add("agents: must be a list of agent({ … })");
    return [];
  }
  const names = new Set<string>();
  for (const [index, each] of (agents as Agent<unknown>[]).entries()) {
    const name = each?.name;
    if (typeof name !== "string") problems.add(`agents[${index}]: must come from agent({ … })`);
    else if (names.has(name)) problems.add(`agents[${index}]: the name ${name} is used twice`);
    else if (!isFunction((each.model as { call?: unknown }).call)) {
      problems.add(`agents[${index}]: the model of ${name} cannot be called`);
    }
    names.add(name);
  }
  return agents;
}
