/** Nothing that parses is without effect, and nothing wrong is read as "off". */
import { expect, test } from "vitest";
import type { EntryBody } from "../../../src/domain/entry.ts";
import { agent, isHoldfastError } from "../../../src/index.ts";
import { type StopConditionsOptions, stopConditions } from "../../../src/plugins.ts";
import { type ScriptedAnswer, scripted } from "../../../src/providers/scripted.ts";
import { callsTool, says } from "../../../src/testing/story.ts";
import { play, steps } from "./stories.ts";

function refusalOf(options: unknown): string {
  try {
    agent({
      name: "clerk",
      model: scripted([]),
      instructions: "Work.",
      plugins: [stopConditions(options as StopConditionsOptions)],
    });
  } catch (error) {
    if (isHoldfastError(error, "invalid-agent")) return `${error.message}\n${error.problems.join("\n")}`;
    throw error;
  }
  return "";
}

const wrong: readonly (readonly [field: string, options: unknown])[] = [
  ...["steps", "wallTimeMs", "tokens", "consecutiveErrors"].flatMap((name) =>
    [0, -1, 1.5, "3", null, Number.NaN, Number.POSITIVE_INFINITY].map((value) => [name, { [name]: value }] as const),
  ),
  ["onTool", { onTool: [] }],
  ["onTool", { onTool: "look" }],
  ["onTool", { onTool: ["look", "no tool"] }],
  ["onTool", { onTool: [""] }],
  ["onTool", { onTool: null }],
  ["onText", { onText: "" }],
  ["onText", { onText: 5 }],
  ["onText", { onText: null }],
  ["onText.regex", { onText: /DONE/ }],
  ["onText.regex", { onText: {} }],
  ["onText.regex", { onText: { regex: "" } }],
  ["onText.regex", { onText: { regex: "(" } }],
  ["onText.regex", { onText: { regex: "(a)\\1" } }],
  ["onText.regex", { onText: { regex: "(?=a)" } }],
  ["onText.flags", { onText: { regex: "a", flags: "i" } }],
  ["loop.calls", { loop: {} }],
  ["loop.calls", { loop: { calls: 1, window: 5 } }],
  ["loop.calls", { loop: { calls: "3", window: 5 } }],
  ["loop.window", { loop: { calls: 3 } }],
  ["loop.window", { loop: { calls: 3, window: 2 } }],
  ["loop.window", { loop: { calls: 3, window: 201 } }],
  ["loop.window", { loop: { calls: 2, window: 2.5 } }],
  ["loop.size", { loop: { calls: 3, window: 5, size: 5 } }],
  ["loop", { loop: 3 }],
  ["loop", { loop: null }],
  ["custom", { custom: { code: "mine" } }],
  ["custom", { custom: null }],
  ["maxSteps", { maxSteps: 3 }],
  ["options", 5],
];

test.each(wrong)("%s: %j is refused, and the agent, the plugin and the field are named", (field, options) => {
  const refusal = refusalOf(options);
  expect(refusal).toContain('"clerk"');
  expect(refusal).toContain("plugins[0]: the config of stop-conditions does not fit");
  expect(refusal).toMatch(new RegExp(`\\$: ${field.replace(".", "\\.")}[:. ]`));
});

test("every problem is named at once", () => {
  const refusal = refusalOf({ steps: 0, onTool: [], onText: { regex: "(" }, loop: { calls: 1 }, custom: 1, other: 1 });
  for (const field of ["steps", "onTool", "onText.regex", "loop.calls", "loop.window", "custom", "other"]) {
    expect(refusal).toContain(`$: ${field}: `);
  }
});

test("what is absent or undefined is off, and so is everything when nothing is said", async () => {
  const names = ["steps", "wallTimeMs", "tokens", "consecutiveErrors", "onTool", "onText", "loop", "custom"];
  const off = Object.fromEntries(names.map((name) => [name, undefined])) as StopConditionsOptions;
  for (const options of [{}, off]) {
    const { result, journal } = await play(options, steps(3, "fail"));
    expect(result.outcome).toBe("completed");
    expect(journal.filter(({ type }) => type === "state-changed" || type === "command-applied")).toEqual([]);
  }
});

test("a config that is changed after it was given changes nothing", async () => {
  const onTool = ["look"];
  const loop = { calls: 2, window: 2 };
  const options = { onTool, loop };
  const made = stopConditions(options);
  const { "~standard": schema } = made.code.config ?? { "~standard": undefined };
  const checked = await schema?.validate(options);
  onTool.push("ask");
  loop.calls = 3;
  expect(checked).toMatchObject({ value: { onTool: ["look"], loop: { calls: 2, window: 2 } } });
});

/** One script in which every condition can come true but that of time, which limits.test.ts has on its clock. */
const script: readonly ScriptedAnswer[] = [
  { text: "WORD", calls: [{ tool: "look", input: { at: 1 } }] },
  callsTool("fail", { at: 1 }),
  callsTool("fail", { at: 1 }),
  says("Done."),
];
const changed: readonly StopConditionsOptions[] = [
  { steps: 2 },
  { tokens: 4 },
  { consecutiveErrors: 2 },
  { onTool: ["look"] },
  { onText: "WORD" },
  { onText: { regex: "W.RD" } },
  { loop: { calls: 2, window: 2 } },
  { custom: ({ step }) => (step === 2 ? { code: "mine" } : undefined) },
];

test.each(changed)("%o makes another journal than its absence", async (options) => {
  const [off, on] = [await play({}, script), await play(options, script)];
  expect(off.result.outcome).toBe("completed");
  expect(on.result.outcome).toBe("stopped");
  expect(typesOf(on.journal)).not.toEqual(typesOf(off.journal));
});

function typesOf(journal: readonly EntryBody[]): readonly string[] {
  return journal.map(({ type }) => type);
}
