/** M2: our run as Awaken's status, reason and label, and as the text of a backend's status. One table for every run (D-21). */
import type { Outcome, RunStatus } from "../run.ts";
import {
  type BackendReport,
  type BackendStatus,
  backendStatusOf,
  durableReason,
  resultLabel,
  type StatusLabel,
  showBackendStatus,
} from "./backend-status.ts";
import { leadingWait, type RunFacts, type Wait } from "./run-facts.ts";
import { statusOfTermination, terminationOfOutcome } from "./termination.ts";
import { reasonText } from "./waiting-reason.ts";

export interface RunLabels {
  readonly status: RunStatus;
  readonly reason?: string;
  readonly label: StatusLabel;
  /** The text of the status a backend would report; none before a run waits or ends. */
  readonly backendStatus?: string;
}

export function labelRun(run: RunFacts): RunLabels {
  switch (run.status) {
    case "created":
    case "running":
      return { status: run.status, label: run.status };
    case "waiting":
      return labelWait(leadingWait(run.waits));
    case "done":
      return labelEnd(run.outcome);
    default:
      return run satisfies never;
  }
}

/** The second reason of the rows that have two: what is left when the run is seen only through a backend's result. */
export function reasonThroughBackend(run: RunFacts): string | undefined {
  const report = reportOf(run);
  return report && durableReason(report);
}

/** The run as a backend would report it; none before it waits or ends. */
export function reportOf(run: RunFacts): BackendReport | undefined {
  if (run.status === "waiting") return reportOfWait(leadingWait(run.waits));
  return run.status === "done" ? reportOfEnd(run.outcome) : undefined;
}

function reportOfWait(wait: Wait): BackendReport {
  return { status: questionOf(wait) ?? { kind: "suspended" }, termination: { type: "suspended" } };
}

function reportOfEnd(outcome: Outcome): BackendReport {
  const termination = terminationOfOutcome(outcome);
  return { status: outcome.kind === "timed-out" ? { kind: "timeout" } : backendStatusOf(termination), termination };
}

type Question = Extract<BackendStatus, { readonly kind: "waiting_input" | "waiting_auth" | "suspended" }>;

/** Only a wait that asks somebody something has a label and a prompt of its own. */
function questionOf({ reason, prompt = "" }: Wait): Question | undefined {
  const message = prompt.trim() === "" ? {} : { message: prompt };
  switch (reason) {
    case "input":
      return { kind: "waiting_input", ...message };
    case "auth":
      return { kind: "waiting_auth", ...message };
    case "approval":
    case "unknown-outcome":
      return { kind: "suspended", ...message };
    default:
      return undefined;
  }
}

function labelWait(wait: Wait): RunLabels {
  const reason = reasonText(wait.reason);
  return {
    status: "waiting",
    ...(reason === undefined ? {} : { reason }),
    label: questionOf(wait)?.kind ?? "waiting",
    backendStatus: showBackendStatus(reportOfWait(wait).status),
  };
}

function labelEnd(outcome: Outcome): RunLabels {
  const report = reportOfEnd(outcome);
  const reason = outcome.kind === "timed-out" ? "timeout" : statusOfTermination(report.termination).reason;
  return {
    status: "done",
    ...(reason === undefined ? {} : { reason }),
    label: resultLabel(report),
    backendStatus: showBackendStatus(report.status),
  };
}
