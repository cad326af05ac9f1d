/**
 * Claims what is due for the agents of this process, renews what it holds, hands runs to `advance`.
 * The store decides who owns a run; everything here may be late, lost or doubled without harm.
 *
 * P1 No run is held twice at once: a run in hand is not taken again before `advance` has returned.
 * P2 A lease that could not be renewed in time is lost: `lost` aborts when its time, counted here from before it was
 *    asked for, is over and a renewal has not answered. Renewals go on until the last run is out of hand.
 * P3 One timer for all waiting runs, one for all leases.
 * P4 A process does not take its own runs from itself: leases that ran out while it slept are renewed before it claims.
 * P5 A process that goes begins nothing new and gives every run back as soon as nothing of it is in flight.
 */
import type { RunId, Scope } from "../domain/ids.ts";
import type { Bus, Hint } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Counts } from "../ports/counts.ts";
import type { Advance, Dispatcher, HeldClaim } from "../ports/dispatcher.ts";
import type { Ids } from "../ports/ids.ts";
import type { Logger } from "../ports/logger.ts";
import type { Claim, Store } from "../ports/store.ts";

export interface ClaimingOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly counts: Counts;
  readonly scope: Scope;
  readonly agents: readonly string[];
  readonly leaseMs: number;
  readonly concurrency: number;
  /** How soon work of other processes is found when their hints do not reach us. */
  readonly pollMs: number;
  readonly closeGraceMs: number;
}

interface Worker {
  readonly options: ClaimingOptions;
  readonly advance: Advance;
  readonly inHand: Map<RunId, Held>;
  readonly stop: AbortController;
  isLeaving: boolean;
  /** Nothing is in hand any more. */
  readonly over: AbortController;
  /** Something may be claimable since the last look. */
  woken: boolean;
  wakeUp: (() => void) | undefined;
}

interface Held extends HeldClaim {
  readonly done: Promise<void>;
  readonly lose: () => void;
  readonly leave: () => void;
  readonly moved: (seq: number) => void;
  readonly renewed: (leaseUntil: number, times: LeaseTimes) => void;
  renewing: Promise<void> | undefined;
}

interface Taken {
  readonly claim: Claim;
  /** By this process's own count, before it was asked for. */
  readonly asked: number;
}

/** By this process's own count: before the lease was asked for, and when the answer was there. */
interface LeaseTimes {
  readonly asked: number;
  readonly answered: number;
}

const claimBatch = 64;

export function createClaimingDispatcher(options: ClaimingOptions): Dispatcher {
  let worker: Worker | undefined;
  let unsubscribe: (() => void) | undefined;
  let claiming: Promise<void> = Promise.resolve();
  let renewing: Promise<void> = Promise.resolve();
  return {
    serve(advance) {
      const serving: Worker = {
        options,
        advance,
        inHand: new Map(),
        stop: new AbortController(),
        isLeaving: false,
        over: new AbortController(),
        woken: false,
        wakeUp: undefined,
      };
      worker = serving;
      unsubscribe = options.bus.subscribe((hint) => hear(serving, hint));
      claiming = claimLoop(serving);
      renewing = renewLoop(serving);
    },
    async close() {
      unsubscribe?.();
      if (!worker) return;
      worker.stop.abort();
      wake(worker);
      await claiming; // what was being claimed is in hand now
      await drain(worker);
      worker.over.abort("drained");
      await renewing;
    },
  };
}

function wake(worker: Worker): void {
  worker.woken = true;
  worker.wakeUp?.();
}

function hear(worker: Worker, hint: Hint): void {
  if (hint.scope !== worker.options.scope) return;
  const held = worker.inHand.get(hint.run);
  if (held) held.moved(hint.seq);
  else wake(worker);
}

async function claimLoop(worker: Worker): Promise<void> {
  while (!worker.stop.signal.aborted) {
    worker.woken = false;
    const more = await claimSome(worker);
    if (!more && !worker.woken) await sleepUntilDue(worker);
  }
}

/** True when there may be more to claim at once. */
async function claimSome(worker: Worker): Promise<boolean> {
  const { options } = worker;
  const limit = Math.min(claimBatch, options.concurrency - worker.inHand.size);
  if (limit <= 0) return false;
  await renewLate(worker);
  const { scope, agents, leaseMs } = options;
  const request = { scope, agents, leaseMs, limit, claimId: options.ids.next() };
  const asked = options.clock.monotonic();
  try {
    const claims = await options.store.claim(request);
    for (const claim of claims) take(worker, { claim, asked });
    return claims.length === limit;
  } catch (cause) {
    options.logger.warn("Claiming runs failed; it is tried again", { cause: String(cause) });
    await recoverClaims(worker, request, asked);
    return false;
  }
}

/** P4: after a sleep, a stall or a jump of the clock our own runs look free. The epoch says whether they still are ours. */
async function renewLate(worker: Worker): Promise<void> {
  const { clock } = worker.options;
  const late = [...worker.inHand.values()].filter((held) => held.timeLeft() <= 0 || held.leaseUntil() <= clock.now());
  await Promise.all(late.map((held) => renewOnce(worker, held)));
}

/** The claim may have been made: the same claim id answers it again. */
async function recoverClaims(worker: Worker, request: Parameters<Store["claim"]>[0], asked: number): Promise<void> {
  const { store, clock, pollMs } = worker.options;
  try {
    for (const claim of await store.claim({ ...request, again: true })) take(worker, { claim, asked });
  } catch {
    await clock.sleep(pollMs, worker.stop.signal); // their leases run out and they are claimed anew
  }
}

function take(worker: Worker, taken: Taken): void {
  const { claim, asked } = taken;
  const before = worker.inHand.get(claim.run);
  if (before) return takeAfter(worker, taken, before); // P1
  const { clock, leaseMs, counts } = worker.options;
  const lost = new AbortController();
  const leaving = new AbortController(); // its own: listeners on one that lives as long as the process would pile up
  if (worker.isLeaving) leaving.abort("closing");
  let { leaseUntil } = claim;
  let times: LeaseTimes = { asked, answered: clock.monotonic() };
  let listener: ((seq: number) => void) | undefined;
  let seen = 0;
  const holding: HeldClaim = {
    claim,
    leaseUntil: () => leaseUntil,
    timeLeft: () => times.asked + leaseMs - clock.monotonic(),
    storeNow: () => Math.floor(leaseUntil - leaseMs + (clock.monotonic() - times.answered)),
    lost: lost.signal,
    leaving: leaving.signal,
    onMoved: (next) => {
      listener = next;
      if (seen > 0) next(seen);
    },
  };
  const done = advance(worker, holding).finally(() => {
    worker.inHand.delete(claim.run);
    counts.runsInHand = worker.inHand.size;
    wake(worker);
  });
  worker.inHand.set(claim.run, {
    ...holding,
    done,
    renewing: undefined,
    lose: () => lost.abort(),
    leave: () => leaving.abort("closing"),
    moved: (seq) => {
      seen = Math.max(seen, seq);
      listener?.(seq);
    },
    renewed: (until, renewedAt) => {
      leaseUntil = until;
      times = renewedAt;
    },
  });
  counts.runsInHand = worker.inHand.size;
}

/** The run was given back, or lost, and claimed again before its loop had returned: that claim is over, this one counts. */
function takeAfter(worker: Worker, taken: Taken, before: Held): void {
  before.lose();
  const next = (): void => take(worker, taken);
  before.done.then(next, next);
}

async function advance(worker: Worker, held: HeldClaim): Promise<void> {
  try {
    await worker.advance(held);
  } catch (cause) {
    const { logger } = worker.options;
    const { run } = held.claim;
    const shown = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    // Once the lease is lost, a store that is busy is no longer waited for: that is no defect.
    if (held.lost.aborted) logger.note(`Run ${run} was let go of while the store did not answer`, { cause: shown });
    else logger.warn(`Run ${run} stopped on a defect; its lease runs out and it is tried again`, { cause: shown });
  }
}

/** P3: the earliest of a hint, the next due run and the poll. */
async function sleepUntilDue(worker: Worker): Promise<void> {
  const { store, clock, pollMs, concurrency } = worker.options;
  const due = await store.nextDue(worker.options).catch(() => undefined);
  if (worker.woken || worker.stop.signal.aborted) return;
  const untilDue = due === undefined || worker.inHand.size >= concurrency ? pollMs : due - clock.now();
  const timer = new AbortController();
  worker.wakeUp = () => timer.abort("woken");
  await clock.sleep(Math.min(pollMs, Math.max(1, untilDue)), timer.signal);
  worker.wakeUp = undefined;
}

async function renewLoop(worker: Worker): Promise<void> {
  const { clock } = worker.options;
  while (!worker.over.signal.aborted) {
    await clock.sleep(untilNextLook(worker), worker.over.signal);
    for (const held of worker.inHand.values()) {
      if (held.timeLeft() <= 0 && held.renewing)
        held.lose(); // P2: its time is over and nobody has answered
      else renewOnce(worker, held).catch(() => undefined);
    }
  }
}

function untilNextLook({ inHand, options }: Worker): number {
  const third = options.leaseMs / 3;
  const left = [...inHand.values()].map((held) => held.timeLeft());
  return Math.max(third / 10, Math.min(third, ...left));
}

/** One renewal of a run at a time, so that one that hangs stops no other. */
function renewOnce(worker: Worker, held: Held): Promise<void> {
  held.renewing ??= renew(worker, held).finally(() => {
    held.renewing = undefined;
  });
  return held.renewing;
}

async function renew(worker: Worker, held: Held): Promise<void> {
  const { store, clock, logger, leaseMs } = worker.options;
  const { scope, run, epoch } = held.claim;
  const asked = clock.monotonic();
  try {
    const answer = await store.renew({ scope, run, epoch, leaseMs });
    if (answer.kind === "fenced") return held.lose();
    held.renewed(answer.leaseUntil, { asked, answered: clock.monotonic() });
    held.moved(answer.head);
  } catch (cause) {
    logger.warn(`The lease of run ${run} was not renewed`, { cause: String(cause) });
    if (held.timeLeft() <= 0) held.lose(); // P2
  }
}

/** P5: runs in hand come to rest and are given back; after the grace they are let go as if the process had died. */
async function drain(worker: Worker): Promise<void> {
  const { clock, closeGraceMs } = worker.options;
  worker.isLeaving = true;
  for (const held of worker.inHand.values()) held.leave();
  const timer = new AbortController();
  const drained = emptied(worker).then(() => timer.abort("drained"));
  if (worker.inHand.size > 0) await clock.sleep(closeGraceMs, timer.signal);
  for (const held of worker.inHand.values()) held.lose();
  await drained;
}

/** Also of runs that are taken while others are given back. */
async function emptied(worker: Worker): Promise<void> {
  while (worker.inHand.size > 0) await Promise.all([...worker.inHand.values()].map((held) => held.done));
}
