/** Twenty children of one run under 1.00 USD, as real delegations: what is promised never exceeds what there is. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import { emptyLedger, type Ledger, leftOf } from "../../src/domain/ledger.ts";
import { agent, delegate, memory } from "../../src/index.ts";
import type { Store } from "../../src/ports/store.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { type ScriptedAnswer, scripted, type TestRuntime, testRuntime } from "../../src/testing.ts";
import { deps } from "../stores/watched-store.ts";
import { look, resultOf, runsOf, tasks } from "./family.ts";

const prices = { inputPerMillion: 3, outputPerMillion: 15 };
const description = { prices, maxOutputTokens: 2_000 };
const dollar = 1_000_000;

interface Books {
  readonly run: string;
  readonly ledger: Ledger;
  readonly limit: number;
}

async function booksOf(store: Store, run: string): Promise<Books> {
  const key = { scope: "default" as Scope, run: run as RunId };
  const { ledger = emptyLedger, created } = foldAll(await store.readRun({ ...key, after: 0, limit: 1_000 }));
  return { run, ledger, limit: created.budget.microUsd ?? 0 };
}

function taken({ ledger }: Books): number {
  const { spent, held } = ledger;
  return [spent, ...Object.values(held)].reduce((total, { microUsd }) => total + microUsd, 0);
}

interface Wanted {
  readonly rounds: readonly number[];
  readonly slice?: number;
  readonly answers: readonly ScriptedAnswer[];
}

async function play({ rounds, slice, answers }: Wanted) {
  const child = agent({
    name: "helper",
    model: scripted(answers, { description }),
    instructions: "Look.",
    tools: [look],
  });
  const asked = rounds.map((n) => ({
    ...tasks(...Array.from({ length: n }, () => "helper")),
    inputTokens: 100,
    outputTokens: 10,
  }));
  const lead = agent({
    name: "lead",
    model: scripted([...asked, { text: "done", inputTokens: 100, outputTokens: 10 }], { description }),
    instructions: "Delegate.",
    delegates: [delegate(child, slice === undefined ? {} : { budget: { usd: slice / dollar } })],
    budget: { usd: 1 },
  });
  const definition = memory();
  const store = await definition.open(deps);
  const wrong: string[] = [];
  const most: number[] = [];
  const auditing: Intercept = async (call, proceed) => {
    const answer = await proceed();
    if (call.method !== "commit") return answer;
    const { run } = call.args[0] as { run: string };
    const books = await booksOf(store, run);
    if (taken(books) > books.limit) wrong.push(`${run} has promised ${taken(books)} of ${books.limit}`);
    if (!run.includes(".")) most.push(taken(books));
    return answer;
  };
  await using t = await testRuntime({ agents: [lead], store: definition, intercept: auditing });
  const run = await t.runtime.start(lead, "Go");
  const result = await run.result();
  await t.settle();
  expect(wrong).toEqual([]);
  const all = await Promise.all((await runsOf(t)).map((each) => booksOf(store, each.run)));
  return { result, most, all, refused: await refusals(t, run.id) };
}

const works = [
  { calls: [{ tool: "look" }], inputTokens: 4_000, outputTokens: 100 },
  { text: "ok", inputTokens: 4_500, outputTokens: 50 },
];

/** C3: nothing is held any more, and what the parent spent is its own and its children's, to the last millionth. */
function settled(all: readonly Books[], own: number): void {
  const [root, ...children] = all;
  expect(root?.ledger.held).toEqual({});
  const below = children.reduce((sum, { ledger }) => sum + ledger.spent.microUsd, 0);
  expect(root?.ledger.spent.microUsd).toBe(below + own);
}

const ownCost = (calls: number): number => calls * (100 * 3 + 10 * 15);

test("C3 20 parallel children under 1.00 USD: spent plus slices never exceed it at any commit, and all comes back", async () => {
  const { result, most, all, refused } = await play({ rounds: [20, 20], slice: 80_000, answers: works });
  expect(result.outcome).toBe("completed");
  expect(Math.max(...most)).toBeLessThanOrEqual(dollar);
  expect(Math.max(...most)).toBeGreaterThanOrEqual(12 * 80_000);
  expect(all.length).toBeGreaterThan(12);
  settled(all, ownCost(3));
  for (const { limit } of all.slice(1)) expect(limit).toBeLessThanOrEqual(80_000);
  expect(refused).toBeGreaterThan(0);
});

async function refusals(t: TestRuntime, run: string): Promise<number> {
  const results = await Promise.all(Array.from({ length: 20 }, (_, n) => resultOf(t, `${run}.1.${n}`)));
  return results.filter((result) => (result as { code?: string } | undefined)?.code === "not-run").length;
}

test("C4 without a budget of their own, the calls of a step share what is left", async () => {
  const { all } = await play({ rounds: [4], answers: works });
  const limits = all.slice(1).map(({ limit }) => limit);
  expect(limits).toHaveLength(4);
  expect(Math.max(...limits) - Math.min(...limits)).toBeLessThan(10);
  settled(all, ownCost(2));
});

test("a child whose provider reports more than was held is an overrun that its parent sees", async () => {
  const greedy = [{ text: "ok", inputTokens: 100_000, outputTokens: 60_000 }];
  const child = agent({ name: "helper", model: scripted(greedy, { description }), instructions: "" });
  const lead = agent({
    name: "lead",
    model: scripted([{ ...tasks("helper"), inputTokens: 100, outputTokens: 10 }, "done"], { description }),
    instructions: "",
    delegates: [delegate(child, { budget: { usd: 0.08 } })],
    budget: { usd: 1 },
  });
  const definition = memory();
  const store = await definition.open(deps);
  await using t = await testRuntime({ agents: [lead], store: definition });
  const run = await t.runtime.start(lead, "Go");
  expect(await run.result()).toMatchObject({ outcome: "stopped", code: "budget" });
  const books = await booksOf(store, run.id);
  expect(leftOf({ microUsd: dollar }, books.ledger).microUsd).toBeLessThan(0);
});

test("C3 C4 whatever is drawn: no books ever promise more than there is, and what is left comes back once", async () => {
  const wanted = fc.record({
    rounds: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
    slice: fc.option(fc.integer({ min: 1, max: 400_000 }), { nil: undefined }),
    cost: fc.integer({ min: 0, max: 5_000 }),
  });
  const property = fc.asyncProperty(wanted, async ({ rounds, slice, cost }) => {
    const answers = [{ text: "ok", inputTokens: cost, outputTokens: 10 }];
    const { all, most, result } = await play({ rounds, answers, ...(slice === undefined ? {} : { slice }) });
    expect(Math.max(...most)).toBeLessThanOrEqual(dollar);
    if (result.outcome === "completed") settled(all, ownCost(rounds.length + 1));
  });
  await fc.assert(property, { numRuns: 15, seed: 9 });
});
