/** A decision as somebody offers it: everything that is wrong with it is said before it is posted. */
import { HoldfastError } from "../domain/errors.ts";
import { type JsonValue, messageOf, toJson } from "../domain/json.ts";
import { Problems } from "../domain/problems.ts";
import type { TicketRecord } from "../domain/ticket.ts";
import { verbsOf } from "../domain/ticket.ts";
import type { OfferedDecision } from "./runtime.ts";

type Kind = OfferedDecision["kind"];

/** What each decision carries besides its kind; only an approval may leave it out. */
const fields: Readonly<Record<Kind, "value" | "input" | "reason" | "result" | undefined>> = {
  approve: "value",
  edit: "input",
  reject: "reason",
  answer: "value",
  "mark-done": "result",
  "mark-failed": "reason",
  "run-again": undefined,
  release: undefined,
  "cancel-run": undefined,
};

export function readDecision(ticket: TicketRecord, offered: OfferedDecision): OfferedDecision {
  const { kind } = offered;
  const legal = verbsOf(ticket);
  if (!legal.includes(kind)) throw refused(ticket, kind, `the verbs are ${legal.join(", ") || "none"}`);
  const field = fields[kind];
  const problems = new Problems(offered, field ? ["kind", field] : ["kind"]);
  problems.refuse("invalid-decision", `Ticket ${ticket.id} cannot be decided like this`);
  if (!field) return { kind } as OfferedDecision;
  const given = (offered as unknown as Record<string, unknown>)[field];
  if (kind === "approve" && given === undefined) return { kind };
  if (field === "reason" && typeof given !== "string") throw refused(ticket, kind, "needs a reason");
  if (given === undefined && kind !== "edit") throw refused(ticket, kind, `needs a ${field}; null is one`);
  return { kind, [field]: storable(given) } as unknown as OfferedDecision;
}

function storable(value: unknown): JsonValue {
  const json = toJson(value);
  if (json.ok) return json.value;
  throw new HoldfastError("invalid-decision", `The value cannot be stored: ${json.problem} at ${json.path}`);
}

function refused(ticket: TicketRecord, kind: unknown, problem: string): HoldfastError {
  const what = `Ticket ${ticket.id} (${ticket.kind}) and ${messageOf(kind)}`;
  return new HoldfastError("invalid-decision", what, { problems: [problem] });
}
