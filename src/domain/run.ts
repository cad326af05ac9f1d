/** Run: status, legal moves, outcomes, identity and what was asked for. */
import type { PolicyRef } from "./command.ts";
import type { ErrorRecord, RetryClass } from "./errors.ts";
import { HoldfastError } from "./errors.ts";
import type { CallId, Fingerprint, InputId, MessageId, RunId, Scope, ThreadId } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import type { Overrides } from "./overrides.ts";

export type RunStatus = "created" | "running" | "waiting" | "done";

const legalMoves: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  created: ["created", "running", "done"],
  running: ["running", "waiting", "done"],
  waiting: ["waiting", "running", "done"],
  done: [],
};

export function canMove(from: RunStatus, to: RunStatus): boolean {
  return legalMoves[from].includes(to);
}

export function move(from: RunStatus, to: RunStatus): RunStatus {
  if (canMove(from, to)) return to;
  throw new HoldfastError("illegal-transition", `A run cannot go from ${from} to ${to}`);
}

export type Outcome =
  | { readonly kind: "completed"; readonly reason: "natural" | "requested" }
  | { readonly kind: "stopped"; readonly code: string; readonly detail?: string }
  /** `code` and `policy`: where a policy or a plugin's stop has ended it. */
  | { readonly kind: "blocked"; readonly reason: string; readonly code?: string; readonly policy?: PolicyRef }
  | { readonly kind: "cancelled"; readonly reason?: string }
  | { readonly kind: "failed"; readonly error: ErrorRecord; readonly retry: RetryClass }
  | { readonly kind: "timed-out" };

export type RunOrigin = "user" | "subagent" | "internal";
export type RunMode = "foreground" | "scheduled" | "resume" | "internal_wake";
export type RunAdapter = "internal" | "acp" | "ai_sdk" | "ag_ui" | "a2a";

/** Who this run is and where it came from; flat, recorded in run-created. Blank optional ids are absent. */
export interface RunIdentity {
  readonly scope: Scope;
  readonly run: RunId;
  readonly thread: ThreadId;
  readonly agent: string;
  readonly rootRun: RunId;
  readonly parentRun?: RunId;
  readonly parentThread?: ThreadId;
  readonly parentCall?: CallId;
  readonly session?: string;
  readonly transportRequest?: string;
  readonly origin: RunOrigin;
  readonly mode: RunMode;
  readonly adapter: RunAdapter;
}

/** What was asked for, stored once with the run and kept over every later write. */
export interface RunRequest {
  readonly origin: "user" | "a2a" | "internal";
  readonly sender?: string;
  readonly key: string;
  readonly inputIds: readonly MessageId[];
  readonly inputCount: number;
  /** What it asks of the model otherwise than its agent does; its model is a whole route. */
  readonly overrides?: Overrides;
  readonly extras?: JsonValue;
}

/** Highest first. Few, so that a claim can look for each of them with one seek in an index. */
export const priorities = [2, 1, 0, -1, -2] as const;

export interface RunBudget {
  readonly steps: number;
  readonly wallTimeMs?: number;
  /** Input and output together. */
  readonly tokens?: number;
  /** Millionths of a US dollar. */
  readonly microUsd?: number;
  /** Levels of delegates below it; 8 unless said. */
  readonly depth?: number;
  /** Runs that it may start through its delegates; 100 unless said. */
  readonly children?: number;
}

export interface ManifestRef {
  readonly fingerprint: Fingerprint;
}

/** Tokens of one reply, as the provider counted. What it did not count is missing: unknown is never 0. */
export interface Usage {
  /** Everything that was sent, what came from the provider's cache or went into it included. */
  readonly inputTokens: number;
  /** Everything that was written, reasoning included. */
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

/** Tokens of a run: sums of what was counted. */
export interface RunUsage extends Usage {
  /** Replies whose provider counted nothing; missing when there are none. The sums leave them out. */
  readonly uncountedReplies?: number;
}

const partCounts = ["cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const;

export function sumUsage(sum: RunUsage, more: Usage): RunUsage {
  const parts = partCounts.flatMap((name) => {
    const known = [sum[name], more[name]].filter((count) => count !== undefined);
    return known.length === 0 ? [] : [[name, known.reduce((a, b) => a + b)]];
  });
  return {
    ...sum,
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    ...Object.fromEntries(parts),
  };
}

/** What a provider says it counted; undefined when that is no count. Parts of it that are none are left out. */
export function readUsage(said: unknown): Usage | undefined {
  const { inputTokens, outputTokens, ...rest } = (said ?? {}) as Partial<Usage>;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  const parts = partCounts.filter((name) => isCount(rest[name])).map((name) => [name, rest[name]]);
  return { inputTokens, outputTokens, ...Object.fromEntries(parts) };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export interface CancelRequest {
  readonly by: string;
  readonly at: number;
  readonly seq: number;
  readonly reason?: string;
  readonly instead?: "interrupted" | "superseded";
}

/** What became of a run below one that ends, once it was asked to end too. */
export interface StoppedRun {
  readonly run: RunId;
  readonly agent: string;
  /** finished-first: it ended before it could be stopped · would-not-stop: it had not ended when the grace was over. */
  readonly how: "stopped" | "finished-first" | "would-not-stop";
}

export interface PendingInput {
  readonly id: InputId;
  readonly seq: number;
}
