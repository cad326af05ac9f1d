/** What the model reads of a run that a delegate's call was. */
import type { CallResult } from "./message.ts";
import type { ChildEnded } from "./ticket.ts";

export function resultOfChild({ agent, outcome, output = null }: ChildEnded): CallResult {
  switch (outcome.kind) {
    case "completed":
      return { kind: "value", value: output };
    case "stopped":
      return childFailed(agent, `was stopped (${outcome.code})${said(outcome.detail)}`);
    case "blocked":
      return childFailed(agent, `was blocked${said(outcome.reason)}`);
    case "cancelled":
      return childFailed(agent, `was cancelled${said(outcome.reason)}`);
    case "failed":
      return childFailed(agent, `failed${said(outcome.error.message)}`);
    case "timed-out":
      return childFailed(agent, "ran out of time");
    default:
      return outcome satisfies never;
  }
}

function childFailed(agent: string, what: string): CallResult {
  return { kind: "error", code: "delegate-failed", message: `${agent} ${what}` };
}

function said(words: string | undefined): string {
  return words === undefined ? "" : `: ${words}`;
}
