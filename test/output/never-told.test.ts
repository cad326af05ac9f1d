/**
 * O1: report, then output, then everybody who is told. A value that has not passed is in the model's own message and in no
 * other place, at no instant: not in events, in sinks, in `result()`, in `output()`, nor in a message said to be the answer.
 */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { apply, birth } from "../../src/domain/apply.ts";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope } from "../../src/domain/ids.ts";
import { agent, memory, plugin, type SinkMessage, type WatchEvent } from "../../src/index.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";

const output = z.object({ word: z.string().regex(/^good/) });
const words = ["bad-canary", "good-canary"] as const;

type Mode = "native" | "tool" | "text";
const said = { native: { structuredOutput: true }, tool: { toolCalls: true }, text: {} } as const;

function answering(mode: Mode, word: string): ScriptedAnswer {
  const pace = { pieces: 4, pauseMs: 1 };
  if (mode === "tool") return { ...pace, calls: [{ tool: "holdfast_answer", input: { word } }] };
  return { ...pace, text: JSON.stringify({ word }) };
}

/** Every place where anything of the run can be read, after each commit. */
async function played(mode: Mode, tries: readonly string[], repairs = 2) {
  const answers = tries.map((word) => answering(mode, word));
  const model = scripted(answers, { description: said[mode], sleep: () => Promise.resolve() });
  const one = agent({ name: "clerk", model, instructions: "Help.", output, repairs, sinks: ["crm"] });
  const sunk: SinkMessage[] = [];
  const seen: WatchEvent[] = [];
  const early: string[] = [];
  let result: unknown;
  const store = memory();
  await using t = await testRuntime({
    agents: [one],
    store,
    settings: { sinks: { crm: { deliver: (message) => void sunk.push(message) } } },
    intercept: async (call, proceed) => {
      const answer = await proceed();
      if (call.method !== "commit") return answer;
      const { entries } = call.args[0] as { entries: readonly Entry[] };
      const isOver = entries.some(({ type }) => type === "run-ended");
      if (!isOver && (sunk.length > 0 || result !== undefined)) early.push(JSON.stringify([sunk, result]));
      return answer;
    },
  });
  const run = await t.runtime.start(one, "go");
  const waiting = run.result().then((value) => {
    result = value;
  });
  for await (const event of run.watch()) seen.push(event);
  await waiting;
  await t.advance("2m");
  const reader = await store.open({ clock: t.clock, logger: silentLogger });
  const entries = await reader.readRun({ scope: defaultScope, run: run.id, after: 0, limit: 500 });
  const given = await run.output().catch((cause: unknown) => String(cause));
  return { sunk, seen, early, result, entries, given };
}

/** Where a word is read, by what is read there. */
function places(items: readonly WatchEvent[], word: string): readonly string[] {
  const told = items.filter((item) => JSON.stringify(item).includes(word));
  return [
    ...new Set(told.map((item) => (item.type === "message-appended" ? `${item.message?.role} message` : item.type))),
  ];
}

describe.each(["native", "tool", "text"] as const)("O1 in %s mode", (mode) => {
  const delta = mode === "tool" ? "tool-input-delta" : "text-delta";

  test("what did not pass is in the model's message only, and what passed is told after its report", async () => {
    const { sunk, seen, early, result, entries, given } = await played(mode, words);
    expect(early).toEqual([]);
    expect(places(seen, "bad-canary")).toEqual(["assistant message"]);
    expect(places(seen, "good-canary")).toEqual(["assistant message", "output-validated"]);
    expect(JSON.stringify(sunk)).not.toContain("bad-canary");
    expect(sunk[0]).toMatchObject({ type: "output", output: { word: "good-canary" } });
    expect(result).toMatchObject({ outcome: "completed", output: { word: "good-canary" } });
    expect(given).toEqual({ word: "good-canary" });
    const ended = entries.at(-1);
    const answer = ended?.type === "run-ended" ? entries[(ended.answer ?? 0) - 1] : undefined;
    expect(JSON.stringify(answer)).toContain("good-canary");
  });

  test("pieces of a candidate are pieces of a message", async () => {
    const { seen } = await played(mode, words);
    const pieces = seen.filter((item) => !("seq" in item));
    expect(new Set(pieces.map(({ type }) => type))).toEqual(new Set([delta]));
    for (const piece of pieces) expect(piece).toHaveProperty("message");
  });

  test("after every entry the output is what the last report of the step says", async () => {
    const { entries } = await played(mode, words);
    const [first, ...rest] = entries as readonly [Extract<Entry, { type: "run-created" }>, ...Entry[]];
    let state = birth(first);
    let passed: unknown;
    for (const entry of rest) {
      state = apply(state, entry);
      if (entry.type === "output-validated" && entry.report.valid) passed = entry.report.value;
      expect(state.output?.value, `after ${entry.type}`).toEqual(passed);
    }
    expect(passed).toEqual({ word: "good-canary" });
  });

  test("an answer that never passes is told to nobody", async () => {
    const { sunk, seen, result, entries, given } = await played(mode, ["bad-canary", "bad-canary"], 1);
    expect(result).toMatchObject({ outcome: "failed", error: { code: "output-invalid" } });
    expect(JSON.stringify([sunk, result])).not.toContain("bad-canary");
    expect(sunk.map(({ type }) => type)).toEqual(["run-ended"]);
    expect(places(seen, "bad-canary")).toEqual(["assistant message"]);
    expect(entries.at(-1)).not.toHaveProperty("answer");
    expect(given).toContain("ended as failed");
    expect(given).not.toContain("bad-canary");
  });
});

test("O1 an output that passed before a further step is not the output of that step", async () => {
  const goOn = plugin({
    name: "go-on",
    create: () => ({
      hooks: {
        "before-end": ({ step }) => (step === 1 ? { type: "continue", message: "Better." } : undefined),
        "after-model": ({ step }) => (step === 2 ? { type: "stop", code: "enough", outcome: "completed" } : undefined),
      },
    }),
  });
  const model = scripted([JSON.stringify({ word: "good-canary" }), JSON.stringify({ word: "bad-canary" })]);
  const one = agent({ name: "clerk", model, instructions: "Help.", output, plugins: [goOn()] });
  await using t = await testRuntime({ agents: [one] });
  const result = await t.runtime.run(one, "go");
  expect(result).toMatchObject({ outcome: "failed", error: { code: "output-invalid" } });
  expect(result).not.toHaveProperty("output");
});
