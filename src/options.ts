/** What createRuntime and createWorker take, and every problem with it at once. */
import type { RetentionPolicy } from "./dispatchers/retention.ts";
import type { Agent } from "./domain/agent.ts";
import { HoldfastError } from "./domain/errors.ts";
import { idProblem } from "./domain/ids.ts";
import { isFunction, Problems } from "./domain/problems.ts";
import { type RedactOptions, readRedaction } from "./domain/redaction.ts";
import { toolNamePattern } from "./domain/tool.ts";
import { defaultLimits, type EngineLimits } from "./engine/limits.ts";
import { nodeProblem } from "./platform/node-version.ts";
import type { AgentResolver } from "./ports/agent-resolver.ts";
import type { BackendFactory } from "./ports/backend.ts";
import type { Clock } from "./ports/clock.ts";
import type { ContentDefinition } from "./ports/content-store.ts";
import type { Ids } from "./ports/ids.ts";
import type { Logger } from "./ports/logger.ts";
import type { Providers } from "./ports/provider.ts";
import type { Sink, Sinks } from "./ports/sink.ts";
import type { StoreDefinition } from "./ports/store.ts";
import { adoptAiSdk } from "./providers/ai-sdk/adopt.ts";
import { isAgent } from "./runtime/agent-directory.ts";
import { ownProblems, sinkProblems, transactionProblems } from "./runtime/agent-problems.ts";
import {
  checkProviders,
  createFindModel,
  createFindRoute,
  type FindModel,
  modelProblems,
} from "./runtime/routed-models.ts";
import { memory } from "./stores/memory/memory.ts";

export interface WorkerOptions {
  /** Agents this process runs. */
  readonly agents?: readonly Agent<unknown>[];
  /** Instead of `agents`: whoever knows them when they are needed. */
  readonly resolver?: AgentResolver;
  /** Where runs are remembered. */
  readonly store: StoreDefinition;
  /** Tenant; "default" unless said. */
  readonly scope?: string;
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Further scopes whose runs this process executes besides its own; "all" for every scope of the store. */
  readonly scopes?: readonly string[] | "all";
  /** Runs in hand at once. */
  readonly concurrency?: number;
  /** The same of single agents, by name. */
  readonly concurrencyPerAgent?: Readonly<Record<string, number>>;
  /** The same in each scope. */
  readonly concurrencyPerScope?: number;
  /** How long a claim lasts without being renewed, in milliseconds. */
  readonly leaseMs?: number;
  /** How often work of other processes is looked for, in milliseconds. */
  readonly pollMs?: number;
  /** How long close() lets running work settle, in milliseconds. */
  readonly closeGraceMs?: number;
  readonly limits?: Partial<EngineLimits>;
  /** Finished runs are erased when they are old; kept for ever unless said. */
  readonly retention?: RetentionPolicy;
  /** Who can be told how runs end, by the names that agents give. */
  readonly sinks?: Sinks;
  /** Where agents find the models that they name by route, `provider/model`: by the provider's name. */
  readonly providers?: Providers;
  /** Who builds backends of stored manifests that the agents here do not have any more, each by its name. */
  readonly backends?: readonly BackendFactory[];
  /** What is taken out of logs, traces and errors that are thrown; everything that the detectors find unless said. */
  readonly redact?: RedactOptions;
  /** Where large results are kept, for example fileContent(folder); in the store unless said. */
  readonly content?: ContentDefinition;
}

export interface RuntimeOptions extends Partial<WorkerOptions> {
  /** How often events of other processes are looked for while someone watches, in milliseconds. */
  readonly watchPollMs?: number;
}

const workerOptions = [
  "agents",
  "resolver",
  "store",
  "scope",
  "scopes",
  "logger",
  "clock",
  "ids",
  "concurrency",
  "concurrencyPerAgent",
  "concurrencyPerScope",
  "leaseMs",
  "pollMs",
  "closeGraceMs",
  "limits",
  "retention",
  "sinks",
  "providers",
  "backends",
  "redact",
  "content",
] as const satisfies readonly (keyof WorkerOptions)[];

const day = 24 * 60 * 60_000;
const mostRuns = 100_000;

/** Answers the agents. */
export function checkRuntimeOptions(options: RuntimeOptions): readonly Agent<unknown>[] {
  const problems = new Problems(options, [...workerOptions, "watchPollMs"]);
  problems.integer("watchPollMs", 1, day);
  const agents = check(options, problems);
  problems.refuse("invalid-options", "The runtime cannot be created");
  return agents;
}

export function checkWorkerOptions(options: WorkerOptions): readonly Agent<unknown>[] {
  const problems = new Problems(options, workerOptions);
  problems.check("store", (store) => store !== undefined, "must be given: a worker serves runs that others start");
  const agents = check(options ?? {}, problems);
  if (!works(options ?? {})) {
    problems.add("agents: must name at least one, or there is nothing to do; or give a resolver that has names");
  }
  problems.refuse("invalid-options", "The worker cannot be created");
  return agents;
}

function check(options: RuntimeOptions, problems: Problems): readonly Agent<unknown>[] {
  const old = nodeProblem();
  if (old) throw new HoldfastError("node-too-old", old);
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
  problems.optional("content", (content) => has(content, ["open"]), "must be a place, for example fileContent(folder)");
  problems.optional("ids", (ids) => has(ids, ["next"]), "must have next");
  problems.optional("scopes", isScopes, 'must be "all" or a list of ids');
  problems.integer("concurrency", 1, mostRuns);
  problems.integer("concurrencyPerScope", 1, mostRuns);
  problems.integer("leaseMs", 100, day);
  problems.integer("pollMs", 1, day);
  problems.integer("closeGraceMs", 0, day);
  checkLimits(options?.limits, problems);
  checkResolver(options ?? {}, problems);
  const findModel = createFindModel(createFindRoute(checkProviders(options?.providers, problems), adoptAiSdk));
  const agents = checkAgents(options?.agents, findModel, problems);
  checkBackends(options?.backends, problems);
  checkPerAgent(options ?? {}, agents, problems);
  checkRetention(options ?? {}, problems);
  readRedaction(options?.redact, problems);
  checkTransactions(options ?? {}, agents, problems);
  checkSinks(options ?? {}, agents, problems);
  return agents;
}

function checkBackends(backends: unknown, problems: Problems): void {
  if (backends === undefined) return;
  if (!Array.isArray(backends)) return problems.add("backends: must be a list of factories");
  const names = (backends as BackendFactory[]).map((each) => each?.name);
  for (const [index, factory] of (backends as BackendFactory[]).entries()) {
    if (typeof factory?.name !== "string" || !has(factory, ["validate", "build"])) {
      problems.add(`backends[${index}]: must have a name, validate and build`);
    } else if (names.indexOf(factory.name) !== index) {
      problems.add(`backends[${index}]: the name ${factory.name} is used twice`);
    }
  }
}

/** D-40: nobody has to guess which of the two counts. */
function checkResolver({ resolver, agents }: RuntimeOptions, problems: Problems): void {
  if (resolver === undefined) return;
  const inner = new Problems(resolver, ["resolve", "names"] satisfies (keyof AgentResolver)[]);
  inner.check("resolve", isFunction, "must be a function of the agent that is wanted");
  inner.optional("names", isFunction, "must be a function that answers the names of the agents to run");
  problems.include("resolver", inner);
  if (agents !== undefined) problems.add("resolver: is given instead of agents; leave one of the two out");
}

/** Whether the process executes runs. */
function works({ agents = [], resolver }: RuntimeOptions): boolean {
  return agents.length > 0 || isFunction(resolver?.names);
}

function has(value: unknown, methods: readonly string[]): boolean {
  return methods.every((method) => isFunction((value as Record<string, unknown> | null)?.[method]));
}

function isScopes(scopes: unknown): boolean {
  return scopes === "all" || (Array.isArray(scopes) && scopes.every((scope) => idProblem(scope) === undefined));
}

/** L9: a limit for an agent that this process does not have would never be read. */
function checkPerAgent(options: RuntimeOptions, agents: readonly Agent<unknown>[], problems: Problems): void {
  const { concurrencyPerAgent: limits, resolver } = options;
  if (limits === undefined) return;
  const listed = resolver ? Object.keys(limits ?? {}) : agents.map((each) => each?.name);
  const names = [...new Set(listed)];
  const inner = new Problems(limits, names);
  for (const name of names) inner.integer(name, 1, mostRuns);
  problems.include("concurrencyPerAgent", inner);
}

function checkLimits(limits: RuntimeOptions["limits"], problems: Problems): void {
  if (limits === undefined) return;
  const inner = new Problems(limits, Object.keys(defaultLimits));
  for (const name of Object.keys(defaultLimits)) inner.integer(name, 1, 366 * day);
  problems.include("limits", inner);
}

function checkRetention(options: RuntimeOptions, problems: Problems): void {
  const { retention } = options;
  if (retention === undefined) return;
  const inner = new Problems(retention, ["keepFinishedMs", "everyMs"]);
  if (retention?.keepFinishedMs === undefined) inner.add("keepFinishedMs: must be given");
  inner.integer("keepFinishedMs", 1, 36_500 * day);
  inner.integer("everyMs", 1, 366 * day);
  problems.include("retention", inner);
  if (!works(options)) problems.add("retention: needs agents: only a process that runs some erases old runs");
}

function checkSinks(options: RuntimeOptions, agents: readonly Agent<unknown>[], problems: Problems): void {
  const sinks: unknown = options.sinks;
  const given = typeof sinks === "object" && sinks !== null && !Array.isArray(sinks) ? sinks : {};
  if (sinks !== undefined && given !== sinks) problems.add("sinks: must be an object: sinks by name");
  for (const [name, sink] of Object.entries(given)) {
    if (!toolNamePattern.test(name)) problems.add(`sinks.${name}: the name must match ${toolNamePattern}`);
    checkSink(name, sink, problems);
  }
  if (Object.keys(given).length > 0 && !works(options)) {
    problems.add("sinks: needs agents: only a process that runs some delivers");
  }
  const here = { transactions: undefined, sinks: Object.keys(given) };
  for (const agent of agents.filter(isAgent)) for (const each of sinkProblems(agent, here)) problems.add(each);
}

function checkSink(name: string, sink: unknown, problems: Problems): void {
  const inner = new Problems(sink, ["deliver", "timeoutMs", "attempts", "redact"] satisfies (keyof Sink)[]);
  inner.check("deliver", isFunction, "must be a function of the message and its context");
  inner.integer("timeoutMs", 1, day);
  inner.optional("redact", (redact) => typeof redact === "boolean", "must be true or false");
  inner.integer("attempts", 1, mostRuns);
  problems.include(`sinks.${name}`, inner);
}

function checkTransactions(
  { store = memory() }: RuntimeOptions,
  agents: readonly Agent<unknown>[],
  problems: Problems,
): void {
  const here = { transactions: store?.transactions, sinks: [] };
  for (const agent of agents.filter(isAgent)) for (const each of transactionProblems(agent, here)) problems.add(each);
}

function checkAgents(agents: unknown, findModel: FindModel, problems: Problems): readonly Agent<unknown>[] {
  if (agents === undefined) return [];
  if (!Array.isArray(agents)) {
    problems.add("agents: must be a list of agent({ … })");
    return [];
  }
  const names = new Set<string>();
  const whole: Agent<unknown>[] = [];
  for (const [index, each] of (agents as Agent<unknown>[]).entries()) {
    const name = `${each?.name}@${each?.version}`;
    const found = isAgent(each) ? modelProblems(each, findModel) : ["must come from agent({ … })"];
    const isTwice = isAgent(each) && names.has(name);
    const twice = isTwice ? [`${name} is there twice; give one of them another version`] : [];
    if (isAgent(each)) whole.push(isAgent(found) ? found : each);
    for (const problem of isAgent(found) ? [...twice, ...(isTwice ? [] : ownProblems(found))] : found) {
      problems.add(`agents[${index}]: ${problem}`);
    }
    names.add(name);
  }
  return whole;
}
