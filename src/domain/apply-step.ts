/** The part of `apply` that moves a step and the attempts of its effects. */
import type { ChildIntent, Entry, EntryBody, Settled } from "./entry.ts";
import { HoldfastError } from "./errors.ts";
import { modelEffectId } from "./ids.ts";
import { type Amount, emptyLedger, hold, isMetered, nothing, settle } from "./ledger.ts";
import { type RunUsage, sumUsage } from "./run.ts";
import type { EffectState, RunState, StepState } from "./run-state.ts";

export type EffectEntry = Extract<Entry, { type: "effect-intended" | "effect-settled" }>;

export function freshStep(step: number, state: RunState): StepState {
  return {
    step,
    model: { id: modelEffectId(state.created.identity.run, step), attempt: 0, failures: 0 },
    calls: [],
    ended: false,
    changes: state.plugins.ahead,
    context: [],
  };
}

export function stepOf(state: RunState, entry: EntryBody): StepState {
  if (state.step) return state.step;
  throw new HoldfastError("illegal-transition", `Run ${state.created.identity.run}: ${entry.type} outside a step`);
}

/** A3: a settlement closes only the attempt that is open, and an open attempt is not intended over. */
export function nextEffect(effect: EffectState | undefined, entry: EffectEntry): EffectState {
  if (entry.type === "effect-intended") {
    if (effect?.open) throw new HoldfastError("illegal-transition", `Effect ${entry.effect} is already in flight`);
    const { attempt, key, startBy, timeoutMs, epoch, child } = entry;
    return {
      id: entry.effect,
      attempt,
      failures: effect?.failures ?? 0,
      ...(effect?.kept ? { kept: effect.kept } : {}),
      open: { attempt, key, startBy, timeoutMs, epoch },
      ...(child ? { child: childFacts(child) } : {}),
    };
  }
  if (effect?.open?.attempt !== entry.attempt) {
    throw new HoldfastError("illegal-transition", `Effect ${entry.effect}: attempt ${entry.attempt} is not open`);
  }
  const failures = effect.failures + (entry.result.kind === "failed" ? 1 : 0);
  const kept = (entry.result.kind === "failed" && entry.result.kept) || effect.kept;
  const last = withoutKept(entry.result);
  const more = { ...(kept ? { kept } : {}), ...(effect.child ? { child: effect.child } : {}) };
  return { id: effect.id, attempt: effect.attempt, failures, last, ...more };
}

function childFacts({ run, thread, agent, ephemeral, background }: ChildIntent): NonNullable<EffectState["child"]> {
  return { run, thread, agent, ...(ephemeral ? { ephemeral } : {}), ...(background ? { background } : {}) };
}

function withoutKept(result: Settled): Settled {
  if (result.kind !== "failed" || !result.kept) return result;
  const { kept: _, ...rest } = result;
  return rest;
}

export function addUsage({ usage }: RunState, entry: EffectEntry): RunUsage {
  if (entry.type === "effect-intended") return usage;
  const { result } = entry;
  if (result.kind !== "done" && result.kind !== "failed") return usage;
  if (result.usage) return sumUsage(usage, result.usage); // also of a reply that came whole and was refused
  const isReply = result.kind === "done" || result.kept !== undefined;
  return isReply ? { ...usage, uncountedReplies: (usage.uncountedReplies ?? 0) + 1 } : usage;
}

/**
 * What an attempt of the model holds and what it came to. One that was not made, or failed before anything of
 * an answer came, has cost nothing; one whose provider did not count, or whose outcome nobody knows, has spent what it held.
 */
export function keepBooks(state: RunState, entry: EffectEntry): RunState {
  const { budget } = state.created;
  if (!isMetered(budget)) return state;
  const ledger = state.ledger ?? emptyLedger;
  if (entry.type === "effect-intended") {
    if (!entry.held) return state;
    const { outputTokens: _cap, ...amount } = entry.held;
    return { ...state, ledger: hold(ledger, entry.effect, { amount, limits: budget }) };
  }
  const settled = settle(ledger, entry.effect, costOfAttempt(entry.result));
  const { result } = entry;
  const usage = result.kind === "done" || result.kind === "failed" ? result.usage : undefined;
  return { ...state, ledger: usage ? { ...settled, lastInput: usage.inputTokens } : settled };
}

/** The slice of a child is held until its end is known; what it has not used up is free again, once. */
export function keepChildBooks(state: RunState, entry: EffectEntry): RunState {
  const { budget } = state.created;
  const ledger = state.ledger ?? emptyLedger;
  if (entry.type === "effect-intended") {
    const counted = { ...state, children: state.children + 1 };
    if (!entry.slice) return counted;
    return { ...counted, ledger: hold(ledger, entry.effect, { amount: entry.slice, limits: budget }) };
  }
  if (!state.ledger) return state;
  return { ...state, ledger: settle(ledger, entry.effect, costOfAttempt(entry.result)) };
}

function costOfAttempt(result: Settled): Amount | undefined {
  if (result.kind === "done" || (result.kind === "failed" && result.begun)) return result.cost;
  return result.kind === "not-made" || result.kind === "failed" || result.kind === "refused" ? nothing : undefined;
}
