/** The part of `apply` that moves a compaction: an effect of the run, beside its steps. One at a time. */
import { addUsage, type EffectEntry, keepBooks, nextEffect } from "./apply-step.ts";
import { HoldfastError } from "./errors.ts";
import type { CompactionState, RunState } from "./run-state.ts";

/** How many messages later it is tried again when it has failed, or would have saved too little. */
const patience = 8;

export function isCompaction(state: RunState, entry: EffectEntry): boolean {
  return entry.type === "effect-intended" ? entry.kind === "compaction" : state.compaction?.effect.id === entry.effect;
}

export function applyCompaction(state: RunState, entry: EffectEntry): RunState {
  const compaction = moved(state, entry);
  const kept = keepBooks({ ...state, compaction, usage: addUsage(state, entry) }, entry);
  if (!kept.ledger || state.ledger?.lastInput === undefined) return kept;
  return { ...kept, ledger: { ...kept.ledger, lastInput: state.ledger.lastInput } }; // what it sent says nothing of a step
}

function moved({ compaction, appended, created }: RunState, entry: EffectEntry): CompactionState {
  const known = compaction?.effect.id === entry.effect ? compaction : undefined;
  if (entry.type === "effect-settled") {
    if (!known) throw new HoldfastError("illegal-transition", `Run ${created.identity.run}: nothing is summarised`);
    const { generation, upTo } = known;
    const hasFailed = entry.result.kind === "failed";
    return {
      generation,
      upTo,
      effect: nextEffect(known.effect, entry),
      ...(hasFailed ? { notBefore: appended + patience } : {}),
    };
  }
  if (compaction?.effect.open || entry.upTo === undefined) {
    throw new HoldfastError("illegal-transition", `Run ${created.identity.run} cannot begin ${entry.effect}`);
  }
  return {
    generation: known ? known.generation : (compaction?.generation ?? 0) + 1,
    effect: nextEffect(known?.effect, entry),
    upTo: entry.upTo,
  };
}
