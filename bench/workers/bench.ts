/**
 * Throughput of 1, 2 and 4 worker processes on one store. The counts take turns (1, 2, 4, 1, 2, 4, …), so that a machine
 * which is busy with something else for a minute is so for all of them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commitLine, loadNow, machineLine, writeSection } from "../results.ts";
import { type Figures, figuresOf, type Round, tableOf } from "./figures.ts";
import { type Measurement, measure } from "./measure.ts";
import { type BenchOptions, readOptions } from "./options.ts";
import { pollMs } from "./setup.ts";
import { openHost, type StoreHost } from "./store-host.ts";
import { type Workload, type WorkloadName, workloads } from "./workload.ts";

const counts = [1, 2, 4];

export async function benchWorkers(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  const compiled = mkdtempSync(join(tmpdir(), "holdfast-bench-compiled-"));
  process.env.NODE_COMPILE_CACHE = compiled; // our children inherit it and are up in half the time
  try {
    await benchWith(options);
  } finally {
    rmSync(compiled, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function benchWith(options: BenchOptions): Promise<void> {
  const loadBefore = loadNow();
  const host = await openHost(options.store);
  try {
    const figures: Figures[] = [];
    for (const workload of options.workloads) {
      const rounds = await measureRounds({ ...options, workload }, host);
      figures.push(...figuresOf({ ...options, workload }, rounds));
    }
    const load = `Load average ${loadBefore} before and ${loadNow()} after, this bench included.`;
    report({ options, figures, facts: [`${machineLine()}. ${host.says}. ${load}`, sizesOf(options)] });
  } finally {
    await host.close();
  }
}

type Task = BenchOptions & { readonly workload: WorkloadName };

async function measureRounds(task: Task, host: StoreHost): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  for (let round = 1; round <= task.rounds; round += 1) {
    const measured = new Map<number, Measurement>();
    for (const workers of counts) {
      const { workload, runs, steps } = task;
      const place = host.fresh();
      const one = await measure({ place, workload, runs, steps }, workers);
      await host.drop(place);
      measured.set(workers, one);
      console.log(
        `${workload}, round ${round} of ${task.rounds}, workers ${workers}: ${Math.round((runs * steps * 1_000) / one.ms)} steps/s`,
      );
    }
    rounds.push(measured);
  }
  return rounds;
}

interface Report {
  readonly options: BenchOptions;
  readonly figures: readonly Figures[];
  readonly facts: readonly string[];
}

function report({ options, figures, facts }: Report): void {
  const table = tableOf(figures);
  const { write, note, ...asked } = options;
  const measured = { commit: commitLine(), date: new Date().toISOString().slice(0, 10) };
  if (write) {
    const notes = note === "" ? [] : [note, ""];
    const when = `Source of commit ${measured.commit}, ${measured.date}.`;
    writeSection({ title: `workers, ${options.store}`, lines: [when, ...facts, "", ...notes, ...table] });
  }
  console.log(["", ...facts, "", ...table, ""].join("\n"));
  console.log(JSON.stringify({ bench: "workers", ...asked, ...measured, machine: machineLine(), figures }));
}

function sizesOf({ runs, steps, rounds, workloads: names }: BenchOptions): string {
  const each = names.map((name) => {
    const { says, concurrency }: Workload = workloads[name];
    return `${name}: ${says}; concurrency ${concurrency}`;
  });
  const sizes = `${runs} runs of ${steps} steps, after a warm-up of half as many; rounds: ${rounds}; pollMs ${pollMs}`;
  return `${sizes}. Median (least–most). ${each.join(". ")}.`;
}
