import { expect, test } from "vitest";
import { isHoldfastError } from "../../src/domain/errors.ts";
import { compileFilter, type Envelope, type EventFilter } from "../../src/domain/event-filter.ts";
import type { RunId, ThreadId } from "../../src/domain/ids.ts";

function refusal(filter: unknown): string | undefined {
  try {
    compileFilter(filter as EventFilter);
    return undefined;
  } catch (cause) {
    return isHoldfastError(cause) ? `${cause.code}: ${cause.problems.join("; ")}` : String(cause);
  }
}

const event: Envelope = { type: "run-resumed", run: "r1" as RunId, thread: "t1" as ThreadId, agent: "talker" };

test("10,000 terms are refused, 1,000 are not", () => {
  const terms = (count: number): string[] => Array.from({ length: count }, (_, n) => `r${n}`);
  expect(refusal({ runs: terms(10_000) })).toMatch(/^invalid-options: .*runs/);
  expect(refusal({ runs: terms(1_000), threads: terms(1_000) })).toBeUndefined();
});

test("what is not a filter is refused, and every problem is named", () => {
  expect(refusal({ users: ["ana"] })).toMatch(/users/);
  expect(refusal({ runs: "r1", threads: [], agents: [1] })).toMatch(/runs.*threads.*agents/);
  for (const wrong of [null, 3, "all", []]) expect(refusal(wrong)).toMatch(/^invalid-options/);
});

test("the order of lists, and doubles in them, make no difference; another dimension does", () => {
  const { canonical } = compileFilter({ runs: ["a", "b"], types: ["run-ended", "run-created"] });
  const again = compileFilter({ types: ["run-created", "run-ended", "run-created"], runs: ["b", "a", "b"] });
  expect(again.canonical).toEqual(canonical);
  expect(compileFilter({ threads: ["a", "b"], types: ["run-ended", "run-created"] }).canonical).not.toEqual(canonical);
  expect(compileFilter({}).canonical).not.toEqual(canonical);
});

test("dimensions are all met, one term of each is enough", () => {
  const matches = (filter: EventFilter): boolean => compileFilter(filter).matches(event);
  expect(matches({})).toBe(true);
  expect(matches({ runs: ["r0", "r1"], threads: ["t1"], agents: ["talker"], types: ["run-resumed"] })).toBe(true);
  for (const other of [
    { runs: ["r2"] },
    { threads: ["t2"] },
    { agents: ["other"] },
    { types: ["run-ended" as const] },
  ]) {
    expect(matches({ runs: ["r1"], ...other })).toBe(false);
  }
});

test("live pieces pass by run and thread; a filter by agent or type shows none", () => {
  const [run, thread] = ["r1" as RunId, "t1" as ThreadId];
  const shows = (filter: EventFilter): boolean => compileFilter(filter).matchesRun(run, thread);
  expect(shows({})).toBe(true);
  expect(shows({ runs: ["r1"], threads: ["t1"] })).toBe(true);
  expect(shows({ runs: ["r2"] })).toBe(false);
  expect(shows({ agents: ["talker"] })).toBe(false);
  expect(shows({ types: ["run-resumed"] })).toBe(false);
});
