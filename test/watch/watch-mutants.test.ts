/** Mutants of watching: one promise of W1–W3 broken between the algorithm and its source; a named check must notice. */
import { describe, expect, test, vi } from "vitest";
import type { Ring } from "../../src/runtime/ring.ts";
import type * as sources from "../../src/runtime/sources.ts";
import type { RingItem, Source } from "../../src/runtime/watch.ts";
import { runCampaign, showBroken } from "../../src/testing/sim/campaign.ts";
import type { CheckName } from "../../src/testing/sim/violations.ts";

type Mutation = (source: Source) => Source;

const current = vi.hoisted(() => ({ mutate: undefined as Mutation | undefined }));
vi.mock("../../src/runtime/sources.ts", async (original) => {
  const real = await original<typeof sources>();
  const mutated = async (source: Promise<Source>): Promise<Source> => current.mutate?.(await source) ?? source;
  return {
    ...real,
    runSource: (...args: Parameters<typeof sources.runSource>) => mutated(real.runSource(...args)),
    manySource: (...args: Parameters<typeof sources.manySource>) => mutated(real.manySource(...args)),
  };
});

/** W1: what is told while the journal is read falls between the two. */
function headAfterRead(source: Source): Source {
  const { ring } = source;
  let first: number | undefined;
  const place = (number: number): number => {
    first ??= ring.head();
    return first + number;
  };
  const late: Ring<RingItem> = {
    ...ring,
    head: () => (first === undefined ? 0 : ring.head() - first),
    at: (number) => ring.at(place(number)),
    lost: (number) => ring.lost(place(number)),
  };
  return { ...source, ring: late };
}

/** W1: what the journal gave is not skipped in the ring. */
function nothingSeen(source: Source): Source {
  const order: Source["order"] = (last, next) => {
    const answer = source.order(last, next);
    return answer === "seen" ? "next" : answer;
  };
  return { ...source, order };
}

/** W2: a hole in the ring is not filled. */
function holesIgnored(source: Source): Source {
  const order: Source["order"] = (last, next) => {
    const answer = source.order(last, next);
    return answer === "hole" ? "next" : answer;
  };
  return { ...source, order };
}

/** W3: after a resync the journal is not read. */
function resyncForgets(source: Source): Source {
  let forgets = false;
  const lost = (number: number): boolean => {
    const isLost = source.ring.lost(number);
    forgets ||= isLost;
    return isLost;
  };
  const read: Source["read"] = (after) => {
    if (!forgets) return source.read(after);
    forgets = false;
    return Promise.resolve([]);
  };
  return { ...source, ring: { ...source.ring, lost }, read };
}

/** W4: a joiner is not told what was written before. */
function noPartials(source: Source): Source {
  return { ...source, partials: () => [] };
}

const mutants: readonly {
  readonly name: string;
  readonly mutate: Mutation;
  readonly caughtBy: CheckName;
  readonly within: number;
}[] = [
  { name: "ring head after the journal read", mutate: headAfterRead, caughtBy: "watch-gap", within: 2_000 },
  { name: "what was seen is shown again", mutate: nothingSeen, caughtBy: "watch-duplicate", within: 200 },
  { name: "holes are not filled", mutate: holesIgnored, caughtBy: "watch-gap", within: 2_000 },
  { name: "resync forgets the journal", mutate: resyncForgets, caughtBy: "watch-ends", within: 8_000 },
  { name: "joiners get no partial", mutate: noPartials, caughtBy: "watch-live", within: 400 },
];

describe("a broken watch is caught", () => {
  test.each(mutants)("$name: $caughtBy", { timeout: 300_000 }, async ({ name, mutate, caughtBy, within }) => {
    const options = { watching: true, only: [caughtBy] };
    current.mutate = mutate;
    const { broken } = await runCampaign({ first: 1, count: within, options });
    current.mutate = undefined;
    expect(broken, `${name} was not caught in ${within} schedules`).toBeDefined();
    console.log(`${name}: caught at seed ${broken?.seed}: ${broken?.violations[0]?.detail}`);
    const control = await runCampaign({
      first: 1,
      count: Math.max(20, broken?.seed ?? 0),
      options: { watching: true },
    });
    expect(control.broken && showBroken(control.broken)).toBeUndefined();
  });
});
