/** Port calls in a few words, for the trace of a schedule. */
import type { EntryBody } from "../../domain/entry.ts";
import type { Hint } from "../../ports/bus.ts";
import type { Commit, Post } from "../../ports/store.ts";
import type { PortCall } from "../intercept.ts";

export function showCall({ port, method, args }: PortCall): string {
  const [first, second] = args;
  switch (`${port}.${method}`) {
    case "store.commit": {
      const { run, epoch, expectedSeq, entries } = first as Commit;
      return `commit ${run} epoch ${epoch} after ${expectedSeq}: ${entries.map(showEntry).join(", ")}`;
    }
    case "store.post": {
      const { run, fact } = first as Post;
      return `post ${run}: ${showEntry(fact)}`;
    }
    case "bus.publish": {
      const { run, seq } = first as Hint;
      return `publish ${run} at ${seq}`;
    }
    case "tool.execute":
      return `execute ${String(first)} ${JSON.stringify(second)}`;
    case "model.next":
      return "model.next";
    default:
      return `${port}.${method} ${showKey(first)}`;
  }
}

function showKey(value: unknown): string {
  const { run, epoch, expectedSeq } = (value ?? {}) as Record<string, unknown>;
  if (run === undefined) return typeof value === "string" ? value : "";
  return [run, epoch === undefined ? "" : `epoch ${epoch}`, expectedSeq === undefined ? "" : `after ${expectedSeq}`]
    .filter((part) => part !== "")
    .join(" ");
}

export function showEntry(entry: EntryBody): string {
  switch (entry.type) {
    case "effect-intended":
      return `intended ${entry.effect}#${entry.attempt}`;
    case "effect-settled":
      return `settled ${entry.effect}#${entry.attempt} ${entry.result.kind}`;
    case "call-gated":
      return `gated ${entry.call} ${entry.verdict.kind}`;
    case "ticket-opened":
      return `opened ${entry.ticket.id}`;
    case "ticket-decided":
      return `decided ${entry.ticket} ${entry.decision.kind}`;
    case "run-ended":
      return `run-ended ${entry.outcome.kind}`;
    default:
      return entry.type;
  }
}
