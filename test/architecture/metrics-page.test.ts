import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { createRuntime } from "../../src/create-runtime.ts";
import type { RuntimeMetrics } from "../../src/index.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/reference/metrics.md"), "utf8");

// Closed in the types: a name that is added or taken away there fails to compile here.
const metrics: Readonly<Record<keyof RuntimeMetrics, "counter" | "moment">> = {
  queueDepth: "moment",
  queueLagMs: "moment",
  runsInHand: "moment",
  leasesLost: "counter",
  fencedWrites: "counter",
  behindAnswers: "counter",
  commits: "counter",
  groupCommits: "counter",
  meanGroupSize: "moment",
  largestGroupSize: "moment",
  feedHidden: "moment",
  feedLagMs: "moment",
};

test("the metrics page has every metric with its kind, and no other", () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| .*\. \|$/gm)].map(([, name, kind]) => [name, kind]);
  expect(rows).toEqual(Object.entries(metrics));
  expect(page.split("\n").filter((line) => line.startsWith("| `"))).toHaveLength(rows.length);
});

test("the metrics page names what a runtime answers", async () => {
  await using runtime = await createRuntime();
  expect(Object.keys(await runtime.metrics()).sort()).toEqual(Object.keys(metrics).sort());
});
