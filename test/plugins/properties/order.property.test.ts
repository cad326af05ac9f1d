import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../../src/domain/entry.ts";
import { initially, orders, type PlannedHook, paces, plans, reordered, writingPhases } from "./hook-plan.ts";
import { type Ending, foreseePlan, linesOf, type PlannedRun, playPlan } from "./planned-run.ts";

/** A larger campaign by HOLDFAST_ORDER_PLANS. */
const numRuns = Number(process.env.HOLDFAST_ORDER_PLANS ?? 60);
const timeout = 60_000 + numRuns * 100;

const hookSets = plans(writingPhases);
const timings = fc.record({
  pace: paces,
  order: orders,
  ending: fc.constantFrom<Ending>("approved", "approved", "cancelled"),
});

/** A tool's answer is written apart only where somebody had to be waited for. */
function withoutAnswered(run: PlannedRun): PlannedRun {
  const entries = run.entries.map((entry): Entry => {
    if (entry.type !== "effect-settled") return entry;
    const { answered: _answered, ...rest } = entry;
    return rest;
  });
  return { ...run, entries };
}

function runOf({ entries }: PlannedRun): string {
  const [created] = entries;
  return created?.type === "run-created" ? created.identity.run : "";
}

test(
  "G1, G2 any set of hooks gives one result, whatever finishes first: that of registration order",
  async () => {
    const property = fc.asyncProperty(hookSets, timings, async (hooks, { pace, order, ending }) => {
      const run = await playPlan(hooks, pace, ending);
      const { lines, asks, state } = foreseePlan(hooks, runOf(run), ending);
      expect(linesOf(run.entries)).toEqual(lines);
      expect(run.asks).toEqual(asks);
      expect({ ...initially, ...run.state }).toEqual(state);
      expect(await playPlan(hooks, reordered(pace, order), ending)).toEqual(run);
      expect(withoutAnswered(await playPlan(hooks, [], ending))).toEqual(withoutAnswered(run));
    });
    await fc.assert(property, { numRuns });
  },
  timeout,
);

test(
  "G4 of several hooks that throw the first one by registration is named, and nothing of that moment is kept",
  async () => {
    const broken = fc.array(fc.nat(23), { minLength: 1, maxLength: 3 });
    const property = fc.asyncProperty(hookSets, broken, timings, async (drawn, which, { pace, order }) => {
      const isBroken = (index: number): boolean => which.some((each) => each % drawn.length === index);
      const hooks = drawn.map((hook, index) => (isBroken(index) ? { ...hook, isBroken: true } : hook));
      const run = await playPlan(hooks, pace);
      const failures = run.entries.filter((entry) => entry.type === "command-applied" && entry.failed);
      for (const entry of failures) {
        if (entry.type !== "command-applied") continue;
        const first = hooks.find((hook) => hook.phase === entry.phase && hook.isBroken);
        expect(entry).toMatchObject({ failed: { plugin: first?.plugin }, commands: [] });
      }
      expect(await playPlan(hooks, reordered(pace, order))).toEqual(run);
    });
    await fc.assert(property, { numRuns: Math.ceil(numRuns / 3) });
  },
  timeout,
);

test("the sets above meet every phase, and often two hooks that want the same key", () => {
  const sampled = fc.sample(hookSets, { numRuns: 500, seed: 1 });
  const phases = new Set(sampled.flatMap((hooks) => hooks.map(({ phase }) => phase)));
  expect([...phases].sort()).toEqual([...writingPhases].sort());
  const kinds = new Set(sampled.flatMap((hooks) => hooks.flatMap(({ writes }) => writes.map(({ kind }) => kind))));
  expect([...kinds].sort()).toEqual(["context", "patch", "rewrite", "schedule", "set", "update"]);
  const hasLoser = (hooks: readonly PlannedHook[]): boolean =>
    [...foreseePlan(hooks, "run", "approved").asks.values()].some((asks) => asks.length === 2);
  expect(sampled.filter(hasLoser).length).toBeGreaterThan(200);
});
