/**
 * Pieces on their way to other processes.
 *
 * P1 A run is in at most one notification in 100 ms; what was told meanwhile is joined. The first one goes at once.
 * P2 What was told of one run goes in that order. Every text says where it begins, so who hears it knows what is missing
 *    and what it has already.
 * P3 A retraction is never joined away or left out. Pieces of a message that is not being written any more are not: it is durable in a
 *    moment, or taken back.
 * P4 Who is asked to begin again, or could not send for a while, begins with all that is written so far.
 * P5 Nothing is kept without a line, and of one run at most a million characters: who listens sees the gap then, and
 *    waits for the durable message.
 */
import type { MessagePartial, Told } from "../../domain/delta.ts";
import type { RunId, Scope } from "../../domain/ids.ts";
import type { Wish, Writers } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import { add, beginAgain, isWaiting, nextFrame, type Outgoing } from "./outgoing.ts";

export interface Outbox {
  told(scope: Scope, told: Told): void;
  /** P4. */
  begin(wish: Wish): void;
  close(): void;
}

interface OutboxDeps {
  readonly clock: Clock;
  readonly writers: Writers;
  readonly isWanted: (scope: Scope, run: RunId) => boolean;
  /** Whether they were sent. */
  readonly send: (frames: readonly string[]) => Promise<boolean>;
}

const paceMs = 100;
/** Runs whose time is near share a notification. */
const gatherMs = 20;

export function createOutbox(deps: OutboxDeps): Outbox {
  const { clock, writers } = deps;
  const runs = new Map<string, Outgoing>();
  const stop = new AbortController();
  let isFlushing = false;
  let flushedAt = Number.NEGATIVE_INFINITY;

  function outgoing(scope: Scope, { run, thread }: Told | MessagePartial): Outgoing {
    const key = `${scope}\n${run}`;
    const sentAt = Number.NEGATIVE_INFINITY;
    const out = runs.get(key) ?? { scope, run, thread, queue: [], queued: 0, writing: undefined, sentAt };
    runs.set(key, out);
    return out;
  }

  /** The earliest time at which something may be sent. */
  function due(): number | undefined {
    const waiting = [...runs.values()].filter(isWaiting).map(({ sentAt }) => sentAt + paceMs);
    return waiting.length === 0 ? undefined : Math.max(flushedAt + gatherMs, Math.min(...waiting));
  }

  async function flushWhenDue(): Promise<void> {
    if (isFlushing) return;
    isFlushing = true;
    for (let at = due(); at !== undefined && !stop.signal.aborted; at = due()) {
      await clock.sleep(Math.max(0, at - clock.monotonic()), stop.signal);
      if (!stop.signal.aborted) await flush(clock.monotonic());
    }
    isFlushing = false;
  }

  async function flush(now: number): Promise<void> {
    flushedAt = now;
    const frames: string[] = [];
    for (const [key, out] of runs) {
      if (out.sentAt + paceMs > now) continue; // P1
      const frame = nextFrame(out, writers.partial(out.scope, out.run));
      if (frame !== undefined) {
        frames.push(frame);
        out.sentAt = now;
      } else if (!out.writing) runs.delete(key);
    }
    if (frames.length > 0 && !(await deps.send(frames))) runs.clear(); // P4, P5
  }

  function arm(): void {
    flushWhenDue().catch(() => undefined); // the sender says what it has lost
  }

  return {
    told(scope, told) {
      if (!deps.isWanted(scope, told.run)) return void runs.delete(`${scope}\n${told.run}`);
      add(outgoing(scope, told), told, writers.partial(scope, told.run));
      arm();
    },
    begin({ scope, run }) {
      const partials = run === undefined ? writers.partials(scope) : [writers.partial(scope, run)];
      for (const partial of partials) if (partial) beginAgain(outgoing(scope, partial), partial);
      arm();
    },
    close() {
      stop.abort("closed");
      runs.clear();
    },
  };
}
