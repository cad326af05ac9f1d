/** L2: a commit costs what it adds, never what the run or its thread already holds. */
import { describe, expect, test } from "vitest";
import { aBench, type Meter, memoryMeter, type Reading, sqliteMeter } from "./meter.ts";

/** A whole number of moves of what is sent: once it is full, every 50 steps. */
const window = 250;
const full = 120;

interface Cost {
  readonly statements: number;
  readonly bytes: number;
}

/** Of the 250 steps from this one on. */
function costFrom(step: number, marks: readonly Reading[]): Cost {
  const [from, to] = [marks[step], marks[step + window]];
  if (!from || !to) throw new Error(`the run has no step ${step + window}`);
  return { statements: to.statements - from.statements, bytes: to.bytes - from.bytes };
}

function expectFlat(early: Cost, late: Cost): void {
  expect(early.statements).toBeGreaterThanOrEqual(window);
  expect(late.statements).toBe(early.statements);
  expect(late.bytes / early.bytes).toBeGreaterThan(0.9);
  expect(late.bytes / early.bytes).toBeLessThan(1.1);
}

const meters: Record<string, () => Meter> = { memory: memoryMeter, sqlite: sqliteMeter };

for (const [name, meter] of Object.entries(meters)) {
  describe(`on ${name}`, () => {
    test("250 steps from step 2,000 cost what 250 steps from step 120 cost", async () => {
      const bench = await aBench(meter());
      const marks = await bench.longRun(2_000 + window + 1, "t");
      expectFlat(costFrom(full, marks), costFrom(2_000, marks));
    });

    test("250 steps on a thread of 10,000 messages cost what they cost on one of 10", async () => {
      const costs: Cost[] = [];
      for (const messages of [10, 10_000]) {
        const bench = await aBench(meter());
        // A nearly empty file has trees with one level less: both are measured past that.
        await bench.fill("elsewhere", 2_000);
        await bench.fill("t", messages);
        costs.push(costFrom(full, await bench.longRun(full + window + 1, "t")));
      }
      const [short, long] = costs;
      if (!short || !long) throw new Error("nothing was measured");
      expectFlat(short, long);
    });
  });
}

test("a new run on a thread of 10,000 messages reads as many rows as one on 1,000", async () => {
  const read: { rows: number; statements: number }[] = [];
  // A step with a call writes two messages; the first and the last of a run write one.
  for (const lengths of [[500], [2_500, 2_500]]) {
    const bench = await aBench(sqliteMeter());
    for (const steps of lengths) await bench.longRun(steps, "t");
    const before = bench.read();
    await bench.longRun(1, "t");
    const after = bench.read();
    read.push({ rows: after.rows - before.rows, statements: after.statements - before.statements });
  }
  expect(read[1]).toEqual(read[0]);
  expect(read[0]?.rows).toBeLessThan(300);
});
