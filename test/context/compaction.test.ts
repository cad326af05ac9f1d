/** C1–C5 of compact.ts, and what happens to a compaction when its run is cancelled, killed or out of money. */
import { expect, test } from "vitest";
import type { RunEvent } from "../../src/domain/event.ts";
import { HoldfastError } from "../../src/index.ts";
import type { TestRuntime } from "../../src/testing.ts";
import { testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";
import type { CountingModel } from "./counting-model.ts";
import { projectedIn, type Reading, reader } from "./play.ts";

const compacting = { history: { compact: { at: 0.5, summaryTokens: 100 }, recent: 6 } };

interface Slow {
  readonly summary: () => Promise<string>;
  readonly open: () => void;
}

/** A summariser that takes its time. */
function slowly(text: string): Slow {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, summary: () => passed.then(() => text) };
}

/** Nothing moves any more: the test's own `settle` would wait for the summariser too. */
async function standing({ sent, summaries }: CountingModel): Promise<void> {
  for (let before = -1, calm = 0; calm < 30; before = sent.length) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    calm = sent.length === before && summaries.length > 0 ? calm + 1 : 0;
  }
}

async function eventsOf(t: TestRuntime, run: string): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of t.runtime.runs.get(run).watch({ until: "idle" })) events.push(event as RunEvent);
  return events;
}

function attempts(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) => {
    const isOurs = "effect" in event && event.effect.includes(".compaction.");
    if (!isOurs) return [];
    const place = `${event.effect.split(".").at(-1)}/${event.attempt}`;
    return [event.type === "effect-settled" ? `${place} ${event.result.kind}` : place];
  });
}

test("C1 C3 one at a time, beside the steps: they go on while it is made, and wait only when nothing more fits", async () => {
  const { open, summary } = slowly("Slow.");
  const { one, model } = reader({ pages: 80, ...compacting, summary });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Read all.");
  await standing(model);
  expect(model.summaries).toHaveLength(1);
  const steps = model.sent.length;
  expect(steps).toBeGreaterThan((model.summaries[0]?.step ?? 0) + 3);
  expect(steps).toBeLessThan(80);
  open();
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  const settled = attempts(await eventsOf(t, run.id));
  for (const [index, each] of settled.entries()) {
    expect(each.endsWith("done") || each.endsWith("aborted")).toBe(index % 2 === 1); // never two at once
  }
});

test("C3 a run that finds its thread too long waits for the summary before its first call", async () => {
  const talk = { window: 1_500, history: { compact: { at: 0.5, summaryTokens: 64 }, recent: 2 } };
  const soon = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve("Soon."), 2));
  const { one, model } = reader({ pages: 1, ...talk, summary: soon }); // slower than the only call of its run
  await using t = await testRuntime({ agents: [one] });
  for (let turn = 0; turn < 40; turn += 1) {
    await t.runtime.run(one, `Turn ${turn} with some more words in it`, { thread: "t" });
  }
  expect(model.summaries.length).toBeGreaterThan(1);
  const firsts = model.sent.filter(({ first }) => first.endsWith(".summary"));
  expect(firsts.length).toBeGreaterThan(20);
});

test("C4 a summary names what it stands for and the one that it took in; the run's messages stay", async () => {
  const { one, model } = reader({ pages: 100, ...compacting });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Read all.", { thread: "t" });
  await run.result();
  const summaries = (await projectedIn(t.runtime, run.id)).map(({ mark }) => mark.summary);
  expect(summaries.length).toBeGreaterThan(2);
  for (const [index, summary] of summaries.entries()) {
    const before = summaries[index - 1];
    expect(summary?.previous).toBe(before?.id);
    expect(summary?.of.from).toBe(summaries[0]?.of.from);
    expect(summary?.of.messages).toBeGreaterThan(before?.of.messages ?? 0);
  }
  expect(JSON.stringify(model.summaries[1]?.messages)).toContain("So far so good.");
});

const failures: Readonly<Record<string, NonNullable<Reading["summary"]>>> = {
  "a summariser that fails": () => Promise.reject(new HoldfastError("model-overloaded", "busy")),
  "a summariser that says nothing": () => "",
  "a summary that is as long as what it stands for": () => "long ".repeat(2_000),
};

test.each(Object.entries(failures))("C5 %s costs the run nothing but room", async (_, summary) => {
  const { one, model } = reader({ pages: 60, ...compacting, summary });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Read all.");
  expect(await run.result()).toMatchObject({ outcome: "completed", steps: 60 });
  const projected = await projectedIn(t.runtime, run.id);
  expect(projected.length).toBeGreaterThan(0);
  expect(projected.every(({ mark }) => mark.summary === undefined)).toBe(true);
  const asked = model.summaries.map(({ step }) => step);
  expect(asked.length).toBeGreaterThan(1);
  for (const [index, step] of asked.entries()) expect(step - (asked[index - 1] ?? 0)).toBeGreaterThan(3); // 8 messages later
});

test.each([
  ["a summariser that listens", false],
  ["a deaf one, after a grace", true],
])("a cancel gives it up, and the run ends once: %s", async (_, deaf) => {
  const { summary } = slowly("Late.");
  const { one, model } = reader({ pages: 80, ...compacting, summary, deaf });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Read all.");
  await standing(model);
  await run.cancel({ reason: "enough" });
  if (deaf) await t.clock.advance(10_000);
  expect(await run.result()).toMatchObject({ outcome: "cancelled" });
  const events = await eventsOf(t, run.id);
  expect(attempts(events)).toEqual(["1/1", "1/1 aborted"]);
  expect(events.filter(({ type }) => type === "run-ended")).toHaveLength(1);
});

onEveryStore((freshStore) => {
  test("a crash in the middle of it: the attempt is lost, and the same compaction is tried again", async () => {
    const late = slowly("Never.");
    let asked = 0;
    const summary = (): string | Promise<string> => {
      asked += 1;
      return asked === 1 ? late.summary() : "Whole.";
    };
    const { one, model } = reader({ pages: 80, ...compacting, summary });
    await using t = await testRuntime({ agents: [one], store: freshStore() });
    const run = await t.runtime.start(one, "Read all.", { thread: "t" });
    await standing(model);
    await t.restart();
    expect(await t.runtime.runs.get(run.id).result()).toMatchObject({ outcome: "completed" });
    const events = await eventsOf(t, run.id);
    expect(attempts(events).slice(0, 4)).toEqual(["1/1", "1/1 lost", "1/2", "1/2 done"]);
    expect((await projectedIn(t.runtime, run.id))[0]?.mark.summary?.text).toBe("Whole.");
  });

  test("P4 the next run begins where the calls of the last one did, in another process too", async () => {
    const { one, model } = reader({ pages: 60, ...compacting });
    await using t = await testRuntime({ agents: [one], store: freshStore() });
    await t.runtime.run(one, "Read all.", { thread: "t" });
    await t.restart();
    const before = model.sent.at(-1)?.first;
    expect(before).toMatch(/\.summary$/);
    await t.runtime.run(one, "And again.", { thread: "t" });
    expect(model.sent.find(({ step, first }) => step === 1 && first.endsWith(".summary"))?.first).toBe(before);
  });
});

const prices = { inputPerMillion: 1, outputPerMillion: 1 };

test("what it costs is the run's: held, counted and paid", async () => {
  const { one } = reader({ pages: 60, ...compacting, prices, budget: { tokens: 1_000_000 } });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Read all.");
  await run.result();
  const { spent, inputTokens, outputTokens } = await run.status();
  expect(spent?.tokens).toBe(inputTokens + outputTokens);
  expect(outputTokens).toBeGreaterThan(60 * 10); // ten for each step, and ten for each summary
});

test("a provider that finds a call too long is believed: it is cut and made again", async () => {
  const { one, model } = reader({ pages: 60, window: 3_000 });
  const described = { ...model, description: { ...model.description, contextWindow: 60_000 } };
  const wrong = { ...one, model: described };
  await using t = await testRuntime({ agents: [wrong] });
  const run = await t.runtime.start(wrong, "Read all.");
  await t.advance("10m");
  expect(await run.result()).toMatchObject({ outcome: "completed", steps: 60 });
});

test("what cannot be made to fit is not sent: the run fails with the figures", async () => {
  const { one, model } = reader({ pages: 1, window: 600 });
  await using t = await testRuntime({ agents: [one] });
  const result = await t.runtime.run(one, "word ".repeat(1_000));
  expect(result).toMatchObject({ outcome: "failed", error: { code: "model-context-overflow" } });
  expect(JSON.stringify(result)).toMatch(/about \d+ tokens with instructions and tools \(about \d+\), and 536 fit/);
  expect(model.sent).toEqual([]);
});

test("a run that is done does not wait for a deaf summariser longer than a grace", async () => {
  const { open, summary } = slowly("Late.");
  const { one, model } = reader({ pages: 20, ...compacting, summary, deaf: true });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Read all.");
  await standing(model);
  const made = [model.summaries.length, model.sent.length];
  for (let second = 0; second < 10; second += 1) await t.clock.advance(1_000);
  const { status } = await run.status();
  open();
  expect(made).toEqual([1, 20]); // the last step is made, the summary is not
  expect(status).toBe("done");
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  expect(attempts(await eventsOf(t, run.id))).toEqual(["1/1", "1/1 aborted"]);
});

test("C5 a summary is not begun with the tokens that the step itself needs", async () => {
  const stepsWith = async (history: Reading["history"], tokens: number): Promise<number> => {
    const { one, model } = reader({ pages: 60, ...(history ? { history } : {}), prices, budget: { tokens } });
    await using t = await testRuntime({ agents: [one] });
    await t.runtime.run(one, "Read all.");
    return model.sent.length;
  };
  for (const tokens of [16_000, 16_500]) {
    // what is left where the first summary is due is enough for one of the two
    expect(await stepsWith(compacting.history, tokens)).toBeGreaterThanOrEqual(await stepsWith(undefined, tokens));
  }
});

test("a summary that is refused is counted and paid all the same", async () => {
  const summary = (): string => "Too long. ".repeat(1_500);
  const { one } = reader({ pages: 60, ...compacting, summary, prices, budget: { tokens: 1_000_000 } });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Read all.");
  await run.result();
  expect(attempts(await eventsOf(t, run.id))).toContain("1/1 failed");
  const { spent, inputTokens, outputTokens } = await run.status();
  expect(spent?.tokens).toBe(inputTokens + outputTokens);
});
