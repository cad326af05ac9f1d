import fc from "fast-check";
import { expect, test } from "vitest";
import { apply, foldAll } from "../../src/domain/apply.ts";
import type { Entry, EntryBody } from "../../src/domain/entry.ts";
import type { CallId } from "../../src/domain/ids.ts";
import type { CallResult } from "../../src/domain/message.ts";
import {
  canMoveCall,
  isCallEnded,
  type ToolCallStatus,
  toolCallStatus,
} from "../../src/domain/seed-tables/tool-call-status.ts";
import * as j from "../domain/journal.ts";
import { legalJournal } from "../domain/legal-journal.ts";

const every: readonly ToolCallStatus[] = [
  "new",
  "running",
  "suspended",
  "resuming",
  "succeeded",
  "failed",
  "cancelled",
];
const ends: readonly ToolCallStatus[] = ["succeeded", "failed", "cancelled"];

const legal: Readonly<Record<ToolCallStatus, readonly ToolCallStatus[]>> = {
  new: every,
  running: ["running", "suspended", ...ends],
  suspended: ["suspended", "resuming", "cancelled"],
  resuming: ["resuming", "running", "suspended", ...ends],
  succeeded: [],
  failed: [],
  cancelled: [],
};

test.each(every)("XA-17 from %s only the legal moves are taken", (from) => {
  expect(every.filter((to) => canMoveCall(from, to)).sort()).toEqual([...legal[from]].sort());
});

test("XA-17 terminal are succeeded, failed and cancelled", () => {
  expect(every.filter(isCallEnded)).toEqual(ends);
});

function statusAfter(...bodies: readonly EntryBody[]): ToolCallStatus {
  const call = foldAll(j.journal(...j.proposed({ cents: 5 }), ...bodies)).step?.calls[0];
  if (!call) throw new Error("the run has no call");
  return toolCallStatus(call);
}

const asked = [j.callGated(j.ask), j.opened()];
const running = [j.callGated(), j.toolIntended()];
const failed = { kind: "failed", error: { code: "tool-failed", message: "x" }, retry: "never" } as const;
const unknown = [...running, j.toolSettled(j.unknownResult), j.opened(j.ticket("unknown-outcome"))];
const about = j.ticket("unknown-outcome").id;
const held = { ...j.toolSettled(), answered: { kind: "value", value: 1 } } as EntryBody;
const again = j.applied("after-tool", [{ type: "retry", reason: "once more" }], j.call());

const table: readonly [string, readonly EntryBody[], ToolCallStatus][] = [
  ["proposed", [], "new"],
  ["allowed", [j.callGated()], "new"],
  ["asked for", asked, "suspended"],
  ["approved", [...asked, j.decided({ kind: "approve" })], "resuming"],
  ["edited", [...asked, j.decided({ kind: "edit", input: {} })], "resuming"],
  ["answered", [...asked, j.decided({ kind: "answer", value: 1 })], "resuming"],
  ["rejected", [...asked, j.decided({ kind: "reject", reason: "no" })], "cancelled"],
  ["closed", [...asked, j.decided({ kind: "closed", why: "cancelled" })], "cancelled"],
  ["refused by the gate", [j.callGated({ kind: "refuse", code: "unknown-tool", message: "x" })], "failed"],
  ["running", running, "running"],
  ["lost with its process", [...running, j.toolSettled({ kind: "lost" })], "running"],
  ["too late to begin", [...running, j.toolSettled({ kind: "not-made" })], "running"],
  ["done", [...running, j.toolSettled()], "succeeded"],
  ["failed", [...running, j.toolSettled(failed)], "failed"],
  ["done and held for plugins", [...running, held], "running"],
  ["wanted again by a plugin", [...running, held, again], "running"],
  [
    "denied by a plugin",
    [j.callGated(), j.applied("before-tool", [{ type: "deny", reason: "no" }], j.call())],
    "failed",
  ],
  ["aborted", [...running, j.toolSettled({ kind: "aborted" })], "cancelled"],
  ["unknown, nobody asked yet", [...running, j.toolSettled(j.unknownResult)], "running"],
  ["unknown, an operator is asked", unknown, "suspended"],
  ["marked done", [...unknown, j.decided({ kind: "mark-done", result: 1 }, about)], "resuming"],
  ["marked failed", [...unknown, j.decided({ kind: "mark-failed", reason: "x" }, about)], "resuming"],
  ["to be run again", [...unknown, j.decided({ kind: "run-again" }, about)], "resuming"],
  [
    "unknown and the run is cancelled",
    [...unknown, j.decided({ kind: "closed", why: "cancelled" }, about)],
    "cancelled",
  ],
];

test.each(table)("XA-17 a call that is %s", (_name, bodies, status) => {
  expect(statusAfter(...bodies)).toBe(status);
});

const results: readonly [string, readonly EntryBody[], ToolCallStatus][] = [
  ["done", [...running, j.toolSettled()], "succeeded"],
  ["failed", [...running, j.toolSettled(failed)], "failed"],
  ["answered", [...asked, j.decided({ kind: "answer", value: 1 })], "succeeded"],
  ["rejected", [...asked, j.decided({ kind: "reject", reason: "no" })], "cancelled"],
  ["closed", [...asked, j.decided({ kind: "closed", why: "cancelled" })], "cancelled"],
  ["lost and not begun again", [...running, j.toolSettled({ kind: "lost" })], "cancelled"],
  ["never begun", [...running, j.toolSettled({ kind: "not-made" })], "cancelled"],
  ["aborted", [...running, j.toolSettled({ kind: "aborted" })], "cancelled"],
  ["marked done", [...unknown, j.decided({ kind: "mark-done", result: 1 }, about)], "succeeded"],
  ["marked failed", [...unknown, j.decided({ kind: "mark-failed", reason: "x" }, about)], "failed"],
  ["let go by a cancelled run", [...unknown, j.decided({ kind: "cancel-run" }, about)], "cancelled"],
];

test.each(results)("XA-17 a call that was %s keeps its end when its result is written", (_name, bodies, status) => {
  expect(statusAfter(...bodies, j.resultAppended())).toBe(status);
});

function resultsIn(entry: Entry): ReadonlyMap<CallId, CallResult> {
  if (entry.type !== "message-appended" || entry.body.kind !== "here") return new Map();
  const parts = entry.body.message.parts.filter((part) => part.type === "tool-result");
  return new Map(parts.map((part) => [part.call, part.result]));
}

test("XA-17 every move that a legal journal makes is a legal move of the seed", () => {
  const choices = fc.array(fc.nat(9_999), { maxLength: 80, size: "max" });
  const property = fc.property(choices, (numbers) => {
    const [first, ...rest] = legalJournal(numbers);
    let state = foldAll([first!]);
    const seen = new Map<CallId, ToolCallStatus>();
    const written = new Map<CallId, CallResult>();
    for (const entry of rest) {
      state = apply(state, entry);
      for (const [call, result] of resultsIn(entry)) written.set(call, result);
      for (const call of state.step?.calls ?? []) {
        const [before, after] = [seen.get(call.id) ?? "new", toolCallStatus(call, written.get(call.id))];
        const legalMove = before === after || canMoveCall(before, after);
        expect(legalMove, `${call.id} ${before} → ${after} by ${JSON.stringify(entry)}`).toBe(true);
        seen.set(call.id, after);
      }
    }
  });
  fc.assert(property, { numRuns: 500 });
});
