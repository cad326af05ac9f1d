/** A condition of one's own, and all conditions together (S4). */
import { expect, test } from "vitest";
import type { PhaseView } from "../../../src/index.ts";
import type { StopReason } from "../../../src/plugins.ts";
import { says } from "../../../src/testing/story.ts";
import { play, steps, stoppedBy } from "./stories.ts";

const reason = { code: "mine", detail: "seen enough" };

function when(phase: string, step: number): (view: PhaseView) => StopReason | undefined {
  return (view) => (view.phase === phase && view.step === step ? reason : undefined);
}

test("it is asked before and after every step, of the step at hand", async () => {
  const seen: string[] = [];
  const custom = ({ phase, step, usage }: PhaseView): undefined => {
    seen.push(`${phase} ${step} ${usage.inputTokens}`);
  };
  expect((await play({ custom }, steps(1))).result.outcome).toBe("completed");
  expect(seen).toEqual(["before-step 1 0", "after-step 1 1", "before-step 2 1", "after-step 2 2"]);
});

test.each([
  { phase: "before-step", step: 1, modelCalls: 0 },
  { phase: "after-step", step: 1, modelCalls: 1 },
  { phase: "before-step", step: 2, modelCalls: 1 },
  { phase: "after-step", step: 3, modelCalls: 3 },
])("its answer in $phase of step $step stops the run after $modelCalls model calls", async (row) => {
  const ask = when(row.phase, row.step);
  const now = await play({ custom: ask }, steps(3));
  expect(now.result).toMatchObject(stoppedBy("mine", "seen enough"));
  expect(now.modelCalls).toBe(row.modelCalls);
  const later = await play({ custom: async (view) => ask(view) }, steps(3));
  expect(later.result).toMatchObject(stoppedBy("mine", "seen enough"));
  expect(later.modelCalls).toBe(row.modelCalls);
});

test("a code alone is enough", async () => {
  const { result } = await play({ custom: () => ({ code: "mine" }) }, steps(1));
  expect(result).toMatchObject({ outcome: "stopped", code: "mine" });
});

const rows: readonly (readonly [string, unknown])[] = [
  ["true", true],
  ["null", null],
  ["a text", "stop"],
  ["no code", {}],
  ["an empty code", { code: "" }],
  ["a code that is no text", { code: 5 }],
  ["an empty detail", { code: "mine", detail: "" }],
  ["something else as well", { code: "mine", outcome: "completed" }],
];

test.each(rows)("it never fails open: %s fails the run by name", async (_name, said) => {
  const { result, modelCalls } = await play({ custom: () => said as never }, steps(1));
  expect(result).toMatchObject({ outcome: "failed", error: { code: "plugin-failed" } });
  expect(JSON.stringify(result)).toContain("custom: must answer { code, detail? } or undefined");
  expect(modelCalls).toBe(0);
});

test("one that throws or rejects fails the run", async () => {
  const thrown = () => {
    throw new Error("broken");
  };
  for (const custom of [thrown, async () => thrown()]) {
    const { result } = await play({ custom }, steps(1));
    expect(result).toMatchObject({ outcome: "failed", error: { code: "plugin-failed" } });
    expect(JSON.stringify(result)).toContain("stop-conditions failed in before-step: broken");
  }
});

const talking = [{ text: "WORD", calls: [{ tool: "look", input: { at: 1 } }] }, says("Done.")];
const allAtOnce = {
  onTool: ["look"],
  onText: "WORD",
  custom: (view: PhaseView) => (view.phase === "after-step" ? reason : undefined),
};

test("of several at one moment the first of the options counts, and a condition of one's own comes last", async () => {
  expect((await play(allAtOnce, talking)).result).toMatchObject({ code: "tool" });
  const { onTool: _one, ...two } = allAtOnce;
  expect((await play(two, talking)).result).toMatchObject({ code: "text" });
  const { onText: _other, ...three } = two;
  expect((await play(three, talking)).result).toMatchObject({ code: "mine" });
  const before = { steps: 1, tokens: 1, wallTimeMs: 1_000_000 };
  expect((await play(before, steps(2))).result).toMatchObject({ code: "steps" });
  expect((await play({ ...before, steps: 2 }, steps(2))).result).toMatchObject({ code: "tokens" });
});

test("all of them together hold each other up in nothing", async () => {
  const all = {
    steps: 50,
    wallTimeMs: 1_000_000,
    tokens: 10_000,
    consecutiveErrors: 3,
    onTool: ["ask"],
    onText: "WORD",
    loop: { calls: 3, window: 10 },
    custom: async () => undefined,
  };
  expect(await play(all, steps(5))).toMatchObject({ result: { outcome: "completed" }, modelCalls: 6 });
  expect((await play({ ...all, steps: 2 }, steps(5))).result).toMatchObject({ code: "steps" });
  expect((await play(all, steps(5, "fail"))).result).toMatchObject({ code: "errors" });
  expect((await play(all, talking)).result).toMatchObject({ code: "text" });
  const same = Array.from({ length: 5 }, () => ({ calls: [{ tool: "look", input: { at: 1 } }] }));
  expect((await play(all, same)).result).toMatchObject({ code: "loop" });
});
