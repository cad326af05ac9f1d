/**
 * One attempt of a tool call: check the time, run the code, say how it ended.
 *
 * T1 `startBy` is checked as the last statement before the call.
 * T2 Of a `once` call only ToolFailure says that nothing happened; any other throw, a timeout and an abort are
 *    settled by `reconcile`, else as unknown.
 * T3 "Not done" counts only when the attempt has settled or can no longer be running.
 */
import { errorResult } from "../domain/apply-call.ts";
import type { SetState } from "../domain/command.ts";
import { isToolFailure } from "../domain/errors.ts";
import { messageOf, toJson } from "../domain/json.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Slots } from "../domain/state-slots.ts";
import type { StateSpace } from "../domain/state-space.ts";
import type { ToolContext, ToolSpec, ToolState } from "../domain/tool.ts";
import type { BoundAgent, EngineDeps } from "./deps.ts";
import { type Ended, refusedEnd, type Shelf, valueEnd } from "./ended.ts";
import { settleWithin, type Timing, type Within, wait } from "./settle-within.ts";
import { openToolState } from "./tool-state.ts";
import type { PreparedFact, ReconcileOrder, ToolOrder } from "./work.ts";

export interface ToolCall {
  readonly order: ToolOrder;
  readonly state: RunState;
  readonly agent: BoundAgent;
  readonly epoch: number;
  readonly storeNow: () => number;
  /** The thread's state when the run was taken up. */
  readonly threadBase: Slots;
  /** What came in after the attempt was given up. */
  readonly late: (ended: Ended) => void;
  readonly controller: AbortController;
}

type TimedDeps = EngineDeps & Timing;
/** A transactional call has only read so far. */
type Prepared = Pick<PreparedFact, "apply" | "writes">;

export async function runTool(call: ToolCall, deps: TimedDeps): Promise<Ended | Prepared> {
  const { order, agent, controller } = call;
  const spec = agent.tools.spec(order.tool);
  const { state, writes } = openToolState(spaceFor(call), spec);
  const context = contextOf(call, state, deps);
  if (!spec || deps.clock.monotonic() >= order.beginBy) return { settled: { kind: "not-made" } }; // T1
  const attempt = agent.tools.execute(order.tool, order.input, context);
  const within = await settleWithin(attempt, order.timeoutMs, deps);
  if (within.kind === "value") {
    if (spec.effect !== "transactional") return withWrites(valueEnd(within.value, deps), writes());
    const prepared = within.value;
    return { apply: (tx) => agent.tools.apply(order.tool, { tx, prepared, context }), writes };
  }
  if (within.kind === "threw" && isToolFailure(within.cause)) return refusedEnd("tool-failed", show(within));
  const aborted = controller.signal.aborted;
  if (within.kind === "timeout") {
    controller.abort();
    attempt.then(
      (value) => (spec.effect === "transactional" ? undefined : call.late(valueEnd(value, deps))),
      () => undefined,
    );
  }
  if (spec.effect === "once") return onceEnd(call, within, deps);
  if (aborted) return { settled: { kind: "aborted" }, result: errorResult("aborted", "The call was aborted") };
  return within.kind === "timeout"
    ? refusedEnd("timed-out", timeoutText(order))
    : refusedEnd("tool-failed", show(within));
}

/** What its code wrote belongs to a call that gave a value, and to no other. */
function withWrites(ended: Ended, writes: readonly SetState[]): Ended {
  return writes.length === 0 || ended.settled.kind !== "done" ? ended : { ...ended, writes };
}

function spaceFor({ state, agent, threadBase }: ToolCall): StateSpace {
  return { keys: agent.plugins.keys, run: state.slots, thread: state.threadSlots, base: threadBase };
}

/** T2, T3 for an attempt of this process. */
async function onceEnd(call: ToolCall, within: Within<unknown>, deps: TimedDeps): Promise<Ended> {
  const { order, agent } = call;
  const settled = within.kind === "threw";
  const latest = order.startBy + order.timeoutMs;
  const why = settled ? `it threw: ${show(within)}` : timeoutText(order);
  if (agent.tools.spec(order.tool)?.reconciles) {
    const certainAt = settled ? call.storeNow() : latest;
    const found = await askUntilCertain({ ...order, certainAt }, agent, { ...deps, storeNow: call.storeNow });
    if (found.kind === "done") return valueEnd(found.result, deps);
    if (found.kind === "not-done") return refusedEnd(settled ? "tool-failed" : "timed-out", why);
  }
  return { settled: { kind: "unknown", why, decidableFrom: settled ? call.storeNow() : latest } };
}

/** A lost attempt: the same question, asked by the worker that found the intent. */
export async function reconcileLost(order: ReconcileOrder, agent: BoundAgent, time: StoreTime & Shelf): Promise<Ended> {
  const found = await askUntilCertain(order, agent, time);
  if (found.kind === "done") return valueEnd(found.result, time);
  if (found.kind === "not-done") return { settled: { kind: "not-made" } };
  const why = "its worker was lost and reconcile could not tell";
  return { settled: { kind: "unknown", why, decidableFrom: order.certainAt } };
}

type Found = { readonly kind: "done"; readonly result: unknown } | { readonly kind: "not-done" | "unknown" };
type Question = Pick<ReconcileOrder, "tool" | "key" | "input" | "timeoutMs" | "certainAt">;

/** What was written in store time is compared with store time, whatever this process's clock says. */
export interface StoreTime extends Timing {
  readonly storeNow: () => number;
}

async function askUntilCertain(question: Question, agent: BoundAgent, time: StoreTime): Promise<Found> {
  const { storeNow } = time;
  for (;;) {
    const askedAt = storeNow();
    const answer = agent.tools.reconcile(question.tool, question.key, question.input);
    const within = await settleWithin(answer, question.timeoutMs, time);
    if (within.kind !== "value") return { kind: "unknown" };
    const found = within.value;
    if (found?.status === "done") return { kind: "done", result: found.result };
    if (found?.status !== "not-done") return { kind: "unknown" };
    if (askedAt >= question.certainAt) return { kind: "not-done" }; // T3
    await wait(question.certainAt - storeNow(), time);
  }
}

/** L3: an attempt whose end cannot even be described is settled all the same. */
export function brokenEnd(order: ToolOrder | ReconcileOrder, spec: ToolSpec | undefined, cause: unknown): Ended {
  const why = `its end could not be read: ${messageOf(cause)}`;
  if (spec && spec.effect !== "once") return refusedEnd("tool-failed", why);
  const decidableFrom = order.kind === "tool" ? order.startBy + order.timeoutMs : order.certainAt;
  return { settled: { kind: "unknown", why, decidableFrom } };
}

function contextOf(call: ToolCall, access: ToolState, deps: EngineDeps): ToolContext {
  const { order, state, controller } = call;
  const { run, thread } = state.created.identity;
  return {
    state: access,
    idempotencyKey: order.key,
    signal: controller.signal,
    runId: run,
    threadId: thread,
    callId: order.call,
    step: order.step,
    attempt: order.attempt,
    fence: call.epoch,
    context: state.created.context,
    decision: order.decision,
    report: (progress) => report(call, progress, deps),
    log: (message, details) => deps.logger.note(message, { run, call: order.call, ...details }),
    now: () => deps.clock.now(),
  };
}

/** Told to whoever watches; never stored, never a reason to fail. */
function report({ order, state }: ToolCall, progress: unknown, deps: EngineDeps): void {
  const { scope, run, thread } = state.created.identity;
  const json = toJson(progress);
  const { call, step, attempt } = order;
  if (json.ok) deps.live.tell(scope, { type: "tool-progress", run, thread, step, attempt, call, progress: json.value });
  else deps.logger.warn(`Progress of call ${call} is not JSON: ${json.problem} at ${json.path}`);
}

function timeoutText(order: ToolOrder): string {
  return `${order.tool} did not end within ${order.timeoutMs} ms`;
}

function show(within: Within<unknown>): string {
  return within.kind === "threw" ? messageOf(within.cause) : within.kind;
}
