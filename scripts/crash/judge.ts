/**
 * Says, from what was left behind, what the campaign broke. Pure: the same evidence gives the same findings.
 *
 * J1 What a client was told is durable is in the store, and every run has ended.
 * J2 A call has one effect at most, and one exactly when its run says that it is done; none when nobody allowed it.
 * J3 A journal has every entry once: seq gapless, one birth, one end and nothing after it, each attempt intended and
 *    settled once, each ticket opened and decided once, each call answered once.
 * J4 A watcher has every event of every run once and in order.
 * J5 Who asks under an epoch after a higher one was handed out is stale, and gets nothing.
 */
import type { Evidence } from "./evidence.ts";
import { doubledEffects } from "./judge-effects.ts";
import { brokenJournals, staleEntries } from "./judge-journals.ts";
import { lostFacts } from "./judge-lost.ts";
import { staleRequests } from "./judge-stale.ts";

export interface Findings {
  readonly runs: number;
  readonly lost: readonly string[];
  readonly duplicatedEffects: readonly string[];
  readonly duplicatedEntries: readonly string[];
  readonly eventGaps: readonly string[];
  readonly staleAttempts: number;
  readonly staleAccepted: readonly string[];
}

export function judge(evidence: Evidence): Findings {
  const stale = staleRequests(evidence.workers);
  return {
    runs: evidence.journals.length,
    lost: lostFacts(evidence),
    duplicatedEffects: doubledEffects(evidence),
    duplicatedEntries: evidence.journals.flatMap(brokenJournals),
    eventGaps: eventGaps(evidence),
    staleAttempts: stale.attempts,
    staleAccepted: [...stale.accepted, ...evidence.journals.flatMap(staleEntries)],
  };
}

/** J4. */
function eventGaps({ watchers, journals }: Evidence): readonly string[] {
  return watchers.flatMap((lines, watcher) => {
    const byRun = Map.groupBy(lines, ({ run }) => run);
    return journals.flatMap(({ run, entries }) => {
      const seen = (byRun.get(run) ?? []).map(({ seq }) => seq);
      const wanted = entries.map(({ seq }) => seq);
      if (seen.join() === wanted.join()) return [];
      return [`watcher ${watcher + 1} saw of run ${run} ${seen.join(" ") || "nothing"}, not 1 to ${wanted.length}`];
    });
  });
}
