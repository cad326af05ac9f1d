/** What `npm run bench -- workers` takes. Every problem is named at once; nothing is guessed. */
import { parseArgs } from "node:util";
import { Refusal } from "../refusal.ts";
import { type WorkloadName, workloads } from "./workload.ts";

export interface BenchOptions {
  readonly store: "sqlite" | "postgres";
  readonly workloads: readonly WorkloadName[];
  readonly runs: number;
  readonly steps: number;
  readonly rounds: number;
  readonly write: boolean;
  readonly note: string;
}

const names = Object.keys(workloads) as readonly WorkloadName[];

const usage = `npm run bench -- workers [options]
  --store sqlite|postgres   one SQLite file (default), or HOLDFAST_TEST_POSTGRES_URL, or a server of its own
  --workload ${names.join("|")}   both unless said
  --runs N                  runs of one measurement, 96 unless said
  --steps K                 steps of a run, 10 unless said: K model calls, K - 1 calls of a pure tool
  --rounds R                how often all worker counts are measured in turn, 5 unless said
  --write                   puts the figures into bench/RESULTS.md
  --note TEXT               what a reader of the results should know about the machine`;

const mostRuns = 100_000;

export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parsed(args);
  const problems: string[] = [];
  const whole = (name: "runs" | "steps" | "rounds", most: number): number => {
    const given = values[name];
    const number = /^\d+$/.test(given) ? Number(given) : 0;
    if (number < 1 || number > most)
      problems.push(`--${name} must be a whole number from 1 to ${most}, not "${given}"`);
    return number;
  };
  const oneOf = <Name extends string>(name: "store" | "workload", allowed: readonly Name[]): Name | undefined => {
    const given = values[name];
    const found = allowed.find((each) => each === given);
    if (given !== undefined && !found) problems.push(`--${name} must be ${allowed.join(" or ")}, not "${given}"`);
    return found;
  };
  const store = oneOf("store", ["sqlite", "postgres"]) ?? "sqlite";
  const workload = oneOf("workload", names);
  const numbers = { runs: whole("runs", mostRuns), steps: whole("steps", 1_000), rounds: whole("rounds", 1_000) };
  if (values.note !== "" && !values.write) problems.push("--note goes into the results: it needs --write");
  if (problems.length > 0) throw new Refusal(`${problems.join("\n")}\n\n${usage}`);
  return { store, workloads: workload ? [workload] : names, ...numbers, write: values.write, note: values.note };
}

function parsed(args: readonly string[]): ReturnType<typeof parse> {
  try {
    return parse(args);
  } catch (cause) {
    throw new Refusal(`${cause instanceof Error ? cause.message : cause}\n\n${usage}`);
  }
}

function parse(args: readonly string[]): {
  values: Record<"runs" | "steps" | "rounds" | "note", string> & { store?: string; workload?: string; write: boolean };
} {
  return parseArgs({
    args: [...args],
    allowPositionals: false,
    options: {
      store: { type: "string" },
      workload: { type: "string" },
      runs: { type: "string", default: "96" },
      steps: { type: "string", default: "10" },
      rounds: { type: "string", default: "5" },
      write: { type: "boolean", default: false },
      note: { type: "string", default: "" },
    },
  });
}
