/** J1: what a client was told is durable is in the store. */
import type { Entry } from "../../src/domain/entry.ts";
import type { ClientLine, Evidence } from "./evidence.ts";

type Entries = readonly Entry[];

export function lostFacts({ clients, journals }: Evidence): readonly string[] {
  const byRun = new Map(journals.map(({ run, entries }) => [run, entries]));
  const told = clients.flatMap((line) => lossOf(line, byRun.get("run" in line ? line.run : "")));
  const endless = journals.filter(({ entries }) => !ended(entries)).map(({ run }) => `run ${run} has not ended`);
  return [...told, ...movedKeys(clients), ...endless];
}

function lossOf(line: ClientLine, entries: Entries | undefined): readonly string[] {
  if (line.kind === "trying") return [];
  if (!entries) return [`run ${line.run} was acknowledged and is not in the store`];
  const problem = missing(line, entries);
  return problem === undefined ? [] : [`run ${line.run}: ${problem}`];
}

function missing(line: Exclude<ClientLine, { kind: "trying" }>, entries: Entries): string | undefined {
  switch (line.kind) {
    case "started":
      return undefined;
    case "ended":
      return ended(entries) ? undefined : "its end was seen and is gone";
    case "decided":
      return entries.some((entry) => isDecision(entry, line)) ? undefined : `the answer to ${line.ticket} is gone`;
    case "sent":
      return entries.some((entry) => entry.type === "input-received" && entry.input === line.input)
        ? undefined
        : `message ${line.input} is gone`;
    case "cancelled":
      return brokenCancel(line.at, entries);
    default:
      return line satisfies never;
  }
}

function isDecision(entry: Entry, told: Extract<ClientLine, { kind: "decided" }>): boolean {
  return entry.type === "ticket-decided" && entry.ticket === told.ticket && entry.by === told.by;
}

/** It is in the journal and nothing is intended after it, or the run had ended when the client was told. */
function brokenCancel(at: number, entries: Entries): string | undefined {
  const cancel = entries.find(({ type }) => type === "cancel-requested");
  const end = ended(entries);
  if (!cancel) return end && end.at <= at ? undefined : "its cancel is gone";
  const later = entries.find(({ type, seq }) => type === "effect-intended" && seq > cancel.seq);
  return later ? `something was intended at ${later.seq}, after the cancel at ${cancel.seq}` : undefined;
}

/** The same start key is the same run, also for a client that asks again after its death. */
function movedKeys(clients: readonly ClientLine[]): readonly string[] {
  const started = clients.filter((line) => line.kind === "started");
  const runs = Map.groupBy(started, ({ key }) => key);
  return [...runs].flatMap(([key, lines]) => {
    const ids = new Set(lines.map(({ run }) => run));
    return ids.size > 1 ? [`start key ${key} gave ${ids.size} runs: ${[...ids].join(", ")}`] : [];
  });
}

function ended(entries: Entries): Entry | undefined {
  return entries.find(({ type }) => type === "run-ended");
}
