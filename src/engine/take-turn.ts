/** Turns what came of a remote turn into entries. Nothing here starts anything. */
import { type Kept, keptOutput } from "../domain/backend/kept-output.ts";
import { backendOutputKey, type RemoteSettlement, remoteTaskKey } from "../domain/backend/remote-turn.ts";
import {
  type BackendResult,
  isEmptyOutput,
  type RemoteTask,
  reportOf,
  saidBy,
  writtenOutput,
} from "../domain/backend/result.ts";
import type { FinishReason, Settled } from "../domain/entry.ts";
import { replyId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { Message } from "../domain/message.ts";
import type { BackendStatus } from "../domain/seed-tables/backend-status.ts";
import { act, type Draft } from "./draft.ts";
import { retryAt } from "./retry.ts";
import { spendingOf } from "./spending.ts";
import type { Fact, TurnOutcome } from "./work.ts";

type RemoteFact = Extract<Fact, { kind: "turn-settled" | "task-seen" | "abort-settled" }>;
type TurnFact = Extract<Fact, { kind: "turn-settled" }>;
type Answered = Extract<TurnOutcome, { kind: "result" }>;

export function takeRemote(draft: Draft, fact: RemoteFact): void {
  switch (fact.kind) {
    case "turn-settled":
      return takeTurn(draft, fact);
    case "task-seen":
      return writeKey(draft, remoteTaskKey, fact.task as unknown as JsonValue);
    case "abort-settled":
      return takeAbort(draft, fact);
    default:
      fact satisfies never;
  }
}

function takeTurn(draft: Draft, fact: TurnFact): void {
  const { outcome } = fact;
  switch (outcome.kind) {
    case "result":
      return takeResult(draft, fact, outcome);
    case "failed":
      return settle(draft, fact, failedResult(draft, fact, outcome));
    case "unknown":
      return settle(draft, fact, outcome);
    case "absent":
      return settle(draft, fact, { kind: "lost" });
    case "aborted":
    case "not-made":
      return settle(draft, fact, { kind: outcome.kind });
    default:
      outcome satisfies never;
  }
}

function settle(draft: Draft, { effect, attempt }: Pick<TurnFact, "effect" | "attempt">, result: Settled): void {
  act(draft, { type: "effect-settled", effect, attempt, result });
}

function failedResult(draft: Draft, fact: TurnFact, failed: Extract<TurnOutcome, { kind: "failed" }>): Settled {
  const { error, retry } = failed;
  const failures = (draft.state.step?.model.failures ?? 0) + 1;
  const { deadlineAt } = draft.state.created;
  const again = retryAt({ retry, failures, effect: fact.effect, afterMs: undefined, deadlineAt }, draft.at);
  return { kind: "failed", error, retry, ...(again === undefined ? {} : { retryAt: again }) };
}

function takeResult(draft: Draft, fact: TurnFact, { result, tookMs }: Answered): void {
  const { response, output } = saidBy(result);
  const kept = keptOutput(output, draft.at.remote);
  if (kept.kind === "refused") {
    const error = { code: "backend-execution-failed", message: kept.problem };
    return settle(draft, fact, { kind: "failed", error, retry: "never", begun: true, ...spendingOf(draft, result) });
  }
  if (result.task && !isSameTask(result.task, draft.state.remote?.task)) {
    writeKey(draft, remoteTaskKey, result.task as unknown as JsonValue);
  }
  if (!isEmptyOutput(kept.output)) writeKey(draft, backendOutputKey, writtenOutput(kept.output));
  for (const [key, value] of Object.entries(result.state ?? {})) if (isFree(draft, key)) writeKey(draft, key, value);
  sayReply(draft, fact, { result, tookMs, response, kept });
}

interface Reply {
  readonly result: BackendResult;
  readonly tookMs: number;
  readonly response: string;
  readonly kept: Extract<Kept, { kind: "kept" }>;
}

/** An empty response is no message. One that has to pass the output gate is held back, and so are the words of its wait. */
function sayReply(draft: Draft, { effect, attempt }: TurnFact, { result, tookMs, response, kept }: Reply): void {
  const message = response === "" ? undefined : replyOf(draft, response);
  const isHeld = message !== undefined && draft.at.hooked("output-gate");
  const { status, termination } = reportOf(result);
  const remote: RemoteSettlement = {
    status: isHeld ? withoutWords(status) : status,
    termination,
    ...(result.statusReason === undefined ? {} : { statusReason: result.statusReason }),
    ...(result.task ? { task: result.task } : {}),
    tookMs,
    ...(kept.dropped.length === 0 ? {} : { dropped: kept.dropped }),
  };
  const settled: Settled = {
    kind: "done",
    ...(message ? { message: message.id } : {}),
    ...finishOf(remote),
    ...spendingOf(draft, result),
    remote,
  };
  act(draft, { type: "effect-settled", effect, attempt, result: settled, ...(isHeld ? { reply: message } : {}) });
  if (message && !isHeld) act(draft, { type: "message-appended", body: { kind: "here", message } });
}

/** Only an end of its own is one of a model. */
function finishOf({ termination }: RemoteSettlement): { readonly finish?: FinishReason } {
  const isOwn = termination.type === "natural_end" || termination.type === "behavior_requested";
  return isOwn ? { finish: "stop" } : {};
}

function withoutWords(status: BackendStatus): BackendStatus {
  if (status.kind === "waiting_input" || status.kind === "waiting_auth" || status.kind === "suspended") {
    return { kind: status.kind };
  }
  return status;
}

function replyOf({ state }: Draft, text: string): Message {
  const { run } = state.created.identity;
  const step = state.step?.step ?? 0;
  return {
    id: replyId(run, step),
    role: "assistant",
    parts: [{ type: "text", text }],
    visibility: "all",
    producer: { run, step },
  };
}

function isSameTask(a: RemoteTask, b: RemoteTask | undefined): boolean {
  return a.task === b?.task && a.context === b.context;
}

/** What code here has a key for is not the other side's to write. */
function isFree({ at }: Draft, key: string): boolean {
  return !at.keys.has(key) && !key.startsWith("__runtime") && !key.startsWith("holdfast.");
}

function writeKey(draft: Draft, key: string, value: JsonValue): void {
  const by = `backend ${draft.at.remote?.name ?? "?"}`;
  act(draft, { type: "state-changed", key, scope: "run", version: 1, change: { value }, by });
}

/** A request that failed is over too: it was logged, and the run ends as it would. */
function takeAbort(draft: Draft, { effect, attempt, problem }: Extract<Fact, { kind: "abort-settled" }>): void {
  const error = { code: "backend-execution-failed", message: problem ?? "" };
  const result: Settled = problem === undefined ? { kind: "done" } : { kind: "failed", error, retry: "never" };
  act(draft, { type: "effect-settled", effect, attempt, result });
}
