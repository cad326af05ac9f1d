/** Agent: the definition. `agent()` takes what this version can do and refuses the rest by name. */
import { type UsedPlugin, usePlugins } from "./agent-plugins.ts";
import { aiSdkProblem, looksLikeAiSdk } from "./ai-sdk-model.ts";
import { isReserved, reservedName } from "./answer-tool.ts";
import type { DeclaredBackend } from "./backend/endpoint.ts";
import type { Adaptation } from "./backend/negotiate.ts";
import { type BudgetOptions, defaultSteps, readBudget } from "./budget.ts";
import { checkDelegates } from "./check-delegates.ts";
import { checkHandoffs } from "./handoff.ts";
import { type AgentHistory, type HistoryOptions, readHistory } from "./history.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import type { DescribedModel } from "./model.ts";
import { readRoute } from "./model-route.ts";
import { type AgentOutput, type OutputMode, readOutput } from "./output.ts";
import type { ConfiguredPlugin } from "./plugin.ts";
import { asPlugin, isPolicy, type Policy } from "./policy.ts";
import { isFunction, Problems, shown } from "./problems.ts";
import type { RunBudget } from "./run.ts";
import { isStandardSchema, type OutputOf, type StandardSchema } from "./standard-schema.ts";
import type { StateKeyFacts } from "./state-key.ts";
import { type Tool, toolNamePattern } from "./tool.ts";

export type Instructions = string | ((context: JsonValue | undefined) => string);

/** What a worker does with a run that was started with another manifest than its agent has today. */
export type OnUpgrade = "pinned" | "move" | "refuse";

export interface Agent<Output = string, Context = unknown> {
  readonly name: string;
  readonly version: string;
  readonly onUpgrade: OnUpgrade;
  readonly model: DescribedModel;
  /** Of one whose model is only named: the same agent with the model itself, checked anew. */
  readonly withModel?: (model: DescribedModel) => Agent<unknown>;
  /** Whose models are meant where only a name is said: as its route says it, else as its model does. */
  readonly provider: string;
  readonly instructions: Instructions;
  /** Its own, those of its plugins, those of its delegates and handoffs. */
  readonly tools: readonly Tool[];
  /** Those it may hand its run to are among them. */
  readonly delegates: readonly Delegate[];
  /** Of a delegate as its parent lends it: the delegations above it, the first first. */
  readonly under?: readonly string[];
  readonly context?: StandardSchema;
  readonly contextSchema?: JsonObject;
  readonly output?: AgentOutput;
  /** Absent: as much of the conversation as fits, and nothing is summarised. */
  readonly history?: AgentHistory;
  readonly budget: RunBudget;
  /** Who is told how its runs end: sinks by name, sorted. */
  readonly sinks: readonly string[];
  /** In the order in which they are asked. Their tools are among `tools`. */
  readonly plugins: readonly UsedPlugin[];
  /** Every state key that its plugins and tools write, by name. */
  readonly stateKeys: readonly StateKeyFacts[];
  /** Where its runs execute, unless that is here, and what may be done there in another way. */
  readonly backend?: DeclaredBackend;
  readonly adapt?: readonly Adaptation[];
  /** Types only; never set. */
  readonly "~types"?: { readonly output: Output; readonly context: Context };
}

/** An agent that another one gives work to; made by delegate(). */
export interface Delegate<Input = unknown, Output = unknown> {
  /** As the model sees it. */
  readonly tool: Tool<Input, Output>;
  readonly agent: Agent<unknown>;
  readonly grant: DelegateGrant;
}

/** What of itself a parent lends. */
export interface DelegateGrant {
  /** The most that one run of it may use up, besides what the agent's own budget and what is left of the parent's say. */
  readonly budget: Partial<RunBudget>;
  /** Its tools are those that change nothing. */
  readonly readOnly: boolean;
  /** Its journal and thread are dropped once its parent has its result. */
  readonly ephemeral: boolean;
  /** Its parent goes on without it and is told its end. */
  readonly background: boolean;
  /** No run of its own: the run itself goes on as this agent. */
  readonly handoff?: boolean;
}

export interface AgentOptions<
  ContextSchema extends StandardSchema,
  OutputSchema extends StandardSchema = StandardSchema<string>,
> {
  readonly name: string;
  /** Change it when code changes that is no tool and no plugin, such as an instructions function; "1" unless said. */
  readonly version?: string;
  /**
   * When a worker with this agent takes up a run that was started with another manifest. pinned: the run keeps what it
   * was started with, as far as the code is here; move: it goes on as this agent is now, and its journal says so;
   * refuse: it waits for a worker that has its manifest.
   */
  readonly onUpgrade?: OnUpgrade;
  /** The model itself, or its route among the runtime's providers: "openai/gpt-x". */
  readonly model: DescribedModel | string;
  readonly instructions: string | ((context: OutputOf<ContextSchema>) => string);
  readonly tools?: readonly Tool[];
  /** Agents that it gives work to, each as a tool: a call of it is a run of its own. */
  readonly delegates?: readonly Delegate[];
  /** Agents that it may hand its run to, each as a tool `transfer_to_<name>`; they may hand it back. */
  readonly handoffs?: readonly Agent<unknown>[];
  /** Schema of what start(…, { context }) must bring; durable, given to instructions and tools. */
  readonly context?: ContextSchema;
  /** Schema of the final answer, which is text unless said. */
  readonly output?: OutputSchema;
  /**
   * How the model is asked for it. native: its provider binds it to the schema; tool: it calls a tool whose input is the
   * answer; text: it is told the schema in words. The first of these that the model says it has, unless said.
   */
  readonly outputMode?: OutputMode;
  /** How often the model is shown what is wrong with an answer that does not fit; 2 unless said. */
  readonly repairs?: number;
  /** How the run ends when the answer is still wrong then; as failed unless said. */
  readonly onInvalid?: "fail" | "stop";
  /** How much of the conversation a model call sends, and what is done with the rest. */
  readonly history?: HistoryOptions;
  /** What it may do, stage by stage; asked before every plugin. Without one it may do what it has. */
  readonly policy?: Policy;
  /** Plugins with their configs, in the order in which they are asked. */
  readonly plugins?: readonly ConfiguredPlugin[];
  readonly budget?: BudgetOptions;
  /** Names of sinks that are told the output and the end of each run. Every worker with this agent must have them. */
  readonly sinks?: readonly string[];
}

const optionNames = [
  "name",
  "version",
  "onUpgrade",
  "model",
  "instructions",
  "tools",
  "delegates",
  "handoffs",
  "context",
  "output",
  "outputMode",
  "repairs",
  "onInvalid",
  "history",
  "policy",
  "plugins",
  "budget",
  "sinks",
];

export function agent<
  ContextSchema extends StandardSchema = StandardSchema,
  OutputSchema extends StandardSchema = StandardSchema<string>,
>(options: AgentOptions<ContextSchema, OutputSchema>): Agent<OutputOf<OutputSchema>, OutputOf<ContextSchema>> {
  const problems = new Problems(options, optionNames);
  problems.check(
    "name",
    (name) => typeof name === "string" && toolNamePattern.test(name),
    `must match ${toolNamePattern}`,
  );
  problems.optional("version", (text) => typeof text === "string" && text.length > 0, "must be a non-empty string");
  problems.oneOf("onUpgrade", ["pinned", "move", "refuse"]);
  const given = options?.model;
  const model = typeof given === "string" ? readRoute(given) : given;
  const wrong = modelProblem(model);
  if (wrong) problems.add(`model: ${wrong}`);
  problems.check(
    "instructions",
    (text) => typeof text === "string" || isFunction(text),
    "must be a string or a function of the context",
  );
  problems.optional("context", isStandardSchema, "must be a Standard Schema");
  const contextSchema = isStandardSchema(options?.context)
    ? jsonSchemaOf(options.context, "context", problems)
    : undefined;
  const output = readOutput(options, problems);
  const history = readHistory(options?.history, problems);
  problems.optional("policy", isPolicy, "must come from policy({ … })");
  const { plugins, tools, stateKeys } = usePlugins(
    withPolicy(options?.policy, options?.plugins),
    options?.tools,
    problems,
  );
  checkTools(tools, problems);
  const budget = { steps: defaultSteps, ...readBudget(options?.budget, model, problems) };
  const lent = checkDelegates<Delegate>(options?.delegates, { tools, budget }, problems);
  const taken = [...(Array.isArray(tools) ? (tools as Tool[]) : []), ...lent.map((each) => each.tool)];
  const names = taken.map((each) => each?.spec?.name);
  const handoffs = checkHandoffs<Agent<unknown>>(
    options?.handoffs,
    { name: options?.name, names, output, budget },
    problems,
  );
  const delegates = [...lent, ...handoffs];
  const sinks = checkSinks(options?.sinks, problems);
  problems.refuse("invalid-agent", `Agent ${shown(options?.name)} cannot be defined`);
  const { name, context, version = "1", onUpgrade = "pinned" } = options;
  const { provider } = (model as DescribedModel).description;
  return {
    name,
    version,
    onUpgrade,
    model: model as DescribedModel,
    provider,
    ...(typeof given === "string"
      ? { withModel: (found) => ({ ...agent({ ...options, model: found }), provider }) }
      : {}),
    instructions: options.instructions as Instructions,
    tools: [...(tools as readonly Tool[]), ...delegates.map((each) => each.tool)],
    delegates,
    plugins,
    stateKeys,
    ...(context && contextSchema ? { context, contextSchema } : {}),
    ...(output ? { output } : {}),
    ...(history ? { history } : {}),
    budget,
    sinks,
  };
}

function withPolicy(given: unknown, plugins: unknown): unknown {
  if (!isPolicy(given)) return plugins;
  return Array.isArray(plugins) || plugins === undefined
    ? [asPlugin(given), ...((plugins ?? []) as unknown[])]
    : plugins;
}

function modelProblem(value: unknown): string | undefined {
  const description = (value as Partial<DescribedModel> | null | undefined)?.description;
  if (typeof description?.provider === "string" && typeof description.model === "string") return undefined;
  const known =
    "must be a model: an AI SDK model, openaiCompatible({ … }), scripted([…]) from holdfast/testing, " +
    'or a route such as "openai/gpt-x"';
  if (typeof value !== "function" && !looksLikeAiSdk(value)) return known;
  return aiSdkProblem(value) ?? known;
}

function checkTools(tools: unknown, problems: Problems): void {
  if (tools === undefined) return;
  if (!Array.isArray(tools)) {
    problems.add("tools: must be a list of tool({ … })");
    return;
  }
  const names = new Set<string>();
  for (const [index, item] of tools.entries()) {
    const { spec, code } = (item ?? {}) as Partial<Tool>;
    const name: unknown = spec?.name;
    if (typeof name !== "string" || !code) problems.add(`tools[${index}]: must come from tool({ … })`);
    else if (isReserved(name)) problems.add(`tools[${index}]: ${name}: ${reservedName}`);
    else if (names.has(name)) problems.add(`tools[${index}]: the name ${name} is used twice`);
    else names.add(name);
  }
}

/** Sorted: their order means nothing. */
function checkSinks(sinks: unknown, problems: Problems): readonly string[] {
  if (sinks === undefined) return [];
  if (!Array.isArray(sinks)) {
    problems.add("sinks: must be a list of names");
    return [];
  }
  for (const [index, name] of (sinks as unknown[]).entries()) {
    if (typeof name !== "string" || !toolNamePattern.test(name)) {
      problems.add(`sinks[${index}]: must match ${toolNamePattern}`);
    } else if (sinks.indexOf(name) !== index) problems.add(`sinks[${index}]: the name ${name} is used twice`);
  }
  return [...(sinks as string[])].sort();
}
