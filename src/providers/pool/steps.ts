/**
 * Who has failed a step. Its next attempt asks somebody else first: a member that hangs or breaks off would take every
 * attempt of its step with it before its breaker opens.
 *
 * S1 The first attempt of a step asks in the order that it is given. A later one asks first whoever has not failed this
 *    step, then the others, who failed longest ago first. Nobody is left out.
 * S2 A whole answer, or a first attempt, and what was known of the step is forgotten.
 * S3 No more than `most` steps are known; the one that was heard of longest ago goes first.
 */
import type { ModelRequest } from "../../ports/provider.ts";

export interface Steps {
  order<Member extends Keyed>(members: readonly Member[], request: ModelRequest): readonly Member[];
  failed(request: ModelRequest, key: string): void;
  answered(request: ModelRequest): void;
}

interface Keyed {
  readonly key: string;
}

/** More steps than one process has in trouble at once. */
const mostSteps = 10_000;

export function createSteps(most: number = mostSteps): Steps {
  const known = new Map<string, readonly string[]>();
  return {
    order(members, request) {
      if (request.attempt <= 1) known.delete(stepOf(request)); // S2
      const failed = known.get(stepOf(request)) ?? [];
      const rank = ({ key }: Keyed): number => failed.indexOf(key);
      return members.toSorted((a, b) => rank(a) - rank(b)); // S1: those who have not failed are at -1, and stay as given
    },
    failed(request, key) {
      const step = stepOf(request);
      const before = known.get(step) ?? [];
      known.delete(step); // heard of now: behind all others
      known.set(step, [...before.filter((each) => each !== key), key]);
      for (const oldest of known.keys()) {
        if (known.size <= most) break;
        known.delete(oldest); // S3
      }
    },
    answered(request) {
      known.delete(stepOf(request));
    },
  };
}

function stepOf({ agent, thread, step }: ModelRequest): string {
  return JSON.stringify([thread, step, agent]);
}
