/**
 * Plugin: a named contribution to an agent. `plugin()` makes a factory; calling that with a config gives what an agent
 * takes. Its code runs in an instance per run, so two runs share nothing but what the author shares by closure.
 */
import type { ApprovalTerms } from "./approval.ts";
import type { Command, ContextMessage } from "./command.ts";
import type { FinishReason } from "./entry.ts";
import type { ErrorRecord } from "./errors.ts";
import type { CallId, RunId, Scope, ThreadId, TicketId } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { CallResult, Message } from "./message.ts";
import type { AnsweredBy, ModelDescription } from "./model.ts";
import type { Overrides } from "./overrides.ts";
import type { Phase } from "./phase.ts";
import { isFunction, Problems, shown } from "./problems.ts";
import type { Outcome, RunStatus, RunUsage, Usage } from "./run.ts";
import { type InputOf, isStandardSchema, type OutputOf, type StandardSchema } from "./standard-schema.ts";
import { isStateKey, type ReadableKey, type StateKeyFacts } from "./state-key.ts";
import type { Decision, TicketKind } from "./ticket.ts";
import { type Tool, toolNamePattern } from "./tool.ts";

/** The run as a plugin knows it. */
export interface PluginRun {
  readonly id: RunId;
  readonly thread: ThreadId;
  readonly agent: string;
  readonly scope: Scope;
  readonly context: JsonValue | undefined;
  readonly createdAt: number;
  /** What its agent's model is. */
  readonly model: ModelDescription;
  /** Its status when this process took it up. */
  readonly foundAs: RunStatus;
  /** The time that views have as `now`. */
  readonly now: () => number;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
  /** The value without what the runtime's rules hide, for whatever leaves the process. */
  readonly redact: (value: JsonValue) => JsonValue;
  /** A short name for a value: the same for equal values in every process. */
  readonly hash: (value: JsonValue) => string;
}

export interface StateView {
  /** The value as it was when the phase began. */
  get<Value>(key: ReadableKey<Value>): Value;
}

export interface CallView {
  readonly id: CallId;
  readonly index: number;
  readonly tool: string;
  /** Of a delegate's call: the agent that it gives work to. */
  readonly delegate?: string;
  readonly input: JsonValue;
  /** Attempts made so far. */
  readonly attempt: number;
  /** A person has changed the input. */
  readonly edited: boolean;
  readonly result?: CallResult;
}

/** What a hook sees. Nothing of it can be changed, and none of it changes while the hook works. */
export interface PhaseView<Config = unknown> {
  readonly phase: Phase;
  readonly config: Config;
  readonly run: PluginRun;
  /** The step at hand: the one to come in before-step, 0 before the first. */
  readonly step: number;
  readonly stepsEnded: number;
  /** When the run began to be executed. */
  readonly startedAt: number;
  readonly now: number;
  /** Tokens of the run so far. */
  readonly usage: RunUsage;
  /** The newest messages of the thread, as the model sees them. */
  readonly messages: readonly Message[];
  readonly state: StateView;
  /** Names of the agent's tools. */
  readonly tools: readonly string[];
  /** What the step's model call is asked otherwise than the agent does, as far as it was said before this moment. */
  readonly overrides: Overrides;
  /** The calls of the step at hand, with their results as far as they are known. */
  readonly calls: readonly CallView[];
  /** Aborted when the phase's time is over or the run is no longer this process's. */
  readonly signal: AbortSignal;
}

export interface CallPhaseView<Config = unknown> extends PhaseView<Config> {
  readonly call: CallView;
}
export interface ReplyView<Config = unknown> extends PhaseView<Config> {
  readonly reply: {
    readonly message: Message;
    readonly finish: FinishReason;
    readonly usage?: Usage;
    /** Of a model that stands for several. */
    readonly answeredBy?: AnsweredBy;
  };
}
/** The answer as it would be published: in words, with its value where the agent has an output, and the message itself. */
export interface OutputView<Config = unknown> extends PhaseView<Config> {
  readonly output: { readonly text: string; readonly value?: JsonValue; readonly message: Message };
}
export interface EndView<Config = unknown> extends PhaseView<Config> {
  readonly outcome: Outcome;
}
export interface DecisionView<Config = unknown> extends PhaseView<Config> {
  readonly ticket: {
    readonly id: TicketId;
    readonly kind: TicketKind;
    /** What the person was asked. */
    readonly prompt: string;
    /** The plugin that opened it or asked about the call; none when the tool itself or the runtime did. */
    readonly plugin?: string;
    /** As `open-ticket` named it. */
    readonly name?: string;
    readonly openedAt: number;
    readonly call?: CallId;
    readonly tool?: string;
    readonly input?: JsonValue;
  };
  readonly decision: Decision;
  readonly by: string;
  readonly at: number;
}
export interface CancelView<Config = unknown> extends PhaseView<Config> {
  readonly cancel: { readonly by: string; readonly reason?: string };
}
export interface DeltaView<Config = unknown> extends PhaseView<Config> {
  readonly delta: PieceView;
}

/** A piece of a reply. `message-begun` comes before an attempt's first one, `message-retracted` when it comes to nothing. */
export interface PieceView {
  readonly type: "message-begun" | "text-delta" | "reasoning-delta" | "tool-input-delta" | "message-retracted";
  readonly text: string;
  readonly attempt: number;
  /** Why it was retracted, unless it was stopped from here. */
  readonly error?: ErrorRecord;
}

/** Commands, or nothing. A hook may be called again for the same moment after a crash: it only looks and answers. */
export type HookAnswer = Command | readonly Command[] | undefined | void;
export type Hook<View> = (view: View) => HookAnswer | Promise<HookAnswer>;
type Listed<View> = Hook<View> | readonly Hook<View>[];

export interface Hooks<Config = unknown> {
  readonly "before-run"?: Listed<PhaseView<Config>>;
  readonly "before-step"?: Listed<PhaseView<Config>>;
  readonly "context-ready"?: Listed<PhaseView<Config>>;
  readonly "before-model"?: Listed<PhaseView<Config>>;
  readonly "model-delta"?: Listed<DeltaView<Config>>;
  readonly "output-gate"?: Listed<OutputView<Config>>;
  readonly "after-model"?: Listed<ReplyView<Config>>;
  readonly "tool-gate"?: Listed<CallPhaseView<Config>>;
  readonly "before-tool"?: Listed<CallPhaseView<Config>>;
  readonly "after-tool"?: Listed<CallPhaseView<Config>>;
  readonly "after-step"?: Listed<PhaseView<Config>>;
  readonly "before-end"?: Listed<EndView<Config>>;
  readonly "after-run"?: Listed<EndView<Config>>;
  readonly "on-decision"?: Listed<DecisionView<Config>>;
  readonly "on-cancel"?: Listed<CancelView<Config>>;
}

/** The strictest of several counts: deny, then ask, then modify, then allow. */
export type PolicyVerdict =
  | "allow"
  /** `code` is for programs, the text for people; with `stop` the run ends as blocked. */
  | { readonly deny: string; readonly code?: string; readonly stop?: boolean }
  /** A person decides; `terms` says who, until when, and what counts if nobody does. */
  | { readonly ask: string; readonly terms?: ApprovalTerms }
  /** tool-call: another input · tool-result: another result · model-call: other settings · output: another answer */
  | { readonly modify: JsonValue };

export type PolicyStage<View> = (view: View) => PolicyVerdict | Promise<PolicyVerdict>;

/** What a plugin says of tool calls, as verdicts instead of commands. */
export interface ToolPolicy<Config = unknown> {
  readonly "tool-call"?: PolicyStage<CallPhaseView<Config>>;
}

/** What a model call asks, before the provider sees it. */
export interface OutgoingRequest {
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly settings: JsonObject;
}

/** Answers the request to send instead. It changes what is sent, never what is stored. */
export type RequestTransform = (request: OutgoingRequest) => OutgoingRequest | Promise<OutgoingRequest>;

/** One per run and process; what has to outlive the process is in state keys. */
export interface PluginInstance<Config = unknown> {
  readonly hooks?: Hooks<Config>;
  readonly policy?: ToolPolicy<Config>;
  readonly transform?: RequestTransform;
  /** The run has left this process: it waits, is over, or another one has it. */
  readonly close?: () => void;
}

export interface PluginOptions<Schema extends StandardSchema> {
  readonly name: string;
  /** Change it when the code's meaning changes: code without a new version is invisible to the fingerprint. */
  readonly version?: string;
  readonly config?: Schema;
  /** Names of plugins that the agent must have as well, before this one in its list. */
  readonly requires?: readonly string[];
  /** The state keys that its hooks may write. */
  readonly state?: readonly StateKeyFacts[];
  readonly tools?: readonly Tool[] | ((config: OutputOf<Schema>) => readonly Tool[]);
  /** Said at every model call of the agent; with `persistent: false` or `consumeOnce` only at the first one. */
  readonly context?: readonly ContextMessage[] | ((config: OutputOf<Schema>) => readonly ContextMessage[]);
  readonly create?: (config: OutputOf<Schema>, run: PluginRun) => PluginInstance<OutputOf<Schema>>;
}

export interface PolicyName {
  readonly name: string;
  readonly version: string;
}

/** With its types erased, as an agent holds it. */
export interface PluginCode {
  /** When it is a policy: which one. */
  readonly policy?: PolicyName;
  readonly config?: StandardSchema;
  readonly requires: readonly string[];
  readonly state: readonly StateKeyFacts[];
  readonly tools: (config: unknown) => readonly Tool[];
  readonly context: (config: unknown) => readonly ContextMessage[];
  readonly create: (config: unknown, run: PluginRun) => PluginInstance;
}

/** A plugin with its config, not yet checked: that is done for each agent that takes it. */
export interface ConfiguredPlugin {
  readonly name: string;
  readonly version: string;
  readonly config: unknown;
  readonly code: PluginCode;
}

type ErasedOptions = PluginOptions<StandardSchema>;

const optionNames = ["name", "version", "config", "requires", "state", "tools", "context", "create"];

export function plugin<Schema extends StandardSchema>(
  options: PluginOptions<Schema> & { readonly config: Schema },
): (config: InputOf<Schema>) => ConfiguredPlugin;
export function plugin(options: PluginOptions<StandardSchema>): () => ConfiguredPlugin;
export function plugin(typed: unknown): (config?: unknown) => ConfiguredPlugin {
  const options = typed as ErasedOptions;
  const problems = new Problems(options, optionNames);
  checkPlugin(problems);
  problems.refuse("invalid-plugin", `Plugin ${shown(options?.name)} cannot be defined`);
  const { name, version = "1" } = options;
  const code = codeOf(options);
  return (config) => ({ name, version, config, code });
}

function checkPlugin(problems: Problems): void {
  problems.check("name", isName, `must match ${toolNamePattern}`);
  problems.optional("version", (text) => typeof text === "string" && text !== "", "must be a non-empty string");
  problems.optional("config", isStandardSchema, "must be a Standard Schema, for example z.object({ … })");
  problems.optional("requires", (names) => Array.isArray(names) && names.every(isName), "must be a list of names");
  problems.optional(
    "state",
    (keys) => Array.isArray(keys) && keys.every(isStateKey),
    "must be a list of stateKey({ … })",
  );
  problems.optional("tools", isListOrFunction, "must be a list of tool({ … }) or a function of the config");
  problems.optional("context", isListOrFunction, "must be a list of context messages or a function of the config");
  problems.optional("create", isFunction, "must be a function (config, run)");
}

function isName(name: unknown): boolean {
  return typeof name === "string" && toolNamePattern.test(name);
}

function isListOrFunction(value: unknown): boolean {
  return Array.isArray(value) || isFunction(value);
}

function codeOf(options: ErasedOptions): PluginCode {
  const { config, requires = [], state = [], tools = [], context = [], create = () => ({}) } = options;
  return {
    ...(config ? { config } : {}),
    requires,
    state,
    tools: isFunction(tools) ? (tools as PluginCode["tools"]) : () => tools as readonly Tool[],
    context: isFunction(context) ? (context as PluginCode["context"]) : () => context as readonly ContextMessage[],
    create: create as PluginCode["create"],
  };
}
