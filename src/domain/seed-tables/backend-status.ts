/** The status a backend reports (B-038 to B-049, LB-023 to LB-028) and what it means for the stored run. */
import type { RunStatus } from "../run.ts";
import { statusOfTermination, type Termination } from "./termination.ts";

export type BackendStatus =
  | { readonly kind: "completed" | "cancelled" | "timeout" }
  | { readonly kind: "waiting_input" | "waiting_auth" | "suspended"; readonly message?: string }
  | { readonly kind: "failed"; readonly message: string };

/** What a backend reported: how it stands, and how it says it ended. */
export interface BackendReport {
  readonly status: BackendStatus;
  readonly termination: Termination;
}

export type StatusLabel = Exclude<BackendStatus["kind"], "completed"> | RunStatus;

/** B-039, B-040. */
export function showBackendStatus(status: BackendStatus): string {
  const message = "message" in status ? status.message : undefined;
  return message === undefined ? status.kind : `${status.kind}: ${message}`;
}

/** B-041 to B-043: the reported status decides; only `completed` leaves it to the termination. */
export function durableStatus({ status, termination }: BackendReport): RunStatus {
  switch (status.kind) {
    case "waiting_input":
    case "waiting_auth":
    case "suspended":
      return "waiting";
    case "failed":
    case "cancelled":
    case "timeout":
      return "done";
    case "completed":
      return statusOfTermination(termination).status;
    default:
      return status satisfies never;
  }
}

const reasonOf = {
  waiting_input: "input_required",
  waiting_auth: "auth_required",
  suspended: "suspended",
  timeout: "timeout",
  failed: "error",
  cancelled: "cancelled",
} as const;

/** B-044, B-045. */
export function durableReason({ status, termination }: BackendReport): string | undefined {
  return status.kind === "completed" ? statusOfTermination(termination).reason : reasonOf[status.kind];
}

/** B-046, B-047: a natural end is labelled `done`, never `completed`. */
export function resultLabel(report: BackendReport): StatusLabel {
  return report.status.kind === "completed" ? durableStatus(report) : report.status.kind;
}

/** LB-023 to LB-028. */
export function backendStatusOf(termination: Termination): BackendStatus {
  switch (termination.type) {
    case "natural_end":
    case "behavior_requested":
      return { kind: "completed" };
    case "cancelled":
    case "suspended":
      return { kind: termination.type };
    case "stopped": {
      const { code, detail } = termination.value;
      return { kind: "failed", message: detail === undefined ? `stopped: ${code}` : `stopped: ${code}: ${detail}` };
    }
    case "blocked":
      return { kind: "failed", message: `blocked: ${termination.value}` };
    case "error":
      return { kind: "failed", message: termination.value };
    default:
      return termination satisfies never;
  }
}
