/** What each option of `history` does: L9. */
import { expect, test } from "vitest";
import type { HistoryOptions } from "../../src/domain/history.ts";
import { agent, isHoldfastError } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { countingModel } from "./counting-model.ts";
import { projectedIn, type Reading, reader } from "./play.ts";

async function play(reading: Reading) {
  const { one, model } = reader(reading);
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Read all.", { thread: "t" });
  const result = await run.result();
  return { model, result, projected: await projectedIn(t.runtime, run.id) };
}

function most(numbers: readonly number[]): number {
  return Math.max(...numbers);
}

test("history.tokens bounds what is sent below the model's window", async () => {
  const { model } = await play({ pages: 40, history: { tokens: 1_000 } });
  expect(most(model.sent.map(({ tokens }) => tokens))).toBeLessThanOrEqual(1_000);
});

test("history.recent messages are sent whatever else is left out", async () => {
  const keeping = async (recent: number): Promise<number> => {
    const { projected } = await play({ pages: 60, history: { tokens: 2_000, recent } });
    return Math.min(...projected.map(({ decisions }) => decisions.filter(({ reason }) => reason === "recent").length));
  };
  expect(await keeping(4)).toBeLessThan(await keeping(12));
});

test("history.resultTokens: longer results are shortened once they are old, with a pointer, before anything is left out", async () => {
  const words = (page: number): number => (page === 1 ? 900 : 20);
  const { model, projected } = await play({ pages: 26, words, history: { resultTokens: 200, recent: 4 } });
  const [first] = projected;
  expect(first?.mark).toMatchObject({ before: 0, shortened: [expect.stringContaining("1.0.result")] });
  const result = model.last()?.messages.find(({ id }) => id === first?.mark.shortened[0]);
  expect(JSON.stringify(result)).toMatch(/Shortened: \d+ more characters; the whole is the result of call .*1\.0/);
  const { projected: none } = await play({ pages: 30, history: { resultTokens: 4_000, recent: 4 } });
  expect(none.flatMap(({ mark }) => mark.shortened)).toEqual([]);
});

const compacting = (compact: HistoryOptions["compact"]): Reading => ({
  pages: 60,
  history: { compact: compact ?? true, recent: 6 },
});

test("history.compact: old messages are summarised instead of left out", async () => {
  const { model, projected } = await play(compacting(true));
  expect(model.summaries.length).toBeGreaterThan(0);
  expect(projected.every(({ mark }) => mark.summary?.text === "So far so good.")).toBe(true);
  const { model: plain } = await play({ ...compacting(false), history: { compact: false } });
  expect(plain.summaries).toEqual([]);
});

test("history.compact.mode: recent-suffix keeps the recent messages, safe-frontier only the present step", async () => {
  const keptBy = async (mode: "recent-suffix" | "safe-frontier"): Promise<number> => {
    const { projected } = await play(compacting({ mode, at: 0.5 }));
    return projected[0]?.decisions.filter(({ reason }) => reason !== "summarised" && reason !== "input").length ?? 0;
  };
  const suffix = await keptBy("recent-suffix");
  expect(suffix).toBeGreaterThanOrEqual(6);
  expect(await keptBy("safe-frontier")).toBeLessThan(suffix);
});

test("history.compact.at says how full it is when a summary is asked for", async () => {
  const askedAt = async (at: number): Promise<number> => {
    const { model } = await play(compacting({ at }));
    return model.summaries[0]?.step ?? 0;
  };
  expect(await askedAt(0.4)).toBeLessThan(await askedAt(0.9));
});

test("history.compact.summaryTokens is the most that a summary may have", async () => {
  const { model } = await play(compacting({ summaryTokens: 99 }));
  expect(model.summaries.map(({ maxOutputTokens }) => maxOutputTokens)).toContain(99);
});

test("history.compact.saves: a summary that saves less is not taken", async () => {
  const summary = (): string => "long ".repeat(1_000);
  const { projected } = await play({ ...compacting({ saves: 0.6, summaryTokens: 64 }), summary });
  expect(projected.some(({ mark }) => mark.summary)).toBe(false);
  const { projected: taken } = await play({ ...compacting({ saves: 0, summaryTokens: 64 }), summary });
  expect(taken.some(({ mark }) => mark.summary)).toBe(true);
});

test("history.compact.instructions are what the summariser is told", async () => {
  const { model } = await play(compacting({ instructions: "Summarise like a poet." }));
  expect(model.summaries[0]?.instructions).toBe("Summarise like a poet.");
});

test("history.compact.model is who summarises", async () => {
  const other = countingModel({ window: 100_000, answer: () => [] });
  const { model, projected } = await play(compacting({ model: other }));
  expect([model.summaries.length, other.summaries.length > 0]).toEqual([0, true]);
  expect(projected.some(({ mark }) => mark.summary)).toBe(true);
});

test("history is refused with every problem by name", () => {
  const history = {
    tokens: 1,
    recent: 0,
    resultTokens: "many",
    words: 1,
    compact: { mode: "all", at: 2, saves: 1, summaryTokens: 1, instructions: "", model: "m", x: 1 },
  };
  const found = ((): unknown => {
    try {
      return agent({ name: "a", model: scripted([]), instructions: "", history: history as never });
    } catch (cause) {
      return isHoldfastError(cause) ? cause.problems.map((problem) => problem.split(": ")[0]) : cause;
    }
  })();
  const inner = ["x", "mode", "at", "summaryTokens", "saves", "instructions", "model"];
  expect(found).toEqual(
    expect.arrayContaining([
      ...["words", "tokens", "recent", "resultTokens"].map((name) => `history.${name}`),
      ...inner.map((name) => `history.compact.${name}`),
    ]),
  );
});
