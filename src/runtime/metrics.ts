/** Plain numbers about a runtime and its store. Each is written down in docs/reference/metrics.md, and a test compares. */
import type { Counts } from "../ports/counts.ts";
import type { StoreFigures } from "../ports/store-figures.ts";
import type { Desk } from "./desk.ts";

/** Counters begin at 0 with the runtime; everything else is of the moment. Times are milliseconds. */
export interface RuntimeMetrics {
  /** Runs that could be claimed now; 10,001 stands for more than 10,000. */
  readonly queueDepth: number;
  /** How long the first of them has been due, by the store's time. */
  readonly queueLagMs: number;
  /** Runs that this runtime executes. */
  readonly runsInHand: number;
  /** Executions that were given up because the lease was lost, or another worker had the run. */
  readonly leasesLost: number;
  /** Writes that the store refused because another worker had the run. */
  readonly fencedWrites: number;
  /** Writes that were decided anew because something had come in from outside. */
  readonly behindAnswers: number;
  readonly commits: number;
  /** Transactions in which they were written. */
  readonly groupCommits: number;
  readonly meanGroupSize: number;
  readonly largestGroupSize: number;
  /** Positions that are given but not yet shown to watchers of many runs. */
  readonly feedHidden: number;
  /** For how long watchers of many runs have been held up. */
  readonly feedLagMs: number;
}

interface Measured extends Pick<Desk, "store" | "scope"> {
  readonly counts: Counts;
  readonly agents: { names(): readonly string[] };
}

/** A runtime without agents claims nothing: it is told of the runs of all agents. */
export async function readMetrics({ store, scope, counts, agents }: Measured): Promise<RuntimeMetrics> {
  const names = agents.names();
  const figures = await store.figures({ scope, ...(names.length === 0 ? {} : { agents: names }) });
  return { ...queueOf(figures), ...counts, ...commitsOf(figures) };
}

function queueOf({ due, dueMs }: StoreFigures): Pick<RuntimeMetrics, "queueDepth" | "queueLagMs"> {
  return { queueDepth: due, queueLagMs: dueMs };
}

function commitsOf(figures: StoreFigures): Omit<RuntimeMetrics, "queueDepth" | "queueLagMs" | keyof Counts> {
  const { commits, groups, largestGroup, hidden, hiddenMs } = figures;
  return {
    commits,
    groupCommits: groups,
    meanGroupSize: groups === 0 ? 0 : commits / groups,
    largestGroupSize: largestGroup,
    feedHidden: hidden,
    feedLagMs: hiddenMs,
  };
}
