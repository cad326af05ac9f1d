/**
 * Awaken's terminations (M1, XA-04, XA-05, XA-06, C-049 to C-051). Ours is a structured outcome; the seed's
 * union and its reason texts are derived from it, and read only where something is imported (D-06).
 */
import type { JsonValue } from "../json.ts";
import type { Outcome, RunStatus } from "../run.ts";
import type { RunFacts, Wait } from "./run-facts.ts";

/** On the wire `{ type, value }`. */
export type Termination =
  | { readonly type: "natural_end" | "behavior_requested" | "cancelled" | "suspended" }
  | { readonly type: "stopped"; readonly value: { readonly code: string; readonly detail?: string } }
  | { readonly type: "blocked" | "error"; readonly value: string };

export interface StatusAndReason {
  readonly status: RunStatus;
  readonly reason?: string;
}

/** M1: none while the run may still move by itself. */
export function terminationOf(run: RunFacts): Termination | undefined {
  if (run.status === "done") return terminationOfOutcome(run.outcome);
  return run.status === "waiting" ? { type: "suspended" } : undefined;
}

export function terminationOfOutcome(outcome: Outcome): Termination {
  switch (outcome.kind) {
    case "completed":
      return { type: outcome.reason === "natural" ? "natural_end" : "behavior_requested" };
    case "stopped": {
      const { code, detail } = outcome;
      return { type: "stopped", value: detail === undefined ? { code } : { code, detail } };
    }
    case "blocked":
      return { type: "blocked", value: outcome.reason };
    case "cancelled":
      return { type: "cancelled" };
    case "failed":
      return { type: "error", value: outcome.error.message };
    case "timed-out":
      return { type: "stopped", value: { code: "timeout" } };
    default:
      return outcome satisfies never;
  }
}

/** The loop's question "is this over?": a wait for background work alone is not (C-051). */
export function endOf(run: RunFacts): Termination | undefined {
  const onlyBackground = run.status === "waiting" && run.waits.length > 0 && run.waits.every(isBackground);
  return onlyBackground ? undefined : terminationOf(run);
}

function isBackground(wait: Wait): boolean {
  return wait.reason === "background";
}

/** XA-05. */
export function statusOfTermination(termination: Termination): StatusAndReason {
  switch (termination.type) {
    case "suspended":
      return { status: "waiting" };
    case "natural_end":
      return { status: "done", reason: "natural" };
    case "behavior_requested":
    case "cancelled":
    case "error":
      return { status: "done", reason: termination.type };
    case "blocked":
      return { status: "done", reason: `blocked:${termination.value}` };
    case "stopped":
      return { status: "done", reason: `stopped:${termination.value.code}` };
    default:
      return termination satisfies never;
  }
}

const exact: Readonly<Record<string, Termination>> = {
  natural: { type: "natural_end" },
  behavior_requested: { type: "behavior_requested" },
  cancelled: { type: "cancelled" },
};

/** XA-06, for imports. A prefix is stripped once: `blocked:blocked:x` was blocked by `blocked:x`. */
export function terminationFromReason(text: string): Termination {
  const known = Object.hasOwn(exact, text) ? exact[text] : undefined;
  if (known) return known;
  const [, prefix, rest = ""] = /^(blocked|stopped|error):(.*)$/su.exec(text) ?? [];
  if (prefix === "stopped") return { type: "stopped", value: { code: rest } };
  if (prefix === "blocked" || prefix === "error") return { type: prefix, value: rest };
  return { type: "error", value: text };
}

/** XA-04, for imports: none when it is not a termination. `plugin_requested` is the older name of `behavior_requested`. */
export function readTermination(wire: JsonValue | undefined): Termination | undefined {
  if (!isRecord(wire)) return undefined;
  const { type, value } = wire;
  switch (type) {
    case "plugin_requested":
      return { type: "behavior_requested" };
    case "natural_end":
    case "behavior_requested":
    case "cancelled":
    case "suspended":
      return { type };
    case "blocked":
    case "error":
      return typeof value === "string" ? { type, value } : undefined;
    case "stopped":
      return readStopped(value);
    default:
      return undefined;
  }
}

function readStopped(value: JsonValue | undefined): Termination | undefined {
  if (!isRecord(value) || typeof value.code !== "string") return undefined;
  const { code, detail } = value;
  return { type: "stopped", value: typeof detail === "string" ? { code, detail } : { code } };
}

function isRecord(value: JsonValue | undefined): value is { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
