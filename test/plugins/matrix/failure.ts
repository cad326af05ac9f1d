/** What must be seen of plugins that failed in a phase, by the phase's own rule. */
import { expect } from "vitest";
import { foldAll } from "../../../src/domain/apply.ts";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import type { Phase } from "../../../src/domain/phase.ts";
import { phaseTable } from "../../../src/engine/phases.ts";
import { momentsIn, resultsIn } from "./journal.ts";
import { progressAt } from "./samples.ts";
import { answer, type Played } from "./world.ts";

export interface Failure {
  readonly phase: Phase;
  readonly code: ErrorCode;
  /** Every one of these is in the message. */
  readonly says: readonly string[];
}

export function expectFailure(played: Played, failure: Failure): void {
  byRule[phaseTable[failure.phase].failure](played, failure);
  expectNothingApplied(played);
}

const byRule: Readonly<Record<(typeof phaseTable)[Phase]["failure"], typeof expectFailure>> = {
  "run-fails": ({ result, requests, executed, journal }, failure) => {
    expect(result).toMatchObject({ outcome: "failed", error: { code: failure.code }, retry: "never" });
    expectWords(result.outcome === "failed" ? result.error.message : "", failure);
    expect({ requests: requests.length, executed: executed.length }).toEqual(progressAt[failure.phase]);
    expectRecord(journal, failure);
  },
  "call-refused": (played, failure) => {
    expect(played.executed).toEqual([]);
    expectRefusedCall(played, failure);
  },
  "result-hidden": (played, failure) => {
    expect(played.executed).toHaveLength(1);
    expect(JSON.stringify(played.requests)).not.toContain(answer);
    expectRefusedCall(played, failure);
  },
  noted: ({ result, warnings, journal }, failure) => {
    expect(result.outcome).toBe(failure.phase === "on-cancel" ? "cancelled" : "completed");
    expect(warnings).toHaveLength(1);
    expectWords(warnings[0] ?? "", failure);
    if (failure.phase === "on-cancel") expectRecord(journal, failure);
    else expect(momentsIn(journal)).toEqual([]);
  },
};

function expectRefusedCall({ journal, result, requests }: Played, failure: Failure): void {
  const results = resultsIn(journal);
  expect(results).toMatchObject([{ kind: "error", code: "plugin-failed" }]);
  expectWords(results[0]?.kind === "error" ? results[0].message : "", failure);
  expect(JSON.stringify(requests[1])).toContain(JSON.stringify(failure.says[0]).slice(1, -1));
  expect(result).toMatchObject({ outcome: "completed", output: "Done." });
  if (failure.phase !== "tool-gate") expectRecord(journal, failure);
}

function expectRecord(journal: Played["journal"], { phase, code }: Failure): void {
  expect(momentsIn(journal).filter((moment) => moment.failed)).toMatchObject([
    { phase, commands: [], failed: { plugin: "probe", error: { code } } },
  ]);
}

function expectWords(message: string, { phase, says }: Failure): void {
  for (const word of ["probe", phase, ...says]) expect(message).toContain(word);
}

/** Not even what was allowed beside it. */
function expectNothingApplied({ journal, heard, waits }: Played): void {
  const { slots, plugins } = foldAll(journal);
  expect(slots).toEqual({});
  expect(plugins).toMatchObject({ context: [], scheduled: [], opened: 0, goesOn: false });
  expect(momentsIn(journal).flatMap(({ commands }) => commands)).toEqual([]);
  expect(heard.filter((entry) => entry.type === "input-received")).toEqual([]);
  expect(waits.filter(({ ticket }) => ticket.kind === "input")).toEqual([]);
}
