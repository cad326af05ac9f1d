/** From measurements to figures: medians with their spread, and ratios to one worker. */
import type { Measurement } from "./measure.ts";
import type { WorkloadName } from "./workload.ts";

/** One round: every worker count once, one right after the other. */
export type Round = ReadonlyMap<number, Measurement>;

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Figures {
  readonly workload: WorkloadName;
  readonly workers: number;
  readonly stepsPerSecond: Spread;
  /** To one worker of the same round: a slow minute of the machine hits both, and the median is of such pairs. */
  readonly ratio: Spread;
  /** Processor time that all workers together used for one step. */
  readonly cpuMsPerStep: Spread;
  /** Until the last run of the batch was born. */
  readonly startsMs: Spread;
}

export interface Batch {
  readonly workload: WorkloadName;
  readonly runs: number;
  readonly steps: number;
}

export function figuresOf(batch: Batch, rounds: readonly Round[]): readonly Figures[] {
  const counts = [...(rounds[0]?.keys() ?? [])];
  const steps = batch.runs * batch.steps;
  return counts.map((workers) => {
    const all = rounds.map((round) => taken(round, workers));
    return {
      workload: batch.workload,
      workers,
      stepsPerSecond: spreadOf(all.map(({ ms }) => (steps * 1_000) / ms)),
      ratio: spreadOf(rounds.map((round) => taken(round, 1).ms / taken(round, workers).ms)),
      cpuMsPerStep: spreadOf(all.map(({ cpuMs }) => cpuMs / steps)),
      startsMs: spreadOf(all.map(({ startsMs }) => startsMs)),
    };
  });
}

function taken(round: Round, workers: number): Measurement {
  const found = round.get(workers);
  if (!found) throw new Error(`A round has no measurement of ${workers} workers`);
  return found;
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number): number => rounded(sorted[index] ?? Number.NaN);
  const middle = (sorted.length - 1) / 2;
  const median = ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
  return { median: rounded(median), least: at(0), most: at(sorted.length - 1) };
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/** A Markdown table, so that what is printed is what is kept. */
export function tableOf(figures: readonly Figures[]): readonly string[] {
  const header = ["workload", "workers", "steps/s", "ratio to 1", "worker CPU ms/step", "starts ms"];
  const rows = figures.map((each) => [
    each.workload,
    `${each.workers}`,
    shown(each.stepsPerSecond, 0),
    shown(each.ratio, 2),
    shown(each.cpuMsPerStep, 2),
    shown(each.startsMs, 0),
  ]);
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)];
}

function shown({ median, least, most }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`;
}
