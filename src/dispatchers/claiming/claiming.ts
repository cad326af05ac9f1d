/**
 * Claims what is due for the agents of this process, renews what it holds, hands runs to `advance`.
 * The store decides who owns a run; everything here may be late, lost or doubled without harm.
 *
 * P1 No run is held twice at once: a run in hand is not taken again before `advance` has returned.
 * P2 A lease that could not be renewed is given up before its time is over (leases.ts).
 * P3 One timer for all waiting runs of all scopes, one for all leases.
 * P4 A process does not take its own runs from itself: leases that ran out while it slept are renewed before it claims.
 * P5 A process that goes begins nothing new and gives every run back as soon as nothing of it is in flight.
 * P6 A run that nothing can read is tried ever more rarely (leases.ts).
 * P7 In each round every scope with something due gets its share of the room, at least one run while there is any.
 * P8 Suspect runs are tried one at a time: the next one is claimed when the last has come out of hand, or has lived a while.
 *    So a run that kills its process takes no other into quarantine with it.
 * P9 After a leap of the clock nothing is claimed for the time of a lease (leaps.ts).
 */
import type { Scope } from "../../domain/ids.ts";
import type { Bus, Hint } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Counts } from "../../ports/counts.ts";
import type { Advance, Dispatcher, HeldClaim } from "../../ports/dispatcher.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Logger } from "../../ports/logger.ts";
import { type ClaimRequest, type Store, suspectAfter } from "../../ports/store.ts";
import { grip, type Held, handKey, type Taken } from "./in-hand.ts";
import { createLeapWatch } from "./leaps.ts";
import { keepOutOfReach, renewLate, renewLoop } from "./leases.ts";
import { type Ask, createRoom, type Room, type RoomOptions } from "./room.ts";
import { createRota, type Rota } from "./rota.ts";

export interface ClaimingOptions extends RoomOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly counts: Counts;
  /** Whose runs are claimed. */
  readonly scopes: readonly Scope[] | "all";
  readonly leaseMs: number;
  /** How soon work of other processes is found when their hints do not reach us. */
  readonly pollMs: number;
  readonly closeGraceMs: number;
  readonly crashLimit: number;
}

interface Worker {
  readonly options: ClaimingOptions;
  readonly advance: Advance;
  readonly inHand: Map<string, Held>;
  readonly room: Room;
  readonly rota: Rota;
  /** Scopes that were asked while some agent had no room. */
  readonly passedOver: Set<Scope>;
  readonly stop: AbortController;
  readonly over: AbortController;
  isLeaving: boolean;
  /** Something may be claimable since the last look. */
  woken: boolean;
  wakeUp: (() => void) | undefined;
  /** When every scope is looked at again, by this process's own count. */
  pollAt: number;
  rounds: number;
  /** P8: the suspect that is being tried, and until when it is alone, by this process's own count. */
  trial: { readonly key: string; readonly until: number } | undefined;
  /** P9: how long nothing is to be claimed. */
  readonly leapWait: () => number;
}

const claimBatch = 64;
/** What kills its process does so soon; what lives this long keeps nobody waiting. */
const trialMs = 1_000;
const scopePage = 256;

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
        room: createRoom(options),
        rota: createRota(options.pollMs),
        passedOver: new Set(),
        stop: new AbortController(),
        over: new AbortController(),
        isLeaving: false,
        woken: false,
        wakeUp: undefined,
        pollAt: Number.NEGATIVE_INFINITY,
        rounds: 0,
        trial: undefined,
        leapWait: createLeapWatch(options),
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
      wakeUp(worker);
      await claiming; // what was being claimed is in hand now
      await drain(worker);
      worker.over.abort("drained");
      await renewing;
    },
  };
}

function wakeUp(worker: Worker): void {
  worker.woken = true;
  worker.wakeUp?.();
}

function wake(worker: Worker, scope: Scope): void {
  worker.rota.wake(scope);
  wakeUp(worker);
}

function hear(worker: Worker, hint: Hint): void {
  const { scopes } = worker.options;
  if (scopes !== "all" && !scopes.includes(hint.scope)) return;
  const held = worker.inHand.get(handKey(hint));
  if (held) held.moved(hint.seq);
  else wake(worker, hint.scope);
}

async function claimLoop(worker: Worker): Promise<void> {
  while (!worker.stop.signal.aborted) {
    worker.woken = false;
    const wait = worker.leapWait();
    if (wait > 0) await worker.options.clock.sleep(wait, worker.stop.signal);
    await lookEverywhere(worker);
    const more = await claimRound(worker);
    if (!more && !worker.woken) await sleepUntilDue(worker);
  }
}

/** At every poll: hints may have been lost, and other processes may have died. */
async function lookEverywhere(worker: Worker): Promise<void> {
  const { store, clock, scopes, agents, pollMs, logger } = worker.options;
  if (clock.monotonic() < worker.pollAt) return;
  worker.pollAt = clock.monotonic() + pollMs;
  if (scopes !== "all") {
    for (const scope of scopes) worker.rota.wake(scope);
    return;
  }
  try {
    const dues: { readonly scope: Scope; readonly due: number }[] = [];
    for (let after: Scope | undefined, more = true; more; ) {
      const page = await store.dueScopes({
        agents: agents(),
        limit: scopePage,
        ...(after === undefined ? {} : { after }),
      });
      dues.push(...page.scopes);
      after = page.next;
      more = after !== undefined && !worker.stop.signal.aborted;
    }
    worker.rota.replace(dues);
  } catch (cause) {
    logger.warn("Looking for scopes with work failed; it is tried again", { cause: String(cause) });
  }
}

/** P7. True when there may be more to claim at once. */
async function claimRound(worker: Worker): Promise<boolean> {
  const { rota, room, options } = worker;
  const scopes = rota.turns(options.clock.now());
  for (const [index, scope] of scopes.entries()) {
    if (worker.stop.signal.aborted || room.left() <= 0) return false;
    await claimIn(worker, scope, scopes.length - index);
  }
  return room.left() > 0 && rota.turns(options.clock.now()).length > 0;
}

/** Agents with a limit of their own are asked for one by one; who is first goes round too. */
async function claimIn(worker: Worker, scope: Scope, scopesLeft: number): Promise<void> {
  const { rota, room, options } = worker;
  const asks = room.asks(scope);
  rota.asking(scope);
  if (room.isShort(scope)) worker.passedOver.add(scope);
  if (asks.length === 0) return; // a run that comes out of hand wakes it
  worker.rounds += 1;
  let left = Math.ceil(room.left() / scopesLeft);
  let took = 0;
  let isFull = false;
  for (let turn = 0; turn < asks.length && left > 0; turn += 1) {
    const ask = asks[(worker.rounds + turn) % asks.length] as Ask;
    const share = Math.min(Math.ceil(ask.limit / scopesLeft), Math.ceil(left / (asks.length - turn)));
    const limit = Math.min(claimBatch, share, room.leftIn(scope)); // what the asks before it took counts for the scope
    if (limit <= 0) break;
    const claimed = await claimSome(worker, scope, { ...ask, limit });
    took += claimed;
    left -= claimed;
    isFull ||= claimed >= limit;
  }
  if (isFull) return rota.more(scope);
  const agents = room.asks(scope).flatMap((ask) => ask.agents);
  const due = await options.store.nextDue({ scope, agents }).catch(() => undefined);
  rota.rests(scope, { took, due, now: options.clock.now() });
}

/** How many were claimed. */
async function claimSome(worker: Worker, scope: Scope, ask: Ask): Promise<number> {
  const { options } = worker;
  await renewLate(worker);
  const dueBy = options.clock.now();
  if (worker.leapWait() > 0) return 0; // P9, also for a leap from here to the store: nothing is due because of it
  const { leaseMs, ids } = options;
  const request = { scope, ...ask, leaseMs, claimId: ids.next(), trials: trialsOf(worker), dueBy };
  const asked = options.clock.monotonic();
  try {
    const claims = await options.store.claim(request);
    for (const claim of claims) take(worker, { claim, asked });
    return claims.length;
  } catch (cause) {
    options.logger.warn("Claiming runs failed; it is tried again", { cause: String(cause) });
    return recoverClaims(worker, request, asked);
  }
}

/** The claim may have been made: the same claim id answers it again. */
async function recoverClaims(worker: Worker, request: ClaimRequest, asked: number): Promise<number> {
  const { store, clock, pollMs } = worker.options;
  try {
    const claims = await store.claim({ ...request, again: true });
    for (const claim of claims) take(worker, { claim, asked });
    return claims.length;
  } catch {
    await clock.sleep(pollMs, worker.stop.signal); // their leases run out and they are claimed anew
    return 0;
  }
}

/** P8. */
function trialsOf({ trial, options }: Worker): number {
  return trial && options.clock.monotonic() < trial.until ? 0 : 1;
}

function take(worker: Worker, taken: Taken): void {
  const { claim } = taken;
  const key = handKey(claim);
  const before = worker.inHand.get(key);
  if (before) return takeAfter(worker, taken, before); // P1
  const gripped = grip(taken, worker.options);
  if (worker.isLeaving) gripped.leave();
  worker.room.took(claim);
  if (claim.crashes > suspectAfter) worker.trial = { key, until: worker.options.clock.monotonic() + trialMs };
  const done = advance(worker, gripped.holding).finally(() => {
    worker.inHand.delete(key);
    worker.room.gave(claim);
    if (worker.trial?.key === key) worker.trial = undefined;
    worker.options.counts.runsInHand = worker.inHand.size;
    for (const scope of worker.passedOver) worker.rota.wake(scope);
    worker.passedOver.clear();
    wake(worker, claim.scope);
  });
  worker.inHand.set(key, { ...gripped, done, renewing: undefined });
  worker.options.counts.runsInHand = worker.inHand.size;
}

/** The run was given back, or lost, and claimed again before its loop had returned: that claim is over, this one counts. */
function takeAfter(worker: Worker, taken: Taken, before: Held): void {
  before.lose();
  const next = (): void => take(worker, taken);
  before.done.then(next, next);
}

async function advance(worker: Worker, held: HeldClaim): Promise<void> {
  const { claim } = held;
  try {
    if (claim.crashes > worker.options.crashLimit) await keepOutOfReach(claim, worker.options);
    await worker.advance(held);
  } catch (cause) {
    const { logger } = worker.options;
    const shown = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    // Once the lease is lost, a store that is busy is no longer waited for: that is no defect.
    if (held.lost.aborted)
      logger.note(`Run ${claim.run} was let go of while the store did not answer`, { cause: shown });
    else
      logger.warn(`Run ${claim.run} stopped on a defect; its lease runs out and it is tried again`, { cause: shown });
  }
}

/** P3: the earliest of a hint, the next due run and the poll. */
async function sleepUntilDue(worker: Worker): Promise<void> {
  const { rota, room, options } = worker;
  const { clock } = options;
  if (worker.woken || worker.stop.signal.aborted) return;
  const untilPoll = worker.pollAt - clock.monotonic();
  const next = room.left() > 0 ? rota.next() : undefined;
  const untilDue = next === undefined ? untilPoll : next - clock.now();
  const timer = new AbortController();
  worker.wakeUp = () => timer.abort("woken");
  await clock.sleep(Math.min(untilPoll, Math.max(1, untilDue)), timer.signal);
  worker.wakeUp = undefined;
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
