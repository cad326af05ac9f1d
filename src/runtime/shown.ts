/**
 * What one watcher was shown of messages that are being written. The journal is read apart from the pieces, so an end
 * may be seen before the last pieces of its attempt, and after the first ones of the next.
 * Who comes back with a cursor may have been shown pieces elsewhere, by a process that is dead now: every attempt that
 * ends without its message is retracted then, shown here or not.
 */
import type { MessageDelta, MessagePartial, MessageRetracted } from "../domain/delta.ts";
import type { RunEvent } from "../domain/event.ts";
import { modelEffectId, type RunId, replyId, turnEffectId } from "../domain/ids.ts";

export interface Shown {
  /** Whether this may be shown: its attempt has not ended as far as the watcher knows. */
  show(piece: MessageDelta | MessagePartial): boolean;
  /** Whether pieces of it were shown; from now on they are forgotten. */
  retract(attempt: MessageRetracted): boolean;
  /** Attempts that this event ends without a message of theirs. */
  settle(event: RunEvent): readonly MessageRetracted[];
}

type Attempt = Omit<MessageRetracted, "type">;
export type Moment = Pick<Attempt, "step" | "attempt">;

interface RunShown {
  /** Oldest first. */
  open: readonly Attempt[];
  /** The newest attempt whose end was shown. */
  ended: Moment;
  /** The newest attempt that was retracted. */
  retracted: Moment;
}

/** Ended runs that are remembered: many more than a process can still be writing. */
const limit = 4_096;
const never: Moment = { step: 0, attempt: 0 };

export function createShown(cameBack: boolean): Shown {
  const runs = new Map<RunId, RunShown>();
  const over = new Set<RunId>();

  function of(run: RunId): RunShown {
    const known = runs.get(run) ?? { open: [], ended: never, retracted: never };
    runs.set(run, known);
    return known;
  }

  /** A worker that was replaced may go on writing for a while after its run has ended elsewhere. */
  function close(run: RunId): readonly Attempt[] {
    const open = runs.get(run)?.open ?? [];
    runs.delete(run);
    over.add(run);
    const [oldest] = over;
    if (over.size > limit && oldest !== undefined) over.delete(oldest);
    return open;
  }

  return {
    show({ run, thread, step, attempt, message }) {
      if (over.has(run)) return false;
      const known = of(run);
      const piece: Attempt = { run, thread, step, attempt, message };
      if (!isAfter(known.ended, piece)) return false;
      if (!known.open.some((each) => isSame(each, piece))) known.open = [...known.open, piece];
      return true;
    },
    retract(attempt) {
      const known = runs.get(attempt.run);
      if (!known?.open.some((each) => isSame(each, attempt))) return false;
      known.open = known.open.filter((each) => !isSame(each, attempt));
      known.retracted = attempt;
      return true;
    },
    settle(event) {
      const { run } = event;
      if (event.type === "run-ended") return close(run).map(retracted);
      const ended = event.type === "effect-settled" ? momentOf(event) : undefined;
      if (!ended) return [];
      const known = of(run);
      if (isAfter(known.ended, ended)) known.ended = ended;
      const over = known.open.filter((each) => !isAfter(ended, each));
      known.open = known.open.filter((each) => isAfter(ended, each));
      const lost = over.filter((each) => !(isSame(each, ended) && isDone(event)));
      const isHere = over.some((each) => isSame(each, ended)) || !isAfter(known.retracted, ended);
      const elsewhere = cameBack && !isHere && !isDone(event) ? [attemptOf(event, ended)] : [];
      return [...lost, ...elsewhere].map(retracted);
    },
  };
}

/** Of a model's attempt; undefined for a tool's. */
function momentOf({ run, effect, attempt }: Extract<RunEvent, { type: "effect-settled" }>): Moment | undefined {
  const step = Number(effect.slice(run.length + 1).split(".")[0]);
  const isReply = effect === modelEffectId(run, step) || effect === turnEffectId(run, step);
  return isReply ? { step, attempt } : undefined;
}

function attemptOf({ run, thread }: RunEvent, { step, attempt }: Moment): Attempt {
  return { run, thread, step, attempt, message: replyId(run, step) };
}

function isDone(event: RunEvent): boolean {
  return event.type === "effect-settled" && event.result.kind === "done";
}

function retracted(attempt: Attempt): MessageRetracted {
  return { type: "message-retracted", ...attempt };
}

export function isSame(a: Moment, b: Moment): boolean {
  return a.step === b.step && a.attempt === b.attempt;
}

export function isAfter(a: Moment, b: Moment): boolean {
  return b.step > a.step || (b.step === a.step && b.attempt > a.attempt);
}
