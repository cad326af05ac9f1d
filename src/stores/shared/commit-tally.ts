/** Counts the commits of an open store, and how many of them shared a transaction. */
import type { StoreFigures } from "../../ports/store-figures.ts";

export interface CommitTally {
  /** The jobs of one transaction and what each was answered, after it was committed. */
  add(jobs: readonly Counted[], answers: readonly unknown[]): void;
  figures(): Pick<StoreFigures, "commits" | "groups" | "largestGroup">;
}

export interface Counted {
  /** It is a commit of the worker door: refused ones are not counted. */
  readonly isCommit?: boolean;
}

export function createCommitTally(): CommitTally {
  let [commits, groups, largestGroup] = [0, 0, 0];
  return {
    add(jobs, answers) {
      const written = jobs.filter((job, index) => job.isCommit && isCommitted(answers[index])).length;
      if (written === 0) return;
      commits += written;
      groups += 1;
      largestGroup = Math.max(largestGroup, written);
    },
    figures: () => ({ commits, groups, largestGroup }),
  };
}

function isCommitted(answer: unknown): boolean {
  return (answer as { readonly kind?: unknown } | undefined)?.kind === "committed";
}
