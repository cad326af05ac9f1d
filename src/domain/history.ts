/** How much of a conversation a model call sends, and what is done with the rest. */
import type { MessageId, RunId } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import type { DescribedModel, ModelDescription } from "./model.ts";
import { isFunction, Problems } from "./problems.ts";

export interface HistoryOptions {
  /** The most tokens that a call sends; as many as the model's window has room for beside an answer unless said. */
  readonly tokens?: number;
  /** The newest messages that are sent whole, whatever is left out: 10 unless said. */
  readonly recent?: number;
  /** Results with more tokens are shortened when room is needed and they are no longer recent; 2,048 unless said. */
  readonly resultTokens?: number;
  /** Older messages are summarised by a model before they are left out. */
  readonly compact?: boolean | CompactOptions;
}

/** recent-suffix: all but the recent messages are summarised · safe-frontier: all but the present step. */
export type CompactMode = "recent-suffix" | "safe-frontier";

export interface CompactOptions {
  readonly mode?: CompactMode;
  /** At which share of the room it begins: 0.75 unless said. */
  readonly at?: number;
  /** The most tokens of a summary: 1,024 unless said. */
  readonly summaryTokens?: number;
  /** A summary counts only if it saves at least this share of what it stands for: 0.5 unless said. */
  readonly saves?: number;
  /** What the model is asked to keep. */
  readonly instructions?: string;
  /** Who summarises: the agent's own model unless said. */
  readonly model?: DescribedModel;
}

/** As a manifest declares it. */
export interface HistorySpec {
  readonly tokens?: number;
  readonly recent: number;
  readonly resultTokens: number;
  readonly compact?: CompactSpec;
}

export interface CompactSpec {
  readonly mode: CompactMode;
  readonly at: number;
  readonly summaryTokens: number;
  readonly saves: number;
  readonly instructions: string;
  /** Absent: the agent's own. */
  readonly model?: Pick<ModelDescription, "provider" | "model">;
}

export interface AgentHistory {
  readonly spec: HistorySpec;
  readonly summariser?: DescribedModel;
}

export const defaultHistory: HistorySpec = { recent: 10, resultTokens: 2048 };

const summaryInstructions =
  "Summarise the conversation below for the assistant that goes on with it. Keep the goals, the facts that were learned, " +
  "decisions and who made them, names, numbers and ids exactly as they are, what was tried, and what is still open. " +
  "Leave out greetings and repetition. Write plain prose, no preamble.";

const historyNames = ["tokens", "recent", "resultTokens", "compact"];
const compactNames = ["mode", "at", "summaryTokens", "saves", "instructions", "model"];
const mostTokens = 1_000_000_000;

/** Undefined when nothing was said; problems are noted. */
export function readHistory(given: unknown, problems: Problems): AgentHistory | undefined {
  if (given === undefined) return undefined;
  const inner = new Problems(given, historyNames);
  inner.integer("tokens", 256, mostTokens);
  inner.integer("recent", 1, 1_000);
  inner.integer("resultTokens", 64, mostTokens);
  const { tokens, compact, ...said } = (given ?? {}) as HistoryOptions;
  const read = readCompact(compact, inner);
  problems.include("history", inner);
  return {
    spec: {
      ...(tokens === undefined ? {} : { tokens }),
      recent: said.recent ?? defaultHistory.recent,
      resultTokens: said.resultTokens ?? defaultHistory.resultTokens,
      ...(read ? { compact: read.spec } : {}),
    },
    ...(read?.model ? { summariser: read.model } : {}),
  };
}

interface ReadCompact {
  readonly spec: CompactSpec;
  readonly model?: DescribedModel;
}

function readCompact(given: unknown, problems: Problems): ReadCompact | undefined {
  if (given === undefined || given === false) return undefined;
  const inner = new Problems(given === true ? {} : given, compactNames);
  inner.oneOf("mode", ["recent-suffix", "safe-frontier"]);
  inner.optional("at", isShare(0.1, 0.95), "must be a number from 0.1 to 0.95");
  inner.integer("summaryTokens", 64, 100_000);
  inner.optional("saves", isShare(0, 0.99), "must be a number from 0 to 0.99");
  inner.optional("instructions", (text) => typeof text === "string" && text.trim() !== "", "must be words");
  inner.optional("model", isModel, "must be a model itself, such as openaiCompatible({ … }) or fromAiSdk(…)");
  problems.include("compact", inner);
  const said = (given === true ? {} : given) as CompactOptions;
  const { model } = said;
  return {
    spec: {
      mode: said.mode ?? "recent-suffix",
      at: said.at ?? 0.75,
      summaryTokens: said.summaryTokens ?? 1024,
      saves: said.saves ?? 0.5,
      instructions: said.instructions ?? summaryInstructions,
      ...(isModel(model) ? { model: namesOf(model) } : {}),
    },
    ...(isModel(model) ? { model } : {}),
  };
}

function isShare(least: number, most: number): (value: unknown) => boolean {
  return (value) => typeof value === "number" && value >= least && value <= most;
}

function isModel(value: unknown): value is DescribedModel {
  const { description, call } = (value ?? {}) as Partial<DescribedModel> & { readonly call?: unknown };
  return typeof description?.provider === "string" && typeof description.model === "string" && isFunction(call);
}

function namesOf({ description: { provider, model } }: DescribedModel): Pick<ModelDescription, "provider" | "model"> {
  return { provider, model };
}

/** Where a thread's calls begin, until the next one is written. A thread keeps its newest. */
export interface HistoryMark {
  /** The first message that is sent; what lies before it is left out, or in the summary. */
  readonly from: MessageId;
  /** How many messages of the thread lie before it. */
  readonly before: number;
  /** Messages whose results are sent shortened. */
  readonly shortened: readonly MessageId[];
  /** How many characters of those are sent, where that is fewer than usual. */
  readonly head?: number;
  /** The run whose input is sent although it lies before `from`. */
  readonly pinnedFor?: RunId;
  readonly summary?: Summary;
  /** Tokens that providers counted for each one that was estimated. */
  readonly ratio: number;
}

export interface Summary {
  readonly id: MessageId;
  readonly text: string;
  /** What it stands for, the summary before it included. */
  readonly of: { readonly from: MessageId; readonly to: MessageId; readonly messages: number };
  /** The summary that it took in. */
  readonly previous?: MessageId;
}

/** The state key under which a thread keeps its mark. */
export const markKey = "holdfast.history";
export const markVersion = 1;

/** A mark is plain data. */
export function asJson(mark: HistoryMark): JsonValue {
  return mark as unknown as JsonValue;
}

/** Why a message is sent, sent in part, or not sent. */
export type ContextReason = "recent" | "input" | "fits" | "shortened" | "summarised" | "left-out";

export interface ContextDecision {
  readonly message: MessageId;
  readonly reason: ContextReason;
}
