/**
 * Claims what is due for the agents of this process, renews what it holds, hands runs to `advance`.
 * The store decides who owns a run; everything here may be late, lost or doubled without harm.
 *
 * P1 No run is held twice at once: a run in hand is not claimed again before `advance` has returned.
 * P2 A lease that could not be renewed in time is lost: `lost` aborts before another worker may own the run.
 * P3 One timer for all waiting runs, one for all leases.
 */
import type { RunId, Scope } from "../domain/ids.ts";
import type { Bus, Hint } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Advance, Dispatcher, HeldClaim } from "../ports/dispatcher.ts";
import type { Ids } from "../ports/ids.ts";
import type { Logger } from "../ports/logger.ts";
import type { Claim, Store } from "../ports/store.ts";

export interface InProcessOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly scope: Scope;
  readonly agents: readonly string[];
  readonly leaseMs: number;
  readonly concurrency: number;
  /** How soon work of other processes is found when their hints do not reach us. */
  readonly pollMs: number;
  readonly closeGraceMs: number;
}

interface Held extends HeldClaim {
  readonly done: Promise<void>;
  readonly lose: () => void;
  moved(seq: number): void;
  renewed(leaseUntil: number): void;
}

const claimBatch = 64;

export function createInProcessDispatcher(options: InProcessOptions): Dispatcher {
  const { store, clock, logger } = options;
  const inHand = new Map<RunId, Held>();
  const stop = new AbortController();
  const loops: Promise<void>[] = [];
  let woken = false;
  let wakeUp: (() => void) | undefined;
  let unsubscribe: (() => void) | undefined;

  function wake(): void {
    woken = true;
    wakeUp?.();
  }

  function hear(hint: Hint): void {
    if (hint.scope !== options.scope) return;
    const held = inHand.get(hint.run);
    if (held) held.moved(hint.seq);
    else wake();
  }

  async function claimLoop(advance: Advance): Promise<void> {
    while (!stop.signal.aborted) {
      woken = false;
      const more = await claimSome(advance);
      if (!more && !woken) await sleepUntilDue();
    }
  }

  /** True when there may be more to claim at once. */
  async function claimSome(advance: Advance): Promise<boolean> {
    const limit = Math.min(claimBatch, options.concurrency - inHand.size);
    if (limit <= 0) return false;
    const { scope, agents, leaseMs } = options;
    const claimId = options.ids.next();
    try {
      const claims = await store.claim({ scope, agents, leaseMs, limit, claimId });
      for (const claim of claims) take(claim, advance);
      return claims.length === limit;
    } catch (cause) {
      logger.warn("Claiming runs failed; it is tried again", { cause: String(cause) });
      await recoverClaims(claimId, advance);
      return false;
    }
  }

  /** The claim may have been made: the same claim id answers it again. */
  async function recoverClaims(claimId: string, advance: Advance): Promise<void> {
    const { scope, agents, leaseMs } = options;
    try {
      const claims = await store.claim({ scope, agents, leaseMs, limit: claimBatch, claimId, again: true });
      for (const claim of claims) take(claim, advance);
    } catch {
      await clock.sleep(options.pollMs, stop.signal); // their leases run out and they are claimed anew
    }
  }

  function take(claim: Claim, advance: Advance): void {
    if (inHand.has(claim.run)) return; // P1
    const lost = new AbortController();
    let { leaseUntil } = claim;
    let listener: ((seq: number) => void) | undefined;
    let seen = 0;
    const held: HeldClaim = {
      claim,
      leaseUntil: () => leaseUntil,
      lost: lost.signal,
      onMoved: (next) => {
        listener = next;
        if (seen > 0) next(seen);
      },
    };
    const done = advance(held)
      .catch((cause: unknown) => {
        logger.warn(`Run ${claim.run} stopped on a defect; its lease runs out and it is tried again`, {
          cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
        });
      })
      .finally(() => {
        inHand.delete(claim.run);
        wake();
      });
    inHand.set(claim.run, {
      ...held,
      done,
      lose: () => lost.abort(),
      moved: (seq) => {
        seen = Math.max(seen, seq);
        listener?.(seq);
      },
      renewed: (until) => {
        leaseUntil = until;
      },
    });
  }

  async function sleepUntilDue(): Promise<void> {
    const due = await store.nextDue(options).catch(() => undefined);
    if (woken || stop.signal.aborted) return;
    const ms = Math.min(options.pollMs, Math.max(1, (due ?? Number.POSITIVE_INFINITY) - clock.now()));
    const timer = new AbortController();
    wakeUp = () => timer.abort();
    await clock.sleep(options.concurrency > inHand.size ? ms : options.pollMs, timer.signal);
    wakeUp = undefined;
  }

  async function renewLoop(): Promise<void> {
    while (!stop.signal.aborted) {
      await clock.sleep(options.leaseMs / 3, stop.signal);
      await Promise.all([...inHand.values()].map(renew));
    }
  }

  async function renew(held: Held): Promise<void> {
    const { scope, run, epoch } = held.claim;
    try {
      const answer = await store.renew({ scope, run, epoch, leaseMs: options.leaseMs });
      if (answer.kind === "fenced") return held.lose();
      held.renewed(answer.leaseUntil);
      held.moved(answer.head);
    } catch (cause) {
      logger.warn(`The lease of run ${run} was not renewed`, { cause: String(cause) });
      if (clock.now() >= held.leaseUntil()) held.lose(); // P2
    }
  }

  return {
    wake,
    serve(advance) {
      unsubscribe = options.bus.subscribe(hear);
      loops.push(claimLoop(advance), renewLoop());
    },
    async close() {
      unsubscribe?.();
      stop.abort();
      wake();
      const timer = new AbortController();
      const drained = Promise.all([...inHand.values()].map((held) => held.done)).then(() => timer.abort());
      if (inHand.size > 0) await clock.sleep(options.closeGraceMs, timer.signal);
      for (const held of inHand.values()) held.lose();
      await drained;
      await Promise.all(loops);
    },
  };
}
