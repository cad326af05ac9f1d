/**
 * Claims what is due for the agents of this process, renews what it holds, hands runs to `advance`.
 * The store decides who owns a run; everything here may be late, lost or doubled without harm.
 *
 * P1 No run is held twice at once: a run in hand is not taken again before `advance` has returned.
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

interface Worker {
  readonly options: InProcessOptions;
  readonly advance: Advance;
  readonly inHand: Map<RunId, Held>;
  readonly stop: AbortController;
  /** Something may be claimable since the last look. */
  woken: boolean;
  wakeUp: (() => void) | undefined;
}

interface Held extends HeldClaim {
  readonly done: Promise<void>;
  readonly lose: () => void;
  readonly moved: (seq: number) => void;
  readonly renewed: (leaseUntil: number) => void;
}

const claimBatch = 64;

export function createInProcessDispatcher(options: InProcessOptions): Dispatcher {
  let worker: Worker | undefined;
  let unsubscribe: (() => void) | undefined;
  let loops: Promise<unknown> = Promise.resolve();
  return {
    serve(advance) {
      const serving: Worker = {
        options,
        advance,
        inHand: new Map(),
        stop: new AbortController(),
        woken: false,
        wakeUp: undefined,
      };
      worker = serving;
      unsubscribe = options.bus.subscribe((hint) => hear(serving, hint));
      loops = Promise.all([claimLoop(serving), renewLoop(serving)]);
    },
    async close() {
      unsubscribe?.();
      if (!worker) return;
      worker.stop.abort();
      wake(worker);
      await loops; // what was being claimed is in hand now
      await drain(worker);
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
  const { scope, agents, leaseMs } = options;
  const request = { scope, agents, leaseMs, limit, claimId: options.ids.next() };
  try {
    const claims = await options.store.claim(request);
    for (const claim of claims) take(worker, claim);
    return claims.length === limit;
  } catch (cause) {
    options.logger.warn("Claiming runs failed; it is tried again", { cause: String(cause) });
    await recoverClaims(worker, request);
    return false;
  }
}

/** The claim may have been made: the same claim id answers it again. */
async function recoverClaims(worker: Worker, request: Parameters<Store["claim"]>[0]): Promise<void> {
  const { store, clock, pollMs } = worker.options;
  try {
    for (const claim of await store.claim({ ...request, again: true })) take(worker, claim);
  } catch {
    await clock.sleep(pollMs, worker.stop.signal); // their leases run out and they are claimed anew
  }
}

function take(worker: Worker, claim: Claim): void {
  const before = worker.inHand.get(claim.run);
  if (before) return takeAfter(worker, claim, before); // P1
  const lost = new AbortController();
  let { leaseUntil } = claim;
  let listener: ((seq: number) => void) | undefined;
  let seen = 0;
  const holding: HeldClaim = {
    claim,
    leaseUntil: () => leaseUntil,
    lost: lost.signal,
    onMoved: (next) => {
      listener = next;
      if (seen > 0) next(seen);
    },
  };
  const done = advance(worker, holding).finally(() => {
    worker.inHand.delete(claim.run);
    wake(worker);
  });
  worker.inHand.set(claim.run, {
    ...holding,
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

/** The run was given back, or lost, and claimed again before its loop had returned: that claim is over, this one counts. */
function takeAfter(worker: Worker, claim: Claim, before: Held): void {
  before.lose();
  before.done.then(
    () => take(worker, claim),
    () => take(worker, claim),
  );
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
  const { clock, leaseMs } = worker.options;
  while (!worker.stop.signal.aborted) {
    await clock.sleep(leaseMs / 3, worker.stop.signal);
    await Promise.all([...worker.inHand.values()].map((held) => renew(worker, held)));
  }
}

async function renew(worker: Worker, held: Held): Promise<void> {
  const { store, clock, logger, leaseMs } = worker.options;
  const { scope, run, epoch } = held.claim;
  try {
    const answer = await store.renew({ scope, run, epoch, leaseMs });
    if (answer.kind === "fenced") return held.lose();
    held.renewed(answer.leaseUntil);
    held.moved(answer.head);
  } catch (cause) {
    logger.warn(`The lease of run ${run} was not renewed`, { cause: String(cause) });
    if (clock.now() >= held.leaseUntil()) held.lose(); // P2
  }
}

/** Runs in hand may come to rest within the grace; after it they are let go as if the process had died. */
async function drain(worker: Worker): Promise<void> {
  const { clock, closeGraceMs } = worker.options;
  const timer = new AbortController();
  const drained = Promise.all([...worker.inHand.values()].map((held) => held.done)).then(() => timer.abort());
  if (worker.inHand.size > 0) await clock.sleep(closeGraceMs, timer.signal);
  for (const held of worker.inHand.values()) held.lose();
  await drained;
}
