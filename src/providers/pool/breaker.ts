/**
 * Circuit breaker of one model: after failures in a row it is left alone for a while, then tried with one call, the probe.
 *
 * K1 Looking changes nothing: `look` takes no place and moves no state.
 * K2 A permit is a right to call. It is given by the same step that checks, so nothing refuses it afterwards.
 * K3 While the model rests nobody calls it. When its rest is over one call does, until that one is decided.
 * K4 Every probe is decided: the first part of an answer closes the breaker, a failure opens it again, a call that is given
 *    up leaves its place, and one that was not heard of for `probeMs` has left it.
 * K5 A permit counts in the round in which it was given: what began before a rest says nothing about the time after it.
 */

export interface BreakerOptions {
  /** Failures in a row after which the model is left alone; 5 unless said. */
  readonly failures?: number;
  /** For how long, in milliseconds; 30 seconds unless said. A Retry-After counts instead, up to ten minutes. */
  readonly restMs?: number;
  /** How long a probe may stay silent before another one is let through; 60 seconds unless said. */
  readonly probeMs?: number;
}

export interface BreakerView {
  readonly state: "closed" | "open" | "half-open";
  /** In how many milliseconds a call is let through; 0 for now. */
  readonly readyInMs: number;
}

/** The right to make one call. Whatever is said after its end is not heard. */
export interface Permit {
  /** Something of an answer is here. */
  answers(): void;
  /** The answer was whole. */
  done(): void;
  /** The model had a bad day; it may have said for how long. */
  failed(retryAfterMs?: number): void;
  /** Given up, or failed for a reason that is not the model's. */
  dropped(): void;
}

export interface Breaker {
  look(): BreakerView;
  /** Undefined while nobody may call. */
  admit(): Permit | undefined;
}

export const defaultBreaker: Required<BreakerOptions> = { failures: 5, restMs: 30_000, probeMs: 60_000 };

/** Nobody is left alone for longer on its own word: it may have been wrong. */
const longestRestMs = 600_000;

export function createBreaker(options: Required<BreakerOptions>, now: () => number): Breaker {
  const { failures: most, restMs, probeMs } = options;
  let round = 0;
  let failures = 0;
  let restsUntil: number | undefined;
  let probeBy: number | undefined;

  function look(): BreakerView {
    if (restsUntil === undefined) return { state: "closed", readyInMs: 0 };
    const rest = restsUntil - now();
    if (rest > 0) return { state: "open", readyInMs: rest };
    return { state: "half-open", readyInMs: probeBy === undefined ? 0 : Math.max(0, probeBy - now()) };
  }

  function rest(ms: number): void {
    round += 1;
    failures = 0;
    probeBy = undefined;
    restsUntil = now() + ms;
  }

  function close(left: number): void {
    failures = left;
    restsUntil = undefined;
    probeBy = undefined;
  }

  function fail(retryAfterMs: number): void {
    failures += 1;
    const isProbe = restsUntil !== undefined;
    if (retryAfterMs > 0) rest(Math.min(longestRestMs, retryAfterMs));
    else if (isProbe || failures >= most) rest(restMs);
  }

  return {
    look,
    admit() {
      const { state, readyInMs } = look();
      if (readyInMs > 0) return undefined;
      if (state === "half-open") {
        round += 1;
        probeBy = now() + probeMs;
      }
      const given = round;
      let isOpen = true;
      const settle = (how: () => void): void => {
        if (isOpen && given === round) how(); // K5
        isOpen = false;
      };
      return {
        answers() {
          // On trial: one more failure is enough, until an answer was whole.
          if (isOpen && given === round && restsUntil !== undefined) close(most - 1);
        },
        done: () => settle(() => close(0)),
        failed: (retryAfterMs = 0) => settle(() => fail(retryAfterMs)),
        dropped: () =>
          settle(() => {
            probeBy = undefined;
          }),
      };
    },
  };
}
