/**
 * The way to new connections. Many runs, watchers and leases want one as soon as the server is away; without a gate each
 * of them would knock on its own.
 *
 * G1 While the way is open everyone passes. The first refusal of the server shuts it.
 * G2 While it is shut, one caller at a time tries, after a pause that grows up to a second; everyone else gets the last
 *    refusal at once, and comes again by his own patience.
 * G3 The first connection opens it again. Waiting in vain for one of our own connections is no refusal of the server.
 */
import type { HoldfastError } from "../../domain/errors.ts";
import { isHoldfastError } from "../../domain/errors.ts";
import { isPoolTimeout } from "./failures.ts";

const firstPauseMs = 50;
const longestPauseMs = 1_000;

interface Shut {
  readonly refusal: HoldfastError;
  readonly pauseMs: number;
  /** On the monotonic clock. */
  readonly until: number;
}

export interface Gate {
  pass<T>(knock: () => Promise<T>): Promise<T>;
}

export function createGate(): Gate {
  let shut: Shut | undefined;
  let isTrying = false;

  function refused(cause: unknown): void {
    if (!isHoldfastError(cause) || isPoolTimeout(cause.cause)) return;
    const now = performance.now();
    if (shut && now < shut.until) return; // many knocked at once
    const pauseMs = shut ? Math.min(longestPauseMs, shut.pauseMs * 2) : firstPauseMs;
    shut = { refusal: cause, pauseMs, until: now + pauseMs };
  }

  async function attempt<T>(knock: () => Promise<T>): Promise<T> {
    try {
      const passed = await knock();
      shut = undefined;
      return passed;
    } catch (cause) {
      refused(cause);
      throw cause;
    }
  }

  return {
    async pass(knock) {
      if (!shut) return attempt(knock);
      if (isTrying || performance.now() < shut.until) throw shut.refusal;
      isTrying = true;
      return attempt(knock).finally(() => {
        isTrying = false;
      });
    },
  };
}
