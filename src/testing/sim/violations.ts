/** What the simulator holds the engine to: every check has a name, which mutant tests expect and reports show. */

export type CheckName =
  // Inside the store port, at each write.
  | "stale-epoch"
  | "commit-below-head"
  | "fenced-truth"
  | "behind-truth"
  | "written-as-answered"
  | "seq-gapless"
  | "entries-immutable"
  | "status-legal"
  | "fold-refuses"
  | "nothing-after-end"
  | "closed-at-end"
  | "end-over-cancel"
  | "intent-after-cancel"
  | "settles-open-intent"
  | "gate"
  | "ticket-once"
  | "ticket-guard"
  | "one-result"
  | "one-active-run"
  | "crash-count"
  | "wake-left-by-claim"
  | "wake-set-at-head"
  | "lease"
  // In the world and on the bus, as it happens.
  | "intent-before-effect"
  | "late-start"
  | "key-stable"
  | "once-effects"
  | "same-key-same-input"
  | "refused-means-nothing"
  | "decision-obeyed"
  | "event-before-commit"
  // At the end, and of the people.
  | "inputs-once"
  | "late-result-kept"
  | "settlement-shared"
  | "start-once"
  | "result-told"
  | "snapshot-fold"
  | "rows-follow-journal"
  | "liveness"
  // Of those who watch, and of what was said to a thread.
  | "watch-gap"
  | "watch-duplicate"
  | "watch-order"
  | "watch-content"
  | "watch-fold"
  | "watch-live"
  | "watch-retracted"
  | "watch-resync"
  | "watch-ends"
  | "answered-once"
  // Of plugins.
  | "plugin-instance"
  | "plugin-isolation"
  | "plugin-view"
  | "state-exact"
  | "state-fold"
  | "moment-once"
  | "moment-whole"
  | "moment-passed"
  | "defect"
  | "unexpected-error";

export interface Violation {
  readonly check: CheckName;
  readonly detail: string;
  readonly step: number;
}

export type Report = (check: CheckName, detail: string) => void;
