/** J2: effects are counted where they happen, and compared with what the runs say. */
import type { Entry } from "../../src/domain/entry.ts";
import type { Evidence, ToolLine } from "./evidence.ts";

export function doubledEffects({ tools, journals }: Evidence): readonly string[] {
  const requests = tools.filter(({ kind }) => kind !== "lookup");
  const byCall = Map.groupBy(requests, ({ call }) => call);
  const perCall = [...byCall].flatMap(([call, lines]) => wrongCall(call, lines));
  const allowed = new Set(journals.flatMap(({ entries }) => approvedCalls(entries)));
  const forbidden = [...byCall].filter(([call, lines]) => lines[0]?.tool === "pay" && !allowed.has(call));
  const claimed = journals.flatMap(({ entries }) => doneCalls(entries));
  return [
    ...perCall,
    ...forbidden.map(([call]) => `call ${call} was made, and nobody had approved it`),
    ...claimed.filter((call) => !byCall.has(call)).map((call) => `call ${call} is said to be done and never was`),
  ];
}

function wrongCall(call: string, lines: readonly ToolLine[]): readonly string[] {
  const effects = lines.filter(({ kind }) => kind === "effect").length;
  const keys = new Set(lines.map(({ key }) => key)).size;
  return [
    ...(effects > 1 ? [`${lines[0]?.tool} of call ${call} was done ${effects} times`] : []),
    ...(keys > 1 ? [`call ${call} was made under ${keys} keys`] : []),
  ];
}

function approvedCalls(entries: readonly Entry[]): readonly string[] {
  const approved = new Set(
    entries.flatMap((entry) =>
      entry.type === "ticket-decided" && entry.decision.kind === "approve" ? [entry.ticket] : [],
    ),
  );
  return entries.flatMap((entry) =>
    entry.type === "ticket-opened" && approved.has(entry.ticket.id) ? [entry.ticket.call?.id ?? ""] : [],
  );
}

/** Calls whose result in the transcript is the tool's own. */
function doneCalls(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "message-appended" || entry.body.kind !== "here") return [];
    return entry.body.message.parts.flatMap((part) =>
      part.type === "tool-result" && part.result.kind === "value" ? [part.call] : [],
    );
  });
}
