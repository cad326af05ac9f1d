/**
 * A call of a delegate is a run of its own, in the same store. Its intent, the ticket that its parent waits on and the
 * delivery that gives birth to it are one commit; its end comes back as the decision on that ticket.
 *
 * C1 A call has at most one child, ever, whatever crashes: the child's id, thread and start key are derived from the call,
 *    and its intent is written once.
 * C2 A child is born iff its intent is committed: the birth is a delivery of that commit, carried until the store has it, or
 *    until nobody waits for it any more (S14).
 * C3 What a child may use up is held in its parent's books from its intent until its end is taken. What it has not used up
 *    is free again then, once.
 * C4 A child has no more than its parent has declared for it, and no more of any budget than its parent has left.
 * C5 The call has exactly one result: the child's output, or in words how it ended otherwise.
 * C6 No lease is held while a child is at work, and no claim that ends loses it: only its own end settles it.
 * C7 An ended parent has no living child that it has not asked to end (stop-children.ts).
 */
import { errorResult } from "../domain/apply-call.ts";
import { defaultChildren, defaultDepth } from "../domain/budget.ts";
import type { ChildIntent, EffectSettled } from "../domain/entry.ts";
import { childId, childThread, toolEffectId } from "../domain/ids.ts";
import { type Amount, emptyLedger, isMetered, leftOf, nothing } from "../domain/ledger.ts";
import type { RunBudget } from "../domain/run.ts";
import type { CallState } from "../domain/run-state.ts";
import { answerWithHandle } from "./background.ts";
import type { BoundDelegate } from "./bound-delegate.ts";
import { act, type Draft, emit, resume } from "./draft.ts";
import { appendResult } from "./take-fact.ts";
import { openChild } from "./tickets.ts";

export function isChild({ effect }: Pick<CallState, "effect">): boolean {
  return effect?.child !== undefined;
}

/** C1, C2. What is beyond a limit is a result that the model reads. */
export function intendChild(draft: Draft, call: CallState, key: string): void {
  const lent = draft.at.delegate(call.tool);
  const slice = lent ? sliceFor(draft, lent) : undefined;
  const refusal = lent
    ? (lent.refusal ?? limitOf(draft) ?? problemOf(slice))
    : `There is no delegate ${call.tool} any more`;
  if (!lent || refusal !== undefined || typeof slice === "string") {
    resume(draft);
    appendResult(draft, call.id, errorResult("not-run", refusal ?? ""));
    return;
  }
  const child = childOf(draft, { call, lent, slice });
  const effect = toolEffectId(call.id, call.keyGeneration);
  const { startBy } = draft.at;
  const place = { effect, kind: "child" as const, step: draft.state.step?.step ?? 0, call: call.id };
  const attempt = { attempt: 1, key, startBy, timeoutMs: 0 };
  act(draft, { type: "effect-intended", ...place, ...attempt, child, ...(slice ? { slice } : {}) });
  openChild(draft, call, child);
  if (child.background) answerWithHandle(draft, call);
}

function problemOf(slice: Amount | string | undefined): string | undefined {
  return typeof slice === "string" ? slice : undefined;
}

function limitOf({ state }: Draft): string | undefined {
  const { depth = defaultDepth, children = defaultChildren } = state.created.budget;
  if (depth < 1) return "No more levels of delegates may be below this run; do it yourself";
  if (state.children < children) return undefined;
  return `This run has given work to ${state.children} runs, and ${children} is the limit; do it yourself`;
}

/** C3, C4. What a delegate has no limit of its own for is shared by the calls of this step that are still to begin. */
function sliceFor(draft: Draft, lent: BoundDelegate): Amount | string | undefined {
  const { created, ledger = emptyLedger } = draft.state;
  const { budget } = created;
  if (!isMetered(budget)) return undefined;
  const left = leftOf(budget, ledger);
  const sharers = waitingForSlice(draft) + (lent.background ? 1 : 0); // the run itself goes on beside it
  const part = (name: "tokens" | "microUsd"): number => {
    const all = budget[name];
    if (all === undefined) return nothing[name];
    const own = lent.manifest().budget[name] ?? all;
    return Math.min(own < all ? own : Math.floor(left[name] / sharers), left[name]);
  };
  const slice = { tokens: part("tokens"), microUsd: part("microUsd") };
  const isEmpty = (["tokens", "microUsd"] as const).some((name) => budget[name] !== undefined && slice[name] < 1);
  return isEmpty ? `Nothing of the budget is left that ${lent.agent} could use` : slice;
}

/** Calls of delegates that are not begun yet, this one included. */
function waitingForSlice({ state, at }: Draft): number {
  const open = state.step?.calls.filter((call) => call.status !== "settled" && !isChild(call)) ?? [];
  return Math.max(1, open.filter(({ tool }) => at.spec(tool)?.effect === "child").length);
}

interface Lending {
  readonly call: CallState;
  readonly lent: BoundDelegate;
  readonly slice: Amount | undefined;
}

function childOf({ state, at }: Draft, { call, lent, slice }: Lending): ChildIntent {
  const { budget: own } = lent.manifest();
  const { budget: parent, deadlineAt } = state.created;
  const budget = withSlice(
    { ...own, depth: Math.min(own.depth ?? defaultDepth, (parent.depth ?? defaultDepth) - 1) },
    parent,
    slice,
  );
  const ends = [deadlineAt, own.wallTimeMs === undefined ? undefined : at.now + own.wallTimeMs];
  const known = ends.filter((time) => time !== undefined);
  const hash = (text: string): string => at.hash.sha256(text);
  return {
    run: childId(call.id, hash),
    thread: childThread(call.id, hash),
    agent: lent.agent,
    budget,
    ...(known.length === 0 ? {} : { deadlineAt: Math.min(...known) }),
    ...(lent.ephemeral ? { ephemeral: true as const } : {}),
    ...(lent.background ? { background: true as const } : {}),
  };
}

function withSlice(budget: RunBudget, parent: RunBudget, slice: Amount | undefined): RunBudget {
  if (!slice) return budget;
  return {
    ...budget,
    ...(parent.tokens === undefined ? {} : { tokens: slice.tokens }),
    ...(parent.microUsd === undefined ? {} : { microUsd: slice.microUsd }),
  };
}

/** C3, C5: once its end is known. False while it is at work. */
export function settleChild(draft: Draft, call: CallState): boolean {
  const settled = settlementOf(call);
  if (!settled) return false;
  act(draft, settled);
  return true;
}

/** The same at the end of the run, which does not resume for it. */
export function closeChild(draft: Draft, call: CallState): void {
  const settled = settlementOf(call);
  if (settled) emit(draft, settled);
  if (settled && call.result && !draft.at.hooked("after-tool")) appendResult(draft, call.id, call.result);
  const { effect } = call;
  if (settled || !effect?.open) return;
  // Nobody knows what it still uses up: what was held for it counts as spent (B3).
  emit(draft, settledAs(call, { kind: "aborted" }));
}

function settlementOf(call: CallState): EffectSettled | undefined {
  const { ended, effect } = call;
  if (!ended || !effect?.open) return undefined;
  const { spent = nothing } = ended;
  return settledAs(call, { kind: "done", cost: spent });
}

function settledAs({ effect, id }: CallState, result: EffectSettled["result"]): EffectSettled {
  const dropped = effect?.child?.ephemeral ? { dropped: effect.child.thread } : {};
  return {
    type: "effect-settled",
    effect: effect?.id ?? (id as never),
    attempt: effect?.open?.attempt ?? 1,
    result,
    ...dropped,
  };
}
