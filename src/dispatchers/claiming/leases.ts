/**
 * Keeps the leases of what is in hand.
 *
 * P2 A lease that could not be renewed is lost before its time is over, counted here from before it was asked for: `lost`
 *    aborts while nobody else can hold the run yet. Renewals go on until the last run is out of hand.
 * P6 A run that was claimed again and again and got nowhere, not even to its quarantine (nothing can read its journal), is
 *    put out of everybody's reach for a time that doubles, and only then tried.
 */
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Claim, Store } from "../../ports/store.ts";
import { type Held, handKey } from "./in-hand.ts";

export interface LeaseOptions {
  readonly store: Pick<Store, "renew">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs: number;
  /** Claims in a row after which a run has certainly been set aside, if anything can read it. */
  readonly crashLimit: number;
}

export interface Hand {
  readonly options: LeaseOptions;
  readonly inHand: Map<string, Held>;
  /** Nothing is in hand any more. */
  readonly over: AbortController;
}

/** What is left of a lease when it is given up. */
function guardOf({ leaseMs }: LeaseOptions): number {
  return leaseMs / 20;
}

export async function renewLoop(hand: Hand): Promise<void> {
  const { clock } = hand.options;
  const guard = guardOf(hand.options);
  while (!hand.over.signal.aborted) {
    await clock.sleep(untilNextLook(hand), hand.over.signal);
    for (const held of hand.inHand.values()) {
      if (held.holding.timeLeft() <= guard && held.renewing)
        held.lose(); // P2: its time is nearly over and nobody has answered
      else renewOnce(hand, held).catch(() => undefined);
    }
  }
}

/** Twice within the guard: a renewal that is begun there has half of it to be answered. */
function untilNextLook({ inHand, options }: Hand): number {
  const guard = guardOf(options);
  const left = [...inHand.values()].map(({ holding }) => holding.timeLeft() - guard);
  return Math.max(guard / 2, Math.min(options.leaseMs / 3, ...left));
}

/** P4: after a sleep, a stall or a jump of the clock our own runs look free. The epoch says whether they still are ours. */
export async function renewLate(hand: Hand): Promise<void> {
  const { clock } = hand.options;
  const late = [...hand.inHand.values()].filter(({ holding }) => {
    if (holding.lost.aborted) return false; // it is nobody's any more, and its renewal may hang for as long as its last write
    return holding.timeLeft() <= 0 || holding.leaseUntil() <= clock.now();
  });
  await Promise.all(late.map((held) => renewOnce(hand, held)));
}

/** One renewal of a run at a time, so that one that hangs stops no other. */
function renewOnce(hand: Hand, held: Held): Promise<void> {
  held.renewing ??= renew(hand, held).finally(() => {
    held.renewing = undefined;
  });
  return held.renewing;
}

async function renew({ options, inHand }: Hand, held: Held): Promise<void> {
  const { store, clock, logger, leaseMs } = options;
  const { scope, run, epoch } = held.holding.claim;
  const asked = clock.monotonic();
  const reachMs = outOfReachMs(held.holding.claim, options);
  try {
    const answer = await store.renew({ scope, run, epoch, leaseMs: leaseMs + reachMs });
    if (answer.kind === "fenced") return held.lose();
    held.renewed(answer.leaseUntil - reachMs, { asked, answered: clock.monotonic() });
    held.moved(answer.head);
  } catch (cause) {
    if (inHand.get(handKey(held.holding.claim)) !== held) return;
    logger.warn(`The lease of run ${run} was not renewed`, { cause: String(cause) });
    if (held.holding.timeLeft() <= guardOf(options)) held.lose(); // P2
  }
}

const longestPauseMs = 60 * 60_000;

/** P6: how much longer than its lease the run is kept from everybody. */
function outOfReachMs({ crashes }: Claim, { leaseMs, crashLimit }: LeaseOptions): number {
  if (crashes <= crashLimit) return 0;
  return Math.max(0, Math.min(longestPauseMs, leaseMs * 2 ** Math.min(crashes - crashLimit, 40)) - leaseMs);
}

/** P6: before it is tried, for it may take this process with it. */
export async function keepOutOfReach(claim: Claim, options: LeaseOptions): Promise<void> {
  const { store, logger, crashLimit } = options;
  const { scope, run, epoch, crashes } = claim;
  if (crashes <= crashLimit) return;
  if (crashes === crashLimit + 1) {
    const what = `Run ${run} of ${claim.agent} was claimed ${crashes} times in a row and got nowhere, not even into quarantine`;
    logger.warn(`${what}; it is tried ever more rarely, once an hour at last. Serve it with code that can read it`, {
      scope,
      run,
    });
  }
  try {
    await store.renew({ scope, run, epoch, leaseMs: options.leaseMs + outOfReachMs(claim, options) });
  } catch (cause) {
    logger.note(`Run ${run} could not be kept out of reach`, { cause: String(cause) });
  }
}
