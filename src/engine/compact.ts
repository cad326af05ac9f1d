/**
 * Compaction: a model summarises what is old, and the summary is sent in its place. An effect like any other, beside the
 * steps of the run; what was said stays in the thread, untouched.
 *
 * C1 One at a time, and only where it saves as much as was asked for, by the estimate before and by the summary itself.
 * C2 It ends before a message that is no result: no result is parted from its call.
 * C3 A step waits for it only where it would not fit otherwise, or where the run has just begun: every run that finds its
 *    thread too long gets through to a summary, however short it is.
 * C4 A summary names what it stands for and the summary that it took in. It counts from the commit that settles it, or never.
 * C5 One that fails costs the run nothing but room: what does not fit is left out then.
 */
import type { EffectIntended, Settled } from "../domain/entry.ts";
import {
  borderBefore,
  type Candidates,
  estimated,
  isFull,
  presentFrom,
  type Room,
  recentFrom,
} from "../domain/fit-context.ts";
import type { CompactSpec } from "../domain/history.ts";
import { compactionId } from "../domain/ids.ts";
import { sumOf, tokensIn } from "../domain/measure.ts";
import { roomFor } from "./calibration.ts";
import { act, type Draft, emit } from "./draft.ts";
import { holdFor, isOutcome, reserve } from "./reserve.ts";

/** C3. Called when a model call is about to be intended. */
export function compact(draft: Draft): "waiting" | "going-on" {
  const spec = draft.at.compacts;
  if (!spec) return "going-on";
  const candidates = draft.at.candidates(draft.entries);
  const room = draft.at.room(draft.state);
  if (!draft.state.compaction?.effect.open) begin(draft, { spec, candidates, room });
  const isOpen = draft.state.compaction?.effect.open !== undefined;
  const isNeeded = isFull(candidates, room) || draft.state.step?.step === 1;
  return isOpen && isNeeded ? "waiting" : "going-on";
}

interface Wanted {
  readonly spec: CompactSpec;
  readonly candidates: Candidates;
  readonly room: Room;
}

function begin(draft: Draft, wanted: Wanted): void {
  const { compaction, appended, created, step } = draft.state;
  if (appended < (compaction?.notBefore ?? 0) || !isDue(wanted)) return;
  const border = borderOf(wanted, roomFor(draft.at.summariser) - wanted.spec.summaryTokens);
  const upTo = wanted.candidates.messages[border - 1]?.id;
  if (upTo === undefined || !mayPay(wanted, border)) return;
  const { run } = created.identity;
  const last = compaction?.effect.last?.kind;
  const isAgain = last === "lost" || last === "not-made"; // nothing is known of it: the same one is tried again
  const effect = isAgain && compaction ? compaction.effect.id : compactionId(run, (compaction?.generation ?? 0) + 1);
  const { spec } = wanted;
  const held = holdFor(draft, { inputTokens: sentTokens(wanted, border), maxOutputTokens: spec.summaryTokens });
  if (held === "unpaid") return;
  const attempt = {
    effect,
    kind: "compaction" as const,
    step: step?.step ?? 0,
    attempt: isAgain && compaction ? compaction.effect.attempt + 1 : 1,
    key: effect,
    startBy: draft.at.startBy,
    timeoutMs: draft.at.limits.modelTimeoutMs,
    upTo,
  };
  const intent = { type: "effect-intended", ...attempt, ...(held ? { held } : {}) } as const;
  if (held && wouldStop(draft, intent)) return; // C5
  act(draft, intent);
  const maxOutputTokens = held?.outputTokens ?? spec.summaryTokens;
  draft.start.push({ ...attempt, beginBy: draft.at.beginBy, maxOutputTokens });
}

/** The step could not be paid for beside it. */
function wouldStop(draft: Draft, intent: EffectIntended): boolean {
  const trial = { ...draft, entries: [...draft.entries] };
  act(trial, intent);
  return isOutcome(reserve(trial));
}

function isDue(wanted: Wanted): boolean {
  const { spec, candidates, room } = wanted;
  return isMany(wanted) || estimated(candidates, room) >= room.tokens * spec.at;
}

export function isMany({ spec, candidates, room }: Wanted): boolean {
  return candidates.messages.length >= room.messages * spec.at;
}

/** C2: recentFrom and presentFrom answer borders. No more than the summariser can read: the rest waits for the next one. */
function borderOf(wanted: Wanted, most: number): number {
  const { spec, candidates, room } = wanted;
  const { messages } = candidates;
  let border = spec.mode === "safe-frontier" ? presentFrom(messages) : recentFrom(messages, room.history.recent);
  while (border > 0 && sentTokens(wanted, border) > most) border = borderBefore(messages, border);
  return border;
}

function sectionTokens({ candidates }: Wanted, border: number): number {
  return sumOf(candidates.messages.slice(0, border)) + tokensIn(candidates.mark?.summary?.text.length ?? 0);
}

/** What its call sends, rather too much than too little. */
function sentTokens(wanted: Wanted, border: number): number {
  const { spec, room } = wanted;
  return Math.ceil((sectionTokens(wanted, border) + tokensIn(spec.instructions.length)) * Math.max(1, room.ratio));
}

/** C1, by the estimate. Where there are too many messages, however short, a summary is what keeps them from being lost. */
function mayPay(wanted: Wanted, border: number): boolean {
  const section = sectionTokens(wanted, border);
  return isMany(wanted) || section - wanted.spec.summaryTokens >= section * wanted.spec.saves;
}

/** D6: of a claim that is gone. */
export function closeLostCompaction(draft: Draft): void {
  const { effect } = draft.state.compaction ?? {};
  if (!effect?.open || effect.open.epoch === draft.at.epoch) return;
  const { attempt } = effect.open;
  act(draft, { type: "effect-settled", effect: effect.id, attempt, result: { kind: "lost" } });
}

/** The run ends: a summary in flight is given up. */
export function giveUpCompaction(draft: Draft): void {
  const { effect } = draft.state.compaction ?? {};
  if (!effect?.open) return;
  const result: Settled = { kind: effect.open.epoch === draft.at.epoch ? "aborted" : "lost" };
  emit(draft, { type: "effect-settled", effect: effect.id, attempt: effect.open.attempt, result });
}
