/** J3, and the part of J5 that a journal shows by itself. */
import type { Entry } from "../../src/domain/entry.ts";
import type { Journal } from "./evidence.ts";

export function brokenJournals({ run, entries }: Journal): readonly string[] {
  const names = entries.flatMap(nameOf);
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  const end = entries.findIndex(({ type }) => type === "run-ended");
  return [
    ...twice.map((name) => `run ${run} has ${name} more than once`),
    ...(entries.every(({ seq }, index) => seq === index + 1) ? [] : [`run ${run} has a seq missing or twice`]),
    ...(end === -1 || end === entries.length - 1 ? [] : [`run ${run} goes on after its end`]),
  ];
}

/** What can be in a journal only once. */
function nameOf(entry: Entry): readonly string[] {
  switch (entry.type) {
    case "run-created":
    case "run-started":
    case "run-ended":
      return [entry.type];
    case "step-started":
    case "step-ended":
      return [`${entry.type} ${entry.step}`];
    case "effect-intended":
    case "effect-settled":
      return [`${entry.type} ${entry.effect} attempt ${entry.attempt}`];
    case "ticket-opened":
      return [`${entry.type} ${entry.ticket.id}`];
    case "ticket-decided":
      return [`${entry.type} ${entry.ticket}`];
    case "input-received":
      return [`${entry.type} ${entry.input}`];
    case "message-appended":
      return entry.body.kind === "here"
        ? entry.body.message.parts.flatMap((part) => (part.type === "tool-result" ? [`result of ${part.call}`] : []))
        : [];
    default:
      return [];
  }
}

/** J5: epochs only rise. */
export function staleEntries({ run, entries }: Journal): readonly string[] {
  let highest = 0;
  return entries.flatMap(({ seq, epoch }) => {
    if (epoch === null) return [];
    const before = highest;
    highest = Math.max(highest, epoch);
    return epoch < before ? [`run ${run}: entry ${seq} was written under epoch ${epoch}, after ${before}`] : [];
  });
}
