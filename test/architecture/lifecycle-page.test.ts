import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Entry, EntryBody, EntryType, Settled, Verdict } from "../../src/domain/entry.ts";
import { defaultScope } from "../../src/domain/ids.ts";
import { canMove, type Outcome, type RunStatus } from "../../src/domain/run.ts";
import type { CallState } from "../../src/domain/run-state.ts";
import { type TicketKind, ticketVerbs } from "../../src/domain/ticket.ts";
import { phaseTable } from "../../src/engine/phases.ts";
import { agent, memory, plugin, type StoreDefinition, stateKey, tool } from "../../src/index.ts";
import { nodeClock } from "../../src/platform/node-clock.ts";
import type { CommittedRow } from "../../src/ports/store.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const docs = resolve(import.meta.dirname, "../../docs");
const page = readFileSync(join(docs, "explanation/lifecycle.md"), "utf8");
const entriesPage = readFileSync(join(docs, "reference/entries.md"), "utf8");

// The types below are closed unions: a kind that is added or taken away there fails to compile here.
const statuses = keys<RunStatus>({ created: 1, running: 1, waiting: 1, done: 1 });
const callStatuses = keys<CallState["status"]>({
  proposed: 1,
  asked: 1,
  ready: 1,
  running: 1,
  unknown: 1,
  concluded: 1,
  settled: 1,
});
const outcomes = keys<Outcome["kind"]>({
  completed: 1,
  stopped: 1,
  blocked: 1,
  cancelled: 1,
  failed: 1,
  "timed-out": 1,
});
const settlements = keys<Settled["kind"]>({
  done: 1,
  failed: 1,
  refused: 1,
  "not-made": 1,
  lost: 1,
  aborted: 1,
  unknown: 1,
});
const entryTypes = keys<EntryType>({
  "run-created": 1,
  "run-started": 1,
  "run-waiting": 1,
  "run-resumed": 1,
  "run-ended": 1,
  "step-started": 1,
  "step-ended": 1,
  "context-projected": 1,
  "effect-intended": 1,
  "effect-settled": 1,
  "call-gated": 1,
  "message-appended": 1,
  "command-applied": 1,
  "output-validated": 1,
  "manifest-amended": 1,
  "state-changed": 1,
  "ticket-opened": 1,
  "ticket-decided": 1,
  "input-received": 1,
  "input-withdrawn": 1,
  "cancel-requested": 1,
  "pause-requested": 1,
});

test("the lifecycle page names every run status, and every legal move between two of them", () => {
  expect(firstColumn(page, "Run status")).toEqual(statuses);
  const moves = statuses.flatMap((from) =>
    statuses.filter((to) => from !== to && canMove(from, to)).map((to) => `${from} --> ${to}`),
  );
  const drawn = [...page.matchAll(/^\s*(\w+) --> (\w+)/gm)].filter(([, from]) => statuses.includes(from as RunStatus));
  expect(drawn.map(([, from, to]) => `${from} --> ${to}`).sort()).toEqual(moves.sort());
});

test("the lifecycle page names every call status, outcome, attempt ending and ticket kind", () => {
  expect(firstColumn(page, "Call status")).toEqual(callStatuses);
  expect(firstColumn(page, "Outcome")).toEqual(outcomes);
  expect(firstColumn(page, "Attempt ended")).toEqual(settlements);
  expect(firstColumn(page, "Ticket")).toEqual(Object.keys(ticketVerbs) as TicketKind[]);
});

test("the entries page names every entry kind, and the lifecycle page no other", () => {
  expect(firstColumn(entriesPage, "Entry")).toEqual(entryTypes);
  const named = [...page.matchAll(/`((?:run|step|effect|call|message|ticket|input|cancel|pause)-[a-z-]+)`/g)];
  const known: readonly string[] = [...entryTypes, ...Object.keys(ticketVerbs)];
  expect(named.map(([, name]) => name ?? "").filter((name) => !known.includes(name))).toEqual([]);
});

test("the lifecycle page has every phase, in the order of the engine's table and of the picture", () => {
  const phases = Object.keys(phaseTable);
  expect(firstColumn(page, "Phase")).toEqual(phases);
  const [picture = ""] = /```mermaid\nflowchart[^`]*```/.exec(page) ?? [];
  const drawn = [...picture.matchAll(/(?:before|after|on|context|model|output|tool)-[a-z]+/g)].map(([name]) => name);
  expect(drawn).toEqual(phases);
});

test("what plugins write is on the lifecycle page as the code has written it", async () => {
  const shown = await pluginJournalOf();
  await expect(shown).toMatchFileSnapshot(join(docs, "explanation/lifecycle-plugin-journal.txt"));
  expect(page).toContain(shown.trimEnd());
});

test("the journal on the lifecycle page is one that the code has written", async () => {
  const shown = await journalOf();
  await expect(shown).toMatchFileSnapshot(join(docs, "explanation/lifecycle-journal.txt"));
  expect(page).toContain(shown.trimEnd());
});

const look = tool({
  name: "look",
  description: "Look an order up",
  input: z.object({ order: z.string() }),
  effect: "pure",
  execute: () => "found",
});

/** A tool step, a step with an approval, an answer. */
async function journalOf(): Promise<string> {
  const store = memory();
  const refund = tool({
    name: "refund",
    description: "Refund an order",
    input: z.object({ order: z.string() }),
    effect: "idempotent",
    needsApproval: true,
    execute: () => "refunded",
  });
  const support = agent({
    name: "support",
    instructions: "Resolve refund requests.",
    tools: [look, refund],
    model: scripted([
      { calls: [{ tool: "look", input: { order: "42" } }] },
      { calls: [{ tool: "refund", input: { order: "42" } }] },
      "Refunded.",
    ]),
  });
  await using t = await testRuntime({ agents: [support], store });
  const run = await t.runtime.start(support, "Refund order 42");
  await run.idle();
  const [ticket] = await t.runtime.tickets.list({ tool: refund, run: run.id });
  if (ticket?.kind !== "approval") throw new Error("no approval");
  await ticket.approve({ by: "ana" });
  await run.output();
  return show(await rowsOf(store));
}

async function rowsOf(store: StoreDefinition): Promise<readonly CommittedRow[]> {
  const logger = { warn: () => undefined, note: () => undefined };
  const reader = await store.open({ clock: nodeClock, logger });
  return reader.readAll({ scope: defaultScope, after: 0, limit: 1_000 });
}

/** A plugin that speaks before each step and counts results; one tool step and an answer. */
async function pluginJournalOf(): Promise<string> {
  const store = memory();
  const results = stateKey({ name: "results", schema: z.number(), initial: 0, merge: "sum" });
  const counting = plugin({
    name: "counting",
    state: [results],
    create: () => ({
      hooks: {
        "before-step": ({ state }) => ({ type: "add-context", key: "so-far", text: `${state.get(results)} results` }),
        "after-tool": () => results.update(1),
      },
    }),
  });
  const clerk = agent({
    name: "clerk",
    instructions: "Look things up.",
    tools: [look],
    plugins: [counting()],
    model: scripted([{ calls: [{ tool: "look", input: { order: "42" } }] }, "Found."]),
  });
  await using t = await testRuntime({ agents: [clerk], store });
  await t.runtime.run(clerk, "Look order 42 up");
  const [, ...rows] = await rowsOf(store);
  return show(rows);
}

function show(rows: readonly CommittedRow[]): string {
  const lines = rows.flatMap(({ entries }) => [`── ${doorOf(entries)}`, ...entries.map(showEntry)]);
  return `${lines.join("\n")}\n`;
}

function doorOf([first]: readonly Entry[]): string {
  if (first?.type === "run-created") return "birth";
  return first?.epoch === null ? "outside door" : `worker door, claim ${first?.epoch}`;
}

function showEntry(entry: Entry): string {
  return `${String(entry.seq).padStart(3)}  ${entry.type.padEnd(17)} ${saysOf(entry)}`.trimEnd();
}

function saysOf(entry: EntryBody): string {
  switch (entry.type) {
    case "run-created":
      return `agent ${entry.identity.agent}, ${entry.input.length} message`;
    case "run-waiting":
      return `on ${entry.reasons.join(", ")}`;
    case "run-ended":
      return entry.outcome.kind;
    case "step-started":
    case "step-ended":
      return String(entry.step);
    case "effect-intended":
      return `${entry.kind}, attempt ${entry.attempt}`;
    case "effect-settled":
      return entry.result.kind;
    case "call-gated":
      return showVerdict(entry.verdict);
    case "message-appended":
      return entry.body.kind === "here" ? `${entry.body.message.role}, here` : "the input of run-created";
    case "command-applied":
      return `${entry.phase}: ${entry.commands.map(({ command }) => command.type).join(", ")}`.replace(/: $/, "");
    case "state-changed":
      return `${entry.key}, ${JSON.stringify(entry.change)}`;
    case "ticket-opened":
      return entry.ticket.kind;
    case "ticket-decided":
      return `${entry.decision.kind} by ${entry.by}`;
    default:
      return "";
  }
}

function showVerdict(verdict: Verdict): string {
  return verdict.kind === "ask" ? `ask for ${verdict.ticket}` : verdict.kind;
}

function keys<Name extends string>(names: Readonly<Record<Name, 1>>): readonly Name[] {
  return Object.keys(names) as Name[];
}

/** The code in the first column of the table that is headed so. */
function firstColumn(text: string, heading: string): readonly string[] {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  const rows = start < 0 ? [] : lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, end < 0 ? rows.length : end).map((row) => /^\| `([^`]+)`/.exec(row)?.[1] ?? row);
}
