import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import type { Delta, MessagePartial, MessageRetracted } from "../../src/domain/delta.ts";
import type { EventBody, EventStamp, EventType } from "../../src/domain/event.ts";
import type { WatchEvent } from "../../src/index.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/reference/events.md"), "utf8");

type Names<Name extends PropertyKey> = Readonly<Record<Name, 1>>;
type LivePiece = Delta | MessagePartial | MessageRetracted;
type LiveStamp = keyof Delta & keyof MessagePartial & keyof MessageRetracted;
/** The fields of the members of a union that may have this type, without those that every member has. */
type FieldsOf<Union, Type, Stamp extends PropertyKey> = Union extends { readonly type: infer Own }
  ? Type extends Own
    ? Exclude<keyof Union, Stamp>
    : never
  : never;

// Closed in the types: a name that is added or taken away there fails to compile here.
const eventStamp: Names<"type" | "cursor" | keyof EventStamp> = {
  type: 1,
  run: 1,
  thread: 1,
  seq: 1,
  at: 1,
  cursor: 1,
};
const liveStamp: Names<LiveStamp> = { type: 1, run: 1, thread: 1, step: 1, attempt: 1 };

const events: { readonly [Type in EventType]: Names<FieldsOf<EventBody, Type, "type">> } = {
  "run-created": { identity: 1, input: 1, startAt: 1, priority: 1, overrides: 1, forkedFrom: 1 },
  "run-started": { identity: 1, position: 1 },
  "run-waiting": { tickets: 1, reasons: 1, stopping: 1 },
  "run-resumed": {},
  "run-ended": { identity: 1, outcome: 1, answer: 1, unsaid: 1, successor: 1, unread: 1, descendants: 1 },
  "step-started": { step: 1 },
  "step-ended": { step: 1 },
  "context-projected": { step: 1, mark: 1, decisions: 1, tokens: 1, limit: 1, own: 1 },
  "effect-intended": { effect: 1, kind: 1, call: 1, attempt: 1, remote: 1, overrides: 1, child: 1 },
  "effect-settled": { effect: 1, attempt: 1, result: 1 },
  "call-gated": { call: 1, verdict: 1 },
  "message-appended": { message: 1, from: 1, index: 1, gate: 1 },
  "command-applied": { phase: 1, subject: 1, commands: 1, failed: 1 },
  "output-validated": { step: 1, report: 1, pending: 1 },
  "manifest-amended": { from: 1, fingerprint: 1, changed: 1, handoff: 1 },
  "state-changed": { key: 1, scope: 1, version: 1, change: 1, by: 1 },
  "ticket-opened": { ticket: 1 },
  "ticket-decided": { ticket: 1, decision: 1, by: 1 },
  "input-received": { input: 1, message: 1, by: 1, replaces: 1 },
  "input-withdrawn": { input: 1, by: 1 },
  "cancel-requested": { by: 1, reason: 1, instead: 1 },
  "pause-requested": { by: 1, reason: 1 },
};

const pieces: { readonly [Type in LivePiece["type"]]: Names<FieldsOf<LivePiece, Type, LiveStamp>> } = {
  "text-delta": { message: 1, text: 1 },
  "reasoning-delta": { message: 1, text: 1 },
  "tool-input-delta": { message: 1, index: 1, tool: 1, text: 1 },
  "tool-progress": { call: 1, progress: 1 },
  "message-partial": { message: 1, text: 1, reasoning: 1, inputs: 1 },
  "message-retracted": { message: 1 },
};

type Notice = Exclude<WatchEvent["type"], EventType | LivePiece["type"]>;
const notices: { readonly [Type in Notice]: Names<FieldsOf<WatchEvent, Type, "type">> } = {
  resync: { reason: 1, cursor: 1 },
};

test("the events page has every durable event with its fields, and no other", () => {
  expect(tableOf("Every durable event")).toEqual({ "": Object.keys(eventStamp) });
  expect(tableOf("Durable events")).toEqual(namesOf(events));
});

test("the events page has every live piece and notice with its fields, and no other", () => {
  expect(tableOf("Every live piece")).toEqual({ "": Object.keys(liveStamp) });
  expect(tableOf("Live pieces")).toEqual(namesOf(pieces));
  expect(tableOf("Gaps that are told")).toEqual(namesOf(notices));
});

test("every row of the events page says what it means", () => {
  const rows = page.split("\n").filter((line) => /^\| .*`/.test(line));
  expect(rows.filter((row) => !/[.:] \|$/.test(row))).toEqual([]);
});

function namesOf(fields: Readonly<Record<string, object>>): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(fields).map(([type, names]) => [type, Object.keys(names)]));
}

/** Fields by type, of the table below a heading; a table of fields alone has them under no type. */
function tableOf(heading: string): Readonly<Record<string, readonly string[]>> {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const lines = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("|"));
  const rows = lines.map((line) => line.split("|").slice(1, -2).map(nameIn)); // all but what it means
  const found: Record<string, string[]> = {};
  let type = "";
  for (const row of rows) {
    const field = row.at(-1);
    if (row.length === 2 && row[0]) type = row[0];
    if (type || field) found[type] = [...(found[type] ?? []), ...(field ? [field] : [])];
  }
  return found;
}

function nameIn(cell: string): string | undefined {
  return /^ `([^`]+)` $/.exec(cell)?.[1];
}
