/**
 * A SQLite file whose WAL ends anywhere: every cut leaves a store in which all of F1 to F6 hold (see file-checks.ts), in
 * which each journal is the beginning of what it was, and which has everything that was acknowledged before the cut.
 *
 * A cut stands for what a loss of power makes of frames that were not flushed yet. What this cannot show: that the disk
 * keeps what it says it has flushed, and frames that are lost in the middle, for which SQLite's checksums answer.
 */
import { expect, test } from "vitest";
import { createRandom } from "../../src/testing/sim/random.ts";
import { checkFile, type FileReport, type Journals } from "./file-checks.ts";
import { type Copy, copiesUnderLoad, cutAt } from "./wal-copies.ts";

const cuts = Number(process.env.HOLDFAST_WAL_CUTS ?? 200);
const copyCount = 5;
const random = createRandom("wal-prefix");

interface Cut {
  readonly at: number;
  readonly found: FileReport;
}

async function cutOften(copies: readonly Copy[], count: number, each: (copy: Copy, cut: Cut) => void): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const copy = copies[n % copies.length] as Copy;
    const at = random.int(copy.bytes + 1);
    each(copy, { at, found: await checkFile(cutAt(copy, at)) });
  }
}

/** Runs that are longer in the cut copy, or say something else, than in the whole one. */
function changed(cut: Journals, whole: Journals): readonly string[] {
  return [...cut].flatMap(([run, entries]) => {
    const before = whole.get(run)?.slice(0, entries.length) ?? [];
    return JSON.stringify(before) === JSON.stringify(entries) ? [] : [run];
  });
}

function lost({ acknowledged }: Copy, { at, found }: Cut): readonly string[] {
  const due = acknowledged.filter(({ wal }) => wal <= at);
  const missing = due.filter(({ run, head }) => (found.journals.get(run as never)?.length ?? 0) < head);
  return missing.map(({ run, head }) => `${run} ${head}`);
}

test(`F1–F6 hold after each of ${cuts} cuts, and what was acknowledged before the cut is there`, {
  timeout: 300_000,
}, async () => {
  const copies = await copiesUnderLoad(copyCount);
  const wholes = new Map<Copy, FileReport>();
  for (const copy of copies) wholes.set(copy, await checkFile(cutAt(copy, copy.bytes)));
  expect([...wholes.values()].flatMap(({ problems }) => problems)).toEqual([]);
  let due = 0;
  let shorter = 0;
  await cutOften(copies, cuts, (copy, cut) => {
    const whole = wholes.get(copy)?.journals ?? new Map();
    expect({ at: cut.at, problems: cut.found.problems }).toEqual({ at: cut.at, problems: [] });
    expect({ at: cut.at, changed: changed(cut.found.journals, whole) }).toEqual({ at: cut.at, changed: [] });
    expect({ at: cut.at, lost: lost(copy, cut) }).toEqual({ at: cut.at, lost: [] });
    due += copy.acknowledged.filter(({ wal }) => wal <= cut.at).length;
    if (cut.found.journals.size < whole.size) shorter += 1;
  });
  // The cuts really took something away, and left something that had to be there.
  expect(shorter).toBeGreaterThan(cuts / 4);
  expect(due).toBeGreaterThan(cuts);
});

test("the same checks find a store that writes entries and rows in two transactions", {
  timeout: 300_000,
}, async () => {
  const copies = await copiesUnderLoad(2, "split");
  const found: string[] = [];
  await cutOften(copies, 40, (_copy, { found: { problems } }) => found.push(...problems));
  expect(found.filter((problem) => /its row says|its tickets are|F4|F5|F6/.test(problem))).not.toEqual([]);
});
