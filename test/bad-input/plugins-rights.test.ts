/** Commands that are well-formed and still may not be: state that is not theirs or does not fit, too much of it, repeated effects. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { foldAll } from "../../src/domain/apply.ts";
import { plugin } from "../../src/domain/plugin.ts";
import { agent, stateKey, tool } from "../../src/index.ts";
import { aModelThat, callsTool } from "../../src/testing/story.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { expectFailure } from "../plugins/matrix/failure.ts";
import { momentsIn, resultsIn } from "../plugins/matrix/journal.ts";
import { type Hooked, hookedIn, mark, play, pluginOf, total } from "../plugins/matrix/world.ts";

const trap = (): never => {
  throw new Error("trapped");
};
const foreign = stateKey({ name: "foreign", schema: z.string(), initial: "" });
const brittle = stateKey({ name: "brittle", schema: z.number(), initial: 0, merge: trap });
const picky = stateKey({ name: "picky", schema: z.string().max(3), initial: "" });
const slow = stateKey({
  name: "slow",
  schema: z.string().refine((value) => (value === "later" ? Promise.resolve(true) : true)),
  initial: "",
});
const many = Array.from({ length: 17 }, (_, index) =>
  stateKey({ name: `many${index}`, schema: z.string(), initial: "" }),
);
const owner = plugin({ name: "owner", state: [foreign] })();
const keys = plugin({ name: "probe", state: [brittle, picky, slow, mark, total, ...many] });

function withKeys(hook: Hooked): ReturnType<typeof keys> {
  const { code, ...probe } = keys();
  return { ...probe, code: { ...code, create: () => ({ hooks: { "before-run": hook as never } }) } };
}

const wrong: Readonly<Record<string, readonly [() => unknown, RegExp]>> = {
  "a key that nobody has": [() => ({ type: "set-state", key: "nobody", value: 1 }), /no state key nobody/],
  "a key of every object": [() => ({ type: "set-state", key: "toString", value: 1 }), /no state key toString/],
  "a key of the runtime": [() => ({ type: "set-state", key: "holdfast.x", value: 1 }), /no state key holdfast\.x/],
  "the key of another plugin": [
    () => foreign.set("mine"),
    /it has no state key foreign: name it in the plugin's state/,
  ],
  "a value that its schema refuses": [() => picky.set("four"), /state key picky: /],
  "a value of another type": [() => ({ type: "set-state", key: "picky", value: 7 }), /state key picky: /],
  "a schema that answers with a promise": [() => slow.set("later"), /state key slow: .*synchronous|promise/i],
  "a merge that throws": [() => brittle.update(1 as never), /state key brittle: merging threw: trapped/],
  "an operand for an exclusive key": [
    () => ({ type: "set-state", key: "picky", operand: "a" }),
    /picky: it is exclusive/,
  ],
  "a value for a merged key": [() => ({ type: "set-state", key: total.name, value: 1 }), /it is merged: use update/],
  "an operand of another type": [() => ({ type: "set-state", key: total.name, operand: "1" }), /A number was expected/],
  "a sum without end": [
    () => [total.update(Number.MAX_VALUE), total.update(Number.MAX_VALUE)],
    /matrix\.total: .*too large/,
  ],
  "a value of more than 64 KiB": [() => mark.set("x".repeat(64 * 1024)), /matrix\.mark: .*65538 bytes/],
  "more than 1 MiB in all": [
    () => many.map((key) => key.set("x".repeat(64 * 1024 - 2))),
    /many16: the run's state would have \d+ bytes, the limit is 1048576/,
  ],
  "the same, ahead": [() => ({ type: "schedule", phase: "before-step", command: foreign.set("mine") }), /foreign/],
};

describe.each(Object.entries(wrong))("state: %s", (_what, [answer, says]) => {
  test.each(["at once", "later"])("%s", async (way) => {
    const hook: Hooked = () => (way === "at once" ? answer() : Promise.resolve(answer()));
    const played = await play("before-run", owner, withKeys(hook));
    expectFailure(played, { phase: "before-run", code: "command-refused", says: [] });
    expect(played.result).toMatchObject({ error: { message: expect.stringMatching(says) } });
  });
});

test("state that was scheduled and does not fit any more fails the phase it was scheduled for", async () => {
  const big = "x".repeat(60 * 1024);
  const hook: Hooked = ({ phase }) =>
    phase === "before-run"
      ? { type: "schedule", phase: "before-model", command: total.update(Number.MAX_VALUE) }
      : [total.update(Number.MAX_VALUE), mark.set(big)];
  const { result, journal } = await play("before-step", pluginOf({ "before-run": hook, "before-step": hook }));
  expect(result).toMatchObject({
    outcome: "failed",
    error: { code: "command-refused", message: expect.stringMatching(/probe.*before-model.*matrix\.total/) },
  });
  expect(momentsIn(journal).at(-1)).toMatchObject({ phase: "before-model", failed: { plugin: "probe" } });
});

test("of what was scheduled for one moment all is written or nothing", async () => {
  const ahead = (command: unknown): object => ({ type: "schedule", phase: "before-tool", command });
  const plans: Hooked = () => [
    total.update(Number.MAX_VALUE),
    ahead(mark.set("half")),
    ahead(total.update(Number.MAX_VALUE)),
  ];
  const { result, executed, journal } = await play("before-tool", pluginOf({ "before-run": plans }));
  expect(result.outcome).toBe("completed");
  expect(executed).toEqual([]);
  expect(resultsIn(journal)).toMatchObject([
    { code: "plugin-failed", message: expect.stringMatching(/probe in before-tool: .*matrix\.total/) },
  ]);
  expect(Object.keys(foldAll(journal).slots)).toEqual([total.name]);
});

test("a run holds 256 context messages and 64 scheduled commands, however they came", async () => {
  const words = (from: number, length: number): readonly object[] =>
    Array.from({ length }, (_, index) => ({ type: "add-context", key: `k${from + index}`, text: "word" }));
  const full: Hooked = ({ step }) => (step === 1 ? words(0, 200) : words(200, 57));
  const fit: Hooked = ({ step }) => (step === 1 ? words(0, 200) : words(200, 56));
  const lasting =
    (hook: Hooked): Hooked =>
    (view) =>
      (hook(view) as object[]).map((each) => ({ ...each, persistent: true }));
  const { result: refused } = await play("before-step", hookedIn("before-step", lasting(full)));
  expect(refused).toMatchObject({
    outcome: "failed",
    error: { code: "command-refused", message: expect.stringMatching(/probe.*before-step.*add-context/) },
  });
  const { result, requests } = await play("before-step", hookedIn("before-step", lasting(fit)));
  expect(result.outcome).toBe("completed");
  expect(requests[1]?.instructions.match(/word/g)).toHaveLength(256);

  const plans = (length: number): readonly object[] =>
    Array.from({ length }, () => ({ type: "schedule", phase: "on-cancel", command: mark.set("never") }));
  const { result: tooMany } = await play(
    "before-run",
    hookedIn("before-run", () => plans(65)),
  );
  expect(tooMany).toMatchObject({
    outcome: "failed",
    error: { code: "command-refused", message: expect.stringMatching(/probe.*before-run.*schedule/) },
  });
  expect(
    (
      await play(
        "before-run",
        hookedIn("before-run", () => plans(64)),
      )
    ).result.outcome,
  ).toBe("completed");
});

test("a once tool that took effect is not attempted again: its result is hidden, and what was said beside it is not done", async () => {
  let ran = 0;
  const pay = tool({
    name: "pay",
    description: "Pay",
    input: z.object({}),
    execute: () => {
      ran += 1;
      return "paid";
    },
  });
  const again = plugin({
    name: "again",
    create: () => ({
      hooks: {
        "after-tool": () => [
          { type: "open-ticket", name: "a", prompt: "b" },
          { type: "retry", reason: "x" },
        ],
      },
    }),
  })();
  const { model, saw } = aModelThat(callsTool("pay"), "Done.");
  const payer = agent({ name: "payer", instructions: "Pay.", model, tools: [pay], plugins: [again] });
  await using t = await testRuntime({ agents: [payer] });
  expect(await (await t.runtime.start(payer, "go")).result()).toMatchObject({ outcome: "completed" });
  expect(ran).toBe(1);
  const told = JSON.stringify(saw[1]);
  expect(told).toContain("Plugin again in after-tool: retry: ");
  expect(told).toContain("must not be repeated");
  expect(told).not.toContain("paid");
});

test("a pure tool is attempted again 16 times at most", async () => {
  const { executed, journal } = await play(
    "after-tool",
    hookedIn("after-tool", () => ({ type: "retry", reason: "x" })),
  );
  expect(executed).toHaveLength(16);
  expect(resultsIn(journal)).toMatchObject([{ code: "plugin-failed", message: expect.stringContaining("16 times") }]);
});

const verdicts: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  true: true,
  "a word": "Allow",
  "an empty record": {},
  "a list": ["allow"],
  "a denial without words": { deny: "" },
  "a denial of a number": { deny: 7 },
  "a question without words": { ask: "" },
  "another input that is a function": { modify: () => 1 },
  "another input that is nothing": { modify: undefined },
};

describe.each(Object.entries(verdicts))("a policy that answers %s lets nothing through", (_what, verdict) => {
  test.each(["at once", "later"])("%s", async (way) => {
    const judge = (): never => (way === "at once" ? verdict : Promise.resolve(verdict)) as never;
    const policy = plugin({ name: "probe", create: () => ({ policy: { "tool-call": judge } }) })();
    const { executed, journal, result } = await play("tool-gate", policy);
    expect(executed).toEqual([]);
    expect(resultsIn(journal)).toMatchObject([
      { code: expect.stringMatching(/^(plugin-failed|invalid-input|denied)$/) },
    ]);
    const gated = journal.find((entry) => entry.type === "call-gated");
    expect(gated).toMatchObject({ verdict: { kind: "refuse", by: "probe" } });
    expect(result.outcome).toBe("completed");
  });
});

const transforms: Readonly<Record<string, () => unknown>> = {
  throws: trap,
  rejects: async () => trap(),
  "answers nothing": () => undefined,
  "answers null": () => null,
  "forgets the messages": () => ({ instructions: "x", settings: {} }),
  "answers instructions that are no words": () => ({ instructions: 7, messages: [], settings: {} }),
  "answers settings that are null": () => ({ instructions: "x", messages: [], settings: null }),
  "answers settings that are a list": () => ({ instructions: "x", messages: [], settings: [] }),
};

test.each(Object.entries(transforms))("a transform that %s: nothing is sent", async (_what, transform) => {
  const probe = plugin({ name: "probe", create: () => ({ transform: transform as never }) })();
  const { result, requests } = await play("before-model", probe);
  expect(result).toMatchObject({
    outcome: "failed",
    error: { code: "plugin-failed", message: expect.stringContaining("probe") },
  });
  expect(requests).toEqual([]);
});

test("a close that throws is nobody's trouble", async () => {
  const probe = plugin({ name: "probe", create: () => ({ close: trap }) })();
  expect((await play("on-decision", probe)).result.outcome).toBe("completed");
});
