/** What the tables read of a run, in a shape that cannot be wrong: an end has an outcome, a wait has reasons. */
import type { Outcome, RunStatus } from "../run.ts";
import type { TicketRecord } from "../ticket.ts";
import { leadingReason, type WaitingReason } from "./waiting-reason.ts";

export type RunFacts =
  | { readonly status: "created" }
  | { readonly status: "running"; readonly cancelRequested: boolean }
  | { readonly status: "waiting"; readonly cancelRequested: boolean; readonly waits: readonly Wait[] }
  | { readonly status: "done"; readonly outcome: Outcome };

export interface Wait {
  readonly reason: WaitingReason;
  readonly prompt?: string;
}

/** What is read of a run's fold. */
interface Folded {
  readonly status: RunStatus;
  readonly outcome?: Outcome;
  readonly cancel?: unknown;
  readonly tickets: readonly Pick<TicketRecord, "kind" | "prompt">[];
}

export function factsOf(state: Folded): RunFacts {
  if (state.outcome) return { status: "done", outcome: state.outcome };
  if (state.status === "created") return { status: "created" };
  const cancelRequested = state.cancel !== undefined;
  if (state.status !== "waiting") return { status: "running", cancelRequested };
  return {
    status: "waiting",
    cancelRequested,
    waits: state.tickets.map(({ kind, prompt }) => ({ reason: kind, prompt })),
  };
}

/** The wait that names the run where only one can be named. */
export function leadingWait(waits: readonly Wait[]): Wait {
  const reason = leadingReason(waits.map((wait) => wait.reason));
  return waits.find((wait) => wait.reason === reason) ?? { reason };
}
