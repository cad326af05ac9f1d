/** Tool: `ToolSpec` (data, part of the manifest) and its code. `tool()` refuses every wrong option at once. */
import { isReserved, reservedName } from "./answer-tool.ts";
import { type ApprovalTerms, termsProblems } from "./approval.ts";
import type { ContentResult } from "./content.ts";
import type { CallId, RunId, ThreadId } from "./ids.ts";
import { carries, type JsonObject, type JsonValue } from "./json.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import { isFunction, Problems, shown } from "./problems.ts";
import { type InputOf, isStandardSchema, type OutputOf, type StandardSchema } from "./standard-schema.ts";
import { isStateKey, type MergedKey, type ReadableKey, type StateKey, type StateKeyFacts } from "./state-key.ts";
import type { Decision, ResumeMode } from "./ticket.ts";
import { termsInOrder } from "./written-order.ts";

/**
 * What may be done after a crash between intent and settlement. The default is the careful one. A child is a run of its
 * own, which no crash of its parent touches: only delegates have it.
 */
export type EffectClass = "pure" | "idempotent" | "once" | "transactional" | "child" | "handoff";

/** Whose transactions a transactional tool writes in. */
export type TransactionKind = "sqlite" | "postgres";

export interface ToolSpec {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly effect: EffectClass;
  readonly resume: ResumeMode;
  readonly gate: "never" | "always" | "by-input";
  readonly timeoutMs: number;
  /** Calls of this tool that one run may have in flight. */
  readonly concurrency: number;
  readonly onUnknown: "ask" | "tell-model";
  readonly reconciles: boolean;
  /** Transactional tools only: the store it needs. */
  readonly transaction?: TransactionKind;
  /** Who may approve it, until when, and what counts if nobody does; absent when nothing was said. */
  readonly approval?: ApprovalTerms;
  /** Names of the state keys that it writes; absent when there are none. */
  readonly writes?: readonly string[];
}

export type Reconciled =
  | { readonly status: "done"; readonly result: unknown }
  | { readonly status: "not-done" }
  | { readonly status: "unknown" };

/** State as a call sees it: as it was when its attempt began, and what it wrote itself. */
export interface ToolState {
  get<Value>(key: ReadableKey<Value>): Value;
  /** Only keys that the tool declares in `writes`. */
  set<Value>(key: StateKey<Value>, value: Value): void;
  update<Value, Operand>(key: MergedKey<Value, Operand>, operand: Operand): void;
}

/** What a tool's code gets, and nothing else. Process things (clients, pools) come by closure. */
export interface ToolContext {
  /** Stable over retries, workers and restarts; new only by an operator's run-again. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly callId: CallId;
  readonly step: number;
  readonly attempt: number;
  /** Fencing token: rises with every claim of the run. */
  readonly fence: number;
  readonly context: JsonValue | undefined;
  /** The answer that let this call run, when one was asked for. */
  readonly decision: { readonly decision: Decision; readonly by: string; readonly at: number } | undefined;
  /** What it writes is kept together with its result, or not at all. */
  readonly state: ToolState;
  /** Tells watchers how far it is; live only. */
  readonly report: (progress: JsonValue) => void;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
  readonly now: () => number;
}

/** Code with its types erased: the engine checks input by schema before it calls. */
export interface ToolCode {
  readonly schema: StandardSchema;
  readonly needsApproval?: (input: unknown) => boolean | Promise<boolean>;
  readonly execute?: (input: unknown, context: ToolContext) => unknown;
  readonly reconcile?: (key: string, input: unknown) => Promise<Reconciled>;
  /** State keys that it writes. */
  readonly writes?: readonly StateKeyFacts[];
  /** Transactional tools only: `execute` prepares, this writes. */
  readonly apply?: (tx: unknown, prepared: unknown, context: ToolContext) => unknown;
}

export interface Tool<Input = unknown, Output = unknown> {
  readonly spec: ToolSpec;
  readonly code: ToolCode;
  /** Types only; never set. */
  readonly "~types"?: { readonly input: Input; readonly output: Output };
}

export interface ToolOptions<Schema extends StandardSchema, Output> {
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  /** Change it when the code's meaning changes: code without a new version is invisible to the fingerprint. */
  readonly version?: string;
  /** A transactional one is made by `transactionalTool` of its store. */
  readonly effect?: Exclude<EffectClass, "transactional" | "child" | "handoff">;
  readonly needsApproval?: boolean | ((input: OutputOf<Schema>) => boolean | Promise<boolean>);
  /** Who may approve it, until when, and what counts if nobody does. */
  readonly approval?: ApprovalTerms;
  readonly resume?: ResumeMode;
  readonly timeoutMs?: number;
  readonly concurrency?: number;
  readonly onUnknown?: "ask" | "tell-model";
  /** State keys that its code writes. Calls that share an exclusive one run one at a time. */
  readonly writes?: readonly StateKeyFacts[];
  readonly reconcile?: (key: string, input: OutputOf<Schema>) => Promise<Reconciled>;
  /** Without it the tool is a question: a person or a frontend gives the result. */
  readonly execute?: (input: OutputOf<Schema>, context: ToolContext) => Output | Promise<Output>;
}

type ErasedOptions = ToolOptions<StandardSchema, unknown>;

const optionNames = [
  "name",
  "description",
  "input",
  "version",
  "effect",
  "needsApproval",
  "approval",
  "resume",
  "timeoutMs",
  "concurrency",
  "onUnknown",
  "writes",
  "reconcile",
  "execute",
] as const satisfies readonly (keyof ToolOptions<StandardSchema, unknown>)[];

export const toolNamePattern: RegExp = /^[a-zA-Z0-9_-]{1,64}$/;
const defaultTimeoutMs = 60_000;
const maxTimeoutMs = 24 * 60 * 60_000;
const maxConcurrency = 1_000;

export function tool<Schema extends StandardSchema, Output>(
  typed: ToolOptions<Schema, Output>,
): Tool<InputOf<Schema>, ResultOf<Awaited<Output>>> {
  const options = typed as unknown as ErasedOptions; // from here on the schema vouches for the input
  const problems = new Problems(options, optionNames);
  checkTool(options, problems);
  const inputSchema = isStandardSchema(options?.input) ? jsonSchemaOf(options.input, "input", problems) : {};
  problems.refuse("invalid-tool", `Tool ${shown(options?.name)} cannot be defined`);
  return { spec: specOf(options, inputSchema), code: codeOf(options) };
}

function checkTool(options: ErasedOptions, problems: Problems): void {
  problems.check(
    "name",
    (name) => typeof name === "string" && toolNamePattern.test(name),
    `must match ${toolNamePattern}`,
  );
  if (typeof options?.name === "string" && isReserved(options.name)) problems.add(`name: ${reservedName}`);
  problems.check("description", (text) => typeof text === "string" && text.length > 0, "must be a non-empty string");
  problems.check("input", isStandardSchema, "must be a Standard Schema, for example z.object({ … })");
  problems.optional("version", (text) => typeof text === "string" && text.length > 0, "must be a non-empty string");
  problems.oneOf("effect", ["pure", "idempotent", "once"]);
  problems.optional("needsApproval", (v) => typeof v === "boolean" || isFunction(v), "must be a boolean or a function");
  if (options?.approval !== undefined) {
    problems.include("approval", termsProblems(options.approval));
    if (options.needsApproval === undefined) problems.add("approval: needs needsApproval");
  }
  problems.oneOf("resume", ["replay", "use-decision-as-result", "pass-decision-to-tool"]);
  problems.integer("timeoutMs", 1, maxTimeoutMs);
  problems.integer("concurrency", 1, maxConcurrency);
  problems.oneOf("onUnknown", ["ask", "tell-model"]);
  problems.optional(
    "writes",
    (keys) => Array.isArray(keys) && keys.every(isStateKey),
    "must be a list of stateKey({ … })",
  );
  problems.optional("reconcile", isFunction, "must be a function (key, input)");
  problems.optional("execute", isFunction, "must be a function (input, context)");
  if (options?.reconcile && (options.effect ?? "once") !== "once")
    problems.add('reconcile: only "once" tools are reconciled');
  if (options?.onUnknown && (options.effect ?? "once") !== "once")
    problems.add('onUnknown: only "once" calls can be unknown');
  if (!options?.execute) {
    for (const name of ["effect", "timeoutMs", "concurrency", "onUnknown", "writes"] as const) {
      if (options?.[name] !== undefined) problems.add(`${name}: needs execute`);
    }
    if (options?.resume && options.resume !== "use-decision-as-result")
      problems.add(`resume: ${String(options.resume)} needs execute`);
    if (options?.reconcile) problems.add("reconcile: needs execute");
    if (options?.needsApproval !== undefined)
      problems.add("needsApproval: needs execute; without it every call is a question");
  } else if (options.resume === "use-decision-as-result") {
    problems.add("resume: use-decision-as-result means no execute");
  }
}

function specOf(options: ErasedOptions, inputSchema: JsonObject): ToolSpec {
  const { needsApproval } = options;
  return {
    name: options.name,
    version: options.version ?? "1",
    description: options.description,
    inputSchema,
    effect: options.effect ?? "once",
    resume: options.resume ?? (options.execute ? "replay" : "use-decision-as-result"),
    gate: isFunction(needsApproval) ? "by-input" : needsApproval ? "always" : "never",
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    concurrency: options.concurrency ?? maxConcurrency,
    onUnknown: options.onUnknown ?? "ask",
    reconciles: options.reconcile !== undefined,
    ...(options.approval ? { approval: termsInOrder(options.approval) } : {}),
    ...(options.writes?.length ? { writes: options.writes.map(({ name }) => name).sort() } : {}),
  };
}

function codeOf(options: ErasedOptions): ToolCode {
  const { input: schema, needsApproval, execute, reconcile, writes } = options;
  return {
    schema,
    ...(writes ? { writes } : {}),
    ...(isFunction(needsApproval) ? { needsApproval: needsApproval as NonNullable<ToolCode["needsApproval"]> } : {}),
    ...(execute ? { execute: execute as NonNullable<ToolCode["execute"]> } : {}),
    ...(reconcile ? { reconcile: reconcile as NonNullable<ToolCode["reconcile"]> } : {}),
  };
}

const told = Symbol.for("holdfast.told");

/** Words, or a list of words and files: these are shown to a model that reads such, and named to any other. */
export type Told = string | readonly (string | ContentResult)[];

export interface ToldResult<Value> {
  readonly value: Value;
  readonly say: Told;
  readonly [told]: true;
}

/** What a result is for the program, whatever else the model is told. */
export type ResultOf<Output> =
  Output extends ToldResult<infer Value> ? ResultOf<Value> : Output extends ContentResult ? JsonValue : Output;

/** A result with data for the program and other words for the model, which may be shown images and files among them. */
export function tellModel<Value>(value: Value, say: Told): ToldResult<Value> {
  return { value, say, [told]: true };
}

export function toldToModel(value: unknown): ToldResult<unknown> | undefined {
  return carries(value, told) ? (value as ToldResult<unknown>) : undefined;
}
