/**
 * Live text: what a sitting shows of an attempt is always a beginning of what it goes on from and wrote; an attempt that ends
 * without its message is retracted before its end is shown, and nothing of an attempt is shown after its end.
 */
import type { MessageDelta, MessagePartial } from "../../domain/delta.ts";
import type { Entry } from "../../domain/entry.ts";
import { type EffectId, modelEffectId, type RunId } from "../../domain/ids.ts";
import { type Message, textOf } from "../../domain/message.ts";
import type { WatchEvent } from "../../runtime/runtime.ts";
import type { Plan, StepPlan } from "./plan.ts";
import { inputTextOf, writtenBy } from "./sim-model.ts";
import type { Sitting, Spectator } from "./spectators.ts";
import type { Report } from "./violations.ts";
import type { Watch } from "./watch.ts";

export interface LiveCheck {
  readonly spectator: Spectator;
  readonly plan: Plan;
  readonly watch: Watch;
  readonly report: Report;
}

/** What is shown of one attempt. */
interface Shown {
  readonly run: RunId;
  text: string;
  reasoning: string;
  readonly inputs: Map<number, string>;
  /** Some of it was passed over: only a partial makes it whole again. */
  stale: boolean;
}

interface Following {
  readonly check: LiveCheck;
  readonly sitting: Sitting;
  readonly shown: Map<string, Shown>;
  readonly ended: Set<string>;
  readonly retracted: Set<string>;
}

export function checkLive(sitting: Sitting, check: LiveCheck): void {
  const following: Following = { check, sitting, shown: new Map(), ended: new Set(), retracted: new Set() };
  for (const frame of sitting.frames) take(frame, following);
  if (sitting.end !== undefined && sitting.end !== "over") return; // who leaves forgets what was only live
  for (const [attempt] of following.shown) complain("watch-retracted", `${attempt} is still shown`, following);
}

function take(frame: WatchEvent, following: Following): void {
  const { shown, ended } = following;
  switch (frame.type) {
    case "message-partial":
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta":
      return takePiece(frame, following);
    case "message-retracted": {
      const attempt = nameOf(modelEffectId(frame.run, frame.step), frame.attempt);
      const wasShown = shown.delete(attempt) || following.sitting.after !== undefined;
      if (!wasShown) complain("watch-retracted", `${attempt} is retracted and was not shown`, following);
      if (following.retracted.has(attempt)) complain("watch-retracted", `${attempt} is retracted twice`, following);
      following.retracted.add(attempt);
      return;
    }
    case "resync":
      for (const each of shown.values()) each.stale = true;
      return;
    case "effect-settled": {
      const attempt = nameOf(frame.effect, frame.attempt);
      ended.add(attempt);
      const isLost = frame.result.kind !== "done";
      if (shown.delete(attempt) && isLost) complain("watch-retracted", `${attempt} ends and is not`, following);
      return;
    }
    default:
      return;
  }
}

function takePiece(piece: MessagePartial | MessageDelta, following: Following): void {
  const { shown, ended } = following;
  const attempt = nameOf(modelEffectId(piece.run, piece.step), piece.attempt);
  if (ended.has(attempt)) return complain("watch-live", `${attempt} goes on after its end`, following);
  const fresh: Shown = { run: piece.run, text: "", reasoning: "", inputs: new Map(), stale: false };
  const before = shown.get(attempt) ?? fresh;
  const now = { ...before, inputs: new Map(before.inputs) };
  if (piece.type === "message-partial") {
    Object.assign(now, { text: piece.text, reasoning: piece.reasoning, stale: false });
    for (const { index, text } of piece.inputs) now.inputs.set(index, text);
    const goesOn = now.text.startsWith(before.text) && now.reasoning.startsWith(before.reasoning);
    if (!goesOn) complain("watch-live", `${attempt} shows less than before`, following);
  } else {
    if (now.stale) complain("watch-live", `${attempt} goes on after a resync without a partial`, following);
    add(now, piece);
  }
  shown.set(attempt, now);
  checkBeginning(now, piece, following);
}

function add(shown: Shown, piece: MessageDelta): void {
  if (piece.type === "tool-input-delta") {
    shown.inputs.set(piece.index, (shown.inputs.get(piece.index) ?? "") + piece.text);
  } else if (piece.type === "text-delta") shown.text += piece.text;
  else shown.reasoning += piece.text;
}

function checkBeginning(shown: Shown, piece: MessagePartial | MessageDelta, following: Following): void {
  const step = stepOf(piece, following.check);
  const entries = following.check.watch.runs.get(piece.run)?.entries ?? [];
  const { reasoning, text } = wholeOf(step, { ...piece, entries });
  const what = `${piece.run} step ${piece.step} attempt ${piece.attempt} shows`;
  if (!text.startsWith(shown.text)) complain("watch-live", `${what} ${shown.text}`, following);
  if (!reasoning.startsWith(shown.reasoning)) complain("watch-live", `${what} ${shown.reasoning}`, following);
  for (const [index, text] of shown.inputs) {
    const call = step?.calls[index];
    if (!call || !inputTextOf(call).startsWith(text)) complain("watch-live", `${what} input ${text}`, following);
  }
}

interface Attempt {
  readonly run: RunId;
  readonly step: number;
  readonly attempt: number;
  readonly entries: readonly Entry[];
}

/** What the journal had kept of the attempts before, and what this one writes. */
function wholeOf(
  plan: StepPlan | undefined,
  { run, step, attempt, entries }: Attempt,
): { text: string; reasoning: string } {
  const effect = modelEffectId(run, step);
  const settled = entries.flatMap((entry) =>
    entry.type === "effect-settled" && entry.effect === effect && entry.attempt < attempt ? [entry.result] : [],
  );
  const kept = settled.findLast((result) => result.kind === "failed" && result.kept !== undefined);
  const before = (type: "text" | "reasoning"): string =>
    kept?.kind === "failed" ? (kept.kept ?? []).map((part) => (part.type === type ? part.text : "")).join("") : "";
  const { reasoning, pieces } = writtenBy(plan, { step, attempt });
  return { text: before("text") + pieces.join(""), reasoning: before("reasoning") + reasoning.join("") };
}

function stepOf({ run, step }: MessagePartial | MessageDelta, { plan, watch }: LiveCheck): StepPlan | undefined {
  const agent = watch.runs.get(run)?.row.agent;
  return plan.runs.find((each) => each.agent === agent)?.steps[step - 1];
}

function nameOf(effect: EffectId, attempt: number): string {
  return `${effect}#${attempt}`;
}

function complain(name: "watch-live" | "watch-retracted", detail: string, { check, sitting }: Following): void {
  check.report(name, `${check.spectator.plan.name} on ${sitting.host}: ${detail}`);
}

/**
 * A client that keeps what it was shown from one connection to the next, and knows no more than pieces, retractions and
 * messages: whoever has seen the end has no orphans on the screen.
 */
export function checkScreen({ sittings, plan }: Spectator, report: Report): void {
  const screen = new Map<string, number>();
  for (const frame of sittings.flatMap(({ frames, after }) =>
    after === undefined ? [undefined, ...frames] : frames,
  )) {
    if (!frame)
      screen.clear(); // who begins again begins with an empty screen
    else if (frame.type === "message-appended" && frame.message) screen.delete(frame.message.id);
    else if (frame.type === "message-retracted" && screen.get(frame.message) === frame.attempt) {
      screen.delete(frame.message);
    } else if (frame.type === "message-partial" || frame.type === "text-delta") {
      screen.set(frame.message, frame.attempt);
    }
  }
  for (const [message, attempt] of screen) {
    report("watch-retracted", `${plan.name} still shows attempt ${attempt} of ${message}`);
  }
}

/** The stored answers are what their attempts wrote: the other half of "what is shown is a beginning of it". */
export function checkWritten({ plan, watch, report }: Pick<LiveCheck, "plan" | "watch" | "report">): void {
  for (const { entries, row, key } of watch.runs.values()) {
    const steps = plan.runs.find((each) => each.agent === row.agent)?.steps ?? [];
    for (const { message, attempt } of answersIn(entries)) {
      const step = message.producer?.step ?? 0;
      const { text } = wholeOf(steps[step - 1], { run: key.run, step, attempt, entries });
      if (textOf(message) !== text) report("watch-live", `${key.run} step ${step} says ${textOf(message)}`);
    }
  }
}

function answersIn(entries: readonly Entry[]): readonly { readonly message: Message; readonly attempt: number }[] {
  return entries.flatMap((entry, index) => {
    const next = entries[index + 1];
    if (entry.type !== "effect-settled" || next?.type !== "message-appended" || next.body.kind !== "here") return [];
    const { message } = next.body;
    return message.role === "assistant" ? [{ message, attempt: entry.attempt }] : [];
  });
}
