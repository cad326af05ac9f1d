import fc from "fast-check";
import { expect, test } from "vitest";
import { apply, fold, foldAll } from "../../src/domain/apply.ts";
import type { CommandType } from "../../src/domain/command.ts";
import type { Entry, EntryType } from "../../src/domain/entry.ts";
import { project } from "../../src/domain/event.ts";
import { toJson } from "../../src/domain/json.ts";
import { phases } from "../../src/domain/phase.ts";
import { rowChanges } from "../../src/domain/row-changes.ts";
import { canMove } from "../../src/domain/run.ts";
import type { RunState } from "../../src/domain/run-state.ts";
import { viewRun } from "../../src/domain/run-view.ts";
import { identity } from "./journal.ts";
import { legalJournal } from "./legal-journal.ts";

const journals = fc.array(fc.nat(9_999), { maxLength: 80, size: "max" }).map(legalJournal);
const runs = { numRuns: 300 };

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}

function statesOf(entries: readonly Entry[]): RunState[] {
  return entries.map((_, index) => foldAll(entries.slice(0, index + 1)));
}

test("folding any prefix of a legal journal in two parts equals folding it at once", () => {
  const property = fc.property(journals, fc.nat(), fc.nat(), (entries, end, cut) => {
    const prefix = entries.slice(0, 1 + (end % entries.length));
    const at = 1 + (cut % prefix.length);
    expect(fold(foldAll(prefix.slice(0, at)), prefix.slice(at))).toStrictEqual(foldAll(prefix));
  });
  fc.assert(property, runs);
});

test("entries that come twice change nothing", () => {
  const property = fc.property(journals, fc.nat(), (entries, cut) => {
    const at = 1 + (cut % entries.length);
    expect(fold(foldAll(entries.slice(0, at)), entries)).toStrictEqual(foldAll(entries));
  });
  fc.assert(property, runs);
});

test("a state survives JSON at every entry, so a snapshot loses nothing", () => {
  const property = fc.property(journals, (entries) => {
    for (const state of statesOf(entries)) expect(JSON.parse(JSON.stringify(state))).toStrictEqual(state);
  });
  fc.assert(property, { numRuns: 60 });
});

test("apply changes neither the state nor the entry it is given", () => {
  const property = fc.property(journals, (entries) => {
    const [first, ...rest] = deepFreeze(entries);
    let state = deepFreeze(foldAll([first!]));
    for (const entry of rest) state = deepFreeze(apply(state, entry));
    expect(state.seq).toBe(entries.length);
  });
  fc.assert(property, runs);
});

test("A2 every move of status in a legal journal is in the legal table, and rowChanges says the same status", () => {
  const property = fc.property(journals, (entries) => {
    const states = statesOf(entries);
    for (const [index, state] of states.slice(1).entries()) {
      const before = states[index]!;
      const { status = before.status } = rowChanges([entries[index + 1]!]);
      expect(canMove(before.status, state.status)).toBe(true);
      expect(status).toBe(state.status);
    }
  });
  fc.assert(property, { numRuns: 60 });
});

test("rowChanges of a whole journal leaves open exactly the tickets and counts exactly the messages of the fold", () => {
  const property = fc.property(journals, (entries) => {
    const { opened, decided, messages } = rowChanges(entries);
    const over = new Set(decided.map((each) => each.decided.ticket));
    const state = foldAll(entries);
    expect(opened.filter((ticket) => !over.has(ticket.id)).map((ticket) => ticket.id)).toEqual(
      state.tickets.map((ticket) => ticket.id),
    );
    expect(messages).toBe(state.appended);
  });
  fc.assert(property, runs);
});

test("rowChanges of a whole journal leaves in the thread exactly the values of the fold, and its mark", () => {
  const property = fc.property(journals, (entries) => {
    const rows = rowChanges(entries).slots.map(({ key, version, value }) => [key, { version, value }]);
    const folded = Object.entries(foldAll(entries).threadSlots).map(([key, { version, value }]) => [
      key,
      { version, value },
    ]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(folded));
  });
  fc.assert(property, runs);
});

test("nothing in the state grows with steps", () => {
  const property = fc.property(journals, (entries) => {
    const state = foldAll(entries);
    const { tickets: _tickets, inbox: _inbox, unknowns: _unknowns, ...rest } = state;
    expect(JSON.stringify(rest).length).toBeLessThan(6_000);
  });
  fc.assert(property, runs);
});

test("project and viewRun answer for every entry with plain JSON", () => {
  const property = fc.property(journals, (entries) => {
    for (const entry of entries) {
      const event = project(entry, identity);
      expect(event).toMatchObject({ run: identity.run, thread: identity.thread, seq: entry.seq, type: entry.type });
      expect(toJson(event)).toMatchObject({ ok: true, value: event });
    }
    const view = viewRun(foldAll(entries));
    expect(toJson(view)).toMatchObject({ ok: true, value: view });
  });
  fc.assert(property, { numRuns: 100 });
});

function sampled(): Entry[] {
  return fc.sample(journals, { numRuns: 1_000, seed: 1 }).flat();
}

test("the journals above hold every command, and something of every phase but model-delta, which only looks", () => {
  const applied = sampled().filter((entry) => entry.type === "command-applied");
  const given = new Set(applied.flatMap(({ commands }) => commands.map(({ command }) => command.type)));
  const every: Record<CommandType, true> = {
    "set-state": true,
    "add-context": true,
    "hide-tools": true,
    "restrict-tools": true,
    "patch-request": true,
    deny: true,
    ask: true,
    "set-result": true,
    "patch-input": true,
    "rewrite-result": true,
    "rewrite-output": true,
    retry: true,
    stop: true,
    continue: true,
    schedule: true,
    "open-ticket": true,
    "send-input": true,
  };
  expect([...given].sort()).toEqual(Object.keys(every).sort());
  const asked = new Set(applied.map(({ phase }) => phase));
  expect(phases.filter((phase) => !asked.has(phase))).toEqual(["model-delta"]);
});

test("the journals above hold every kind of entry", () => {
  const found = new Set<EntryType>(sampled().map((entry) => entry.type));
  const every: Record<EntryType, true> = {
    "run-created": true,
    "run-started": true,
    "run-waiting": true,
    "run-resumed": true,
    "run-ended": true,
    "step-started": true,
    "step-ended": true,
    "context-projected": true,
    "effect-intended": true,
    "effect-settled": true,
    "call-gated": true,
    "message-appended": true,
    "command-applied": true,
    "state-changed": true,
    "output-validated": true,
    "manifest-amended": true,
    "ticket-opened": true,
    "ticket-decided": true,
    "input-received": true,
    "input-withdrawn": true,
    "cancel-requested": true,
    "pause-requested": true,
  };
  expect([...found].sort()).toEqual(Object.keys(every).sort());
});
