/**
 * What a remote turn means for its run: it is over, or it waits for somebody. One table for every backend.
 *
 * W1 A wait that the backend does not publish is not made into a ticket: it cannot be continued, so the run fails and says so.
 */
import type { Outcome } from "../run.ts";
import { type BackendStatus, durableStatus } from "../seed-tables/backend-status.ts";
import type { Termination } from "../seed-tables/termination.ts";
import type { WaitCapability } from "./capabilities.ts";
import { type BackendResult, reportOf } from "./result.ts";

export type RemoteWait = "input" | "auth";

export type Ruling =
  | { readonly kind: "over"; readonly outcome: Outcome }
  | { readonly kind: "waits"; readonly on: RemoteWait; readonly prompt: string | undefined };

export function rulingOf(result: Pick<BackendResult, "status" | "termination">, waits: WaitCapability): Ruling {
  const report = reportOf(result);
  if (durableStatus(report) === "waiting") return waiting(report.status, waits);
  return { kind: "over", outcome: outcomeOf(report.status, report.termination) };
}

function waiting(status: BackendStatus, waits: WaitCapability): Ruling {
  const on = status.kind === "waiting_auth" ? "auth" : "input";
  if (!publishes(waits, on)) {
    const text = `the backend waits for ${on}, and it publishes that it has waits: ${waits}`;
    return { kind: "over", outcome: failed(text) }; // W1
  }
  const said = "message" in status ? status.message : undefined;
  return { kind: "waits", on, prompt: said?.trim() ? said : undefined };
}

function publishes(waits: WaitCapability, on: RemoteWait): boolean {
  return waits === on || waits === "input-and-auth";
}

function outcomeOf(status: BackendStatus, termination: Termination): Outcome {
  switch (status.kind) {
    case "failed":
      return failed(status.message);
    case "timeout":
      return { kind: "timed-out" };
    case "cancelled":
      return { kind: "cancelled", reason: "cancelled at the other side" };
    default:
      return ofTermination(termination);
  }
}

function ofTermination(termination: Termination): Outcome {
  switch (termination.type) {
    case "natural_end":
      return { kind: "completed", reason: "natural" };
    case "behavior_requested":
      return { kind: "completed", reason: "requested" };
    case "cancelled":
      return { kind: "cancelled", reason: "cancelled at the other side" };
    case "stopped":
      return { kind: "stopped", ...termination.value };
    case "blocked":
      return { kind: "blocked", reason: termination.value };
    case "error":
      return failed(termination.value);
    case "suspended":
      return failed("the backend ended as suspended without waiting for anything");
    default:
      return termination satisfies never;
  }
}

function failed(message: string): Outcome {
  return { kind: "failed", error: { code: "backend-execution-failed", message }, retry: "never" };
}
