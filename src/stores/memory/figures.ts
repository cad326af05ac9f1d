/** What the memory store tells about itself. */
import { type FiguresRequest, mostDue, type StoreFigures } from "../../ports/store-figures.ts";
import { dueOf, type MemoryRun, type ScopeData } from "./data.ts";

export function dueNow(scope: ScopeData, { agents }: FiguresRequest, now: number): Pick<StoreFigures, "due" | "dueMs"> {
  let [due, since] = [0, now];
  for (const run of scope.claimable) {
    const at = agents === undefined || agents.includes(run.agent) ? dueOf(run) : undefined;
    if (at === undefined || at > now) continue;
    due += 1;
    since = Math.min(since, dueSince(run, at));
  }
  return { due: Math.min(due, mostDue + 1), dueMs: now - since };
}

/** A run that was given back is due "at once", at 0: it is due since its wake. */
function dueSince({ wake, ready }: MemoryRun, at: number): number {
  return at > 0 ? at : (wake ?? ready);
}
