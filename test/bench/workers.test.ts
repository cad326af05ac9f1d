/** The workers bench: its sums, its refusals, and one tiny showing with real processes. No timing is judged here. */
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { withSection } from "../../bench/results.ts";
import { figuresOf, tableOf } from "../../bench/workers/figures.ts";
import type { Measurement } from "../../bench/workers/measure.ts";
import { readOptions } from "../../bench/workers/options.ts";

const root = resolve(import.meta.dirname, "../..");

function took(ms: number): Measurement {
  return { ms, startsMs: 5, cpuMs: 40 };
}

const rounds = [
  new Map([
    [1, took(1_000)],
    [2, took(500)],
  ]),
  // A slow minute: both counts take four times as long, and the ratio stays what it was.
  new Map([
    [1, took(4_000)],
    [2, took(2_000)],
  ]),
  new Map([
    [1, took(1_000)],
    [2, took(800)],
  ]),
];

test("a ratio is to one worker of the same round, and figures are medians with their spread", () => {
  const [one, two] = figuresOf({ workload: "cpu", runs: 10, steps: 2 }, rounds);
  expect(one?.ratio).toEqual({ median: 1, least: 1, most: 1 });
  expect(two?.ratio).toEqual({ median: 2, least: 1.25, most: 2 });
  expect(two?.stepsPerSecond).toEqual({ median: 25, least: 10, most: 40 });
  expect(two?.cpuMsPerStep).toEqual({ median: 2, least: 2, most: 2 });
});

test("the median of an even number of rounds lies between the middle two", () => {
  const [one] = figuresOf({ workload: "cpu", runs: 4, steps: 1 }, rounds.slice(0, 2));
  expect(one?.stepsPerSecond).toEqual({ median: 2.5, least: 1, most: 4 });
});

test("every problem of the options is named at once", () => {
  const refused = (...args: readonly string[]): string => {
    try {
      return JSON.stringify(readOptions(args));
    } catch (cause) {
      return (cause as Error).message.split("\n\n")[0] ?? "";
    }
  };
  expect(refused("--store", "mysql", "--runs", "0", "--steps", "1.5", "--rounds", "many").split("\n")).toEqual([
    '--store must be sqlite or postgres, not "mysql"',
    '--runs must be a whole number from 1 to 100000, not "0"',
    '--steps must be a whole number from 1 to 1000, not "1.5"',
    '--rounds must be a whole number from 1 to 1000, not "many"',
  ]);
  expect(refused("--workload", "lazy")).toBe('--workload must be cpu or waiting, not "lazy"');
  expect(refused("--note", "quiet")).toBe("--note goes into the results: it needs --write");
  expect(refused("--run", "3")).toMatch("Unknown option '--run'");
  expect(refused("4")).toMatch("Unexpected argument '4'");
});

test("a new measurement replaces its own section of the results and no other", () => {
  const first = withSection("# Results\n", { title: "workers, sqlite", lines: ["old"] });
  const both = withSection(first, { title: "workers, postgres", lines: ["other"] });
  expect(withSection(both, { title: "workers, sqlite", lines: ["new"] })).toBe(
    "# Results\n\n## workers, postgres\n\nother\n\n## workers, sqlite\n\nnew\n",
  );
});

async function bench(...args: readonly string[]): Promise<{ readonly code: number | null; readonly lines: string[] }> {
  const script = join(root, "bench/main.ts");
  const child = spawn(process.execPath, ["--conditions=holdfast-source", script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = new Promise<number | null>((done) => child.once("close", done));
  const said = await text(child.stdout);
  return { code: await closed, lines: said.trimEnd().split("\n") };
}

// Eleven processes: seconds on an idle machine, far longer on a busy one.
test("the bench measures 1, 2 and 4 worker processes and ends with its figures as JSON", {
  timeout: 180_000,
}, async () => {
  const { code, lines } = await bench("workers", "--workload", "cpu", "--runs", "2", "--steps", "2", "--rounds", "1");
  expect(code).toBe(0);
  const result = JSON.parse(lines.at(-1) ?? "");
  expect(result).toMatchObject({ bench: "workers", store: "sqlite", runs: 2, steps: 2, rounds: 1 });
  expect(result.figures.map((each: { workers: number }) => each.workers)).toEqual([1, 2, 4]);
  for (const { stepsPerSecond, ratio, cpuMsPerStep } of result.figures) {
    for (const { median } of [stepsPerSecond, ratio, cpuMsPerStep]) expect(median).toBeGreaterThan(0);
  }
  expect(result.figures[0].ratio.median).toBe(1);
  for (const line of tableOf(result.figures)) expect(lines).toContain(line);
});
