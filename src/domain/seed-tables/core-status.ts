/** M4, XS-03: our run as agent-sdk-core's status, and the event that ends it there. */
import type { Outcome } from "../run.ts";
import type { RunFacts } from "./run-facts.ts";

export type CoreStatus = "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "repair-needed";

export type CoreTerminalEvent = "run-completed" | "run-failed" | "run-cancelled";

export function coreStatus(run: RunFacts): CoreStatus {
  switch (run.status) {
    case "created":
      return "pending";
    case "done":
      return endStatus(run.outcome);
    case "running":
      return run.cancelRequested ? "cancelling" : "running";
    case "waiting":
      // A cancelled run's unknown outcomes need nobody any more, so cancelling is said first.
      if (run.cancelRequested) return "cancelling";
      return run.waits.some((wait) => wait.reason === "unknown-outcome") ? "repair-needed" : "running";
    default:
      return run satisfies never;
  }
}

export function isTerminal(status: CoreStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

export function terminalEvent(outcome: Outcome): CoreTerminalEvent {
  return `run-${endStatus(outcome)}`;
}

function endStatus(outcome: Outcome): "completed" | "failed" | "cancelled" {
  return outcome.kind === "completed" || outcome.kind === "cancelled" ? outcome.kind : "failed";
}
