/**
 * Twenty children of one run under 1.00 USD. Delegation comes with backends; here a tool stands for it: it takes a slice out of
 * its run's books, starts a child with that much, and puts back what the child has left.
 */
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { foldAll } from "../../src/domain/apply.ts";
import type { EntryBody } from "../../src/domain/entry.ts";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import { type Amount, emptyLedger, hold, type Ledger, leftOf, settle } from "../../src/domain/ledger.ts";
import { agent, memory, ToolFailure, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import type { Store } from "../../src/ports/store.ts";
import type { Run } from "../../src/runtime/runtime.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { type ScriptedAnswer, scripted, type TestRuntime, testRuntime } from "../../src/testing.ts";
import { deps } from "../stores/watched-store.ts";

const prices = { inputPerMillion: 3, outputPerMillion: 15 };
const dollar = { microUsd: 1_000_000 };
const slice = 80_000; // twelve fit into a dollar, twenty do not

const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "ok" });

interface Books {
  ledger: Ledger;
  t: TestRuntime;
  store: Store;
  readonly children: Run<string>[];
  /** How much was spent or promised, after each commit of any run. */
  readonly taken: number[];
  /** Model calls of children that were intended with something held for them, and those that were made. */
  intended: number;
  called: number;
  readonly wrong: string[];
}

let books: Books;

function sum({ spent, held }: Ledger): number {
  return [spent, ...Object.values(held)].reduce((total, { microUsd }) => total + microUsd, 0);
}

async function booksOf(run: RunId): Promise<{ readonly ledger: Ledger; readonly limit: number }> {
  const key = { scope: "default" as Scope, run };
  const { ledger = emptyLedger, created } = foldAll(await books.store.readRun({ ...key, after: 0, limit: 1_000 }));
  return { ledger, limit: created.budget.microUsd ?? 0 };
}

/** Looks into all books after each commit of any run. */
const auditing: Intercept = async (call, proceed) => {
  const answer = await proceed();
  if (call.method !== "commit" || (answer as { kind: string }).kind !== "committed") return answer;
  const { entries } = call.args[0] as { entries: readonly EntryBody[] };
  books.intended += entries.filter((entry) => entry.type === "effect-intended" && entry.held).length;
  books.taken.push(sum(books.ledger));
  for (const { id } of books.children) {
    const { ledger, limit } = await booksOf(id);
    const isOverrun = ledger.spent.microUsd > limit; // which is seen, and is not what anybody held
    if (!isOverrun && sum(ledger) > limit) books.wrong.push(`${id} holds ${sum(ledger)} of ${limit}`);
  }
  return answer;
};

/** B2: by subtraction, and settled with what it really cost. */
const delegate = tool({
  name: "delegate",
  description: "Give work to a child",
  input: z.object({ what: z.string() }),
  effect: "idempotent",
  timeoutMs: 3_600_000,
  execute: async ({ what }, { callId }) => {
    const amount: Amount = { tokens: 0, microUsd: slice };
    try {
      books.ledger = hold(books.ledger, callId, { amount, limits: dollar });
    } catch {
      throw new ToolFailure(`no money for a child: ${leftOf(dollar, books.ledger).microUsd} is left`);
    }
    const run = await books.t.runtime.start(child, what, { key: callId });
    books.children.push(run);
    const { spent } = await run.result();
    const microUsd = Math.round((spent?.usd ?? 0) * 1_000_000);
    books.ledger = settle(books.ledger, callId, { tokens: 0, microUsd });
    return { microUsd };
  },
});

const asks = { calls: [{ tool: "look" }], inputTokens: 4_000, outputTokens: 100 };
const says = { text: "done", inputTokens: 4_500, outputTokens: 50 };
/** The provider reports what nobody could have held. */
const reportsMore = { calls: [{ tool: "look" }], inputTokens: 100_000, outputTokens: 60_000 };

const counted =
  (answer: ScriptedAnswer) =>
  ({ messages }: ModelRequest): ScriptedAnswer => {
    books.called += 1;
    if (books.called > books.intended) books.wrong.push("a call was made that nothing was held for"); // B2
    return JSON.stringify(messages[0]).includes("greedy") ? reportsMore : answer;
  };

const child = agent({
  name: "child",
  model: scripted([counted(asks), counted(says)], { description: { prices, maxOutputTokens: 2_000 } }),
  instructions: "Look.",
  tools: [look],
  budget: { usd: slice / 1_000_000 },
});

function parent(...rounds: readonly (readonly string[])[]) {
  const steps = rounds.map((round) => ({ calls: round.map((what) => ({ tool: "delegate", input: { what } })) }));
  return agent({ name: "parent", model: scripted([...steps, "done"]), instructions: "Delegate.", tools: [delegate] });
}

beforeEach(() => {
  const none = undefined as never;
  books = { ledger: emptyLedger, t: none, store: none, children: [], taken: [], intended: 0, called: 0, wrong: [] };
});

async function play(one: ReturnType<typeof parent>): Promise<void> {
  const definition = memory();
  books.store = await definition.open(deps);
  await using t = await testRuntime({ agents: [one, child], store: definition, intercept: auditing });
  books.t = t;
  const run = await t.runtime.start(one, "Go");
  expect((await run.result()).outcome).toBe("completed");
  expect(books.wrong).toEqual([]);
}

const twenty = Array.from({ length: 20 }, (_, n) => `piece ${n}`);

test("20 parallel children of one run under 1.00 USD: spent plus slices never exceed it at any commit", async () => {
  await play(parent(twenty, twenty));
  expect(Math.max(...books.taken)).toBeLessThanOrEqual(dollar.microUsd);
  expect(Math.max(...books.taken)).toBeGreaterThanOrEqual(12 * slice); // as many at once as there was money for
  expect(books.taken.length).toBeGreaterThan(40);
  expect(books.ledger.held).toEqual({});
  const spent = await Promise.all(books.children.map(async ({ id }) => (await booksOf(id)).ledger.spent.microUsd));
  expect(books.ledger.spent.microUsd).toBe(spent.reduce((total, each) => total + each, 0)); // nothing is lost or made up
  expect(books.called).toBe(books.children.length * 2);
});

test("a provider that reports more gives a visible overrun, and no further call is made", async () => {
  await play(parent(["greedy"], twenty));
  expect(books.children).toHaveLength(1);
  const { ledger } = await booksOf(books.children[0]?.id as RunId);
  expect(ledger.spent.microUsd).toBe(1_200_000);
  expect(leftOf(dollar, books.ledger).microUsd).toBe(-200_000);
  expect(books.called).toBe(1);
});
