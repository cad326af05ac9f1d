/** U1: overrides of a step, by plugins, over those of the run; and which model's word counts for what it costs and reads. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, type Command, type Hooks, type Overrides, plugin, policy, tool } from "../../../src/index.ts";
import { testRuntime } from "../../../src/testing.ts";
import { intended, world } from "./world.ts";

const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "ok" });
const thenSays = (name: string) => [{ calls: [{ tool: "look" }] }, `I am ${name}.`, `Still ${name}.`];

type Said = Overrides & { readonly instructions?: string };
const patching = (name: string, hooks: Hooks) => plugin({ name, create: () => ({ hooks }) })();
const patch = (said: Said): Command => ({ type: "patch-request", ...said });
const inStep = (step: number, said: Said): Hooks => ({
  "before-model": (view) => (view.step === step ? patch(said) : undefined),
});

const clerk = (more: object = {}) =>
  agent({ name: "clerk", instructions: "", model: "acme/large", tools: [look], ...more });

test("a step's word counts before the run's, field by field, the later plugin's before the earlier one's, and only in that step", async () => {
  const { providers, asked } = world({}, thenSays);
  const one = patching("one", inStep(1, { temperature: 0.1, topP: 0.1, settings: { seed: 1, a: 1 } }));
  const two = patching("two", inStep(1, { topP: 0.2, model: "small", settings: { seed: 2 } }));
  const both = clerk({ plugins: [one, two] });
  await using t = await testRuntime({ agents: [both], settings: { providers } });
  const overrides = { temperature: 0.9, reasoningEffort: "low", settings: { a: 0, b: 0 } } as const;
  const run = await t.runtime.start(both, "go", { overrides });
  await run.result();
  const first = { model: "acme/small", temperature: 0.1, topP: 0.2, reasoningEffort: "low" };
  expect(await intended(run)).toEqual([{ ...first, settings: { seed: 2, a: 1, b: 0 } }, overrides]);
  expect(asked.map(({ by, temperature, topP, settings }) => ({ by, temperature, topP, settings }))).toEqual([
    { by: "small", temperature: 0.1, topP: 0.2, settings: { seed: 2, a: 1, b: 0 } },
    { by: "large", temperature: 0.9, topP: undefined, settings: { a: 0, b: 0 } },
  ]);
});

test("U2 what a policy says by the provider's own name is the last word too", async () => {
  const { providers, asked } = world({}, thenSays);
  const strict = policy({ name: "cool", "model-call": () => ({ modify: { temperature: 0 } }) });
  const governed = clerk({ policy: strict });
  await using t = await testRuntime({ agents: [governed], settings: { providers } });
  await t.runtime.run(governed, "go", { overrides: { temperature: 2 } });
  expect(asked[0]).toMatchObject({ settings: { temperature: 0 } });
  expect(asked[0]).not.toHaveProperty("temperature");
});

test("a policy sees what a run asks for, and may refuse it", async () => {
  const { providers, asked } = world();
  const house = policy({
    name: "house",
    "model-call": ({ overrides }) => (overrides.model === "acme/large" ? "allow" : { deny: "not this model" }),
  });
  const governed = clerk({ policy: house });
  await using t = await testRuntime({ agents: [governed], settings: { providers } });
  const result = await t.runtime.run(governed, "go", { overrides: { model: "small" } });
  expect(result).toMatchObject({ outcome: "blocked", reason: "policy.denied: not this model" });
  expect(asked).toEqual([]);
  expect(await t.runtime.run(governed, "go", { overrides: { model: "large" } })).toMatchObject({
    output: "I am large.",
  });
});

test("before-step and schedules patch the step to come", async () => {
  const { providers, asked } = world({}, thenSays);
  const ahead = patching("ahead", {
    "before-run": () => ({ type: "schedule", phase: "context-ready", command: patch({ model: "beta/tiny" }) }),
    "before-step": ({ step }) => (step === 2 ? patch({ model: "small" }) : undefined),
  });
  const early = clerk({ plugins: [ahead] });
  await using t = await testRuntime({ agents: [early], settings: { providers } });
  await t.runtime.run(early, "go");
  expect(asked.map(({ by }) => by)).toEqual(["tiny", "small"]);
});

const refused: readonly (readonly [string, object, string])[] = [
  ["an unknown field", { heat: 1 }, "heat: unknown field; known are instructions, model, temperature"],
  ["a wrong value", { topP: 7 }, "topP: must be a number from 0 to 1"],
  ["a route that no provider has", { model: "gamma/x" }, "patch-request: model: missing provider adapter"],
  ["one thing by two names", { topP: 1, settings: { top_p: 1 } }, "patch-request: settings.top_p: is said as topP"],
];
test.each(refused)(
  "a plugin that says %s fails by name, also ahead of time, and no model is called",
  async (_what, said, problem) => {
    const command = { type: "patch-request", ...said } as Command;
    const later = { type: "schedule", phase: "before-model", command } as const;
    for (const hooks of [{ "before-model": () => command }, { "before-run": () => later }]) {
      const { providers, asked } = world();
      const wrong = clerk({ plugins: [patching("wrong", hooks)] });
      await using t = await testRuntime({ agents: [wrong], settings: { providers } });
      const result = await t.runtime.run(wrong, "go");
      expect(result).toMatchObject({ outcome: "failed", error: { code: "command-refused" } });
      expect(JSON.stringify(result)).toContain(problem);
      expect(asked).toEqual([]);
    }
  },
);

const cheap = { prices: { inputPerMillion: 1, outputPerMillion: 1 } };
const dear = { prices: { inputPerMillion: 100, outputPerMillion: 100 }, maxOutputTokens: 50 };

test("what a call costs is by the prices of the model that was called, and the journal names it", async () => {
  const { providers } = world({ large: cheap, small: dear }, thenSays);
  const paid = clerk({ budget: { usd: 1 }, plugins: [patching("one", inStep(1, { model: "small" }))] });
  await using t = await testRuntime({ agents: [paid], settings: { providers } });
  const run = await t.runtime.start(paid, "go");
  expect((await run.result()).spent).toEqual({ tokens: 4, usd: 0.000202 });
  const settled = [];
  for await (const event of run.watch({ until: "end" })) {
    if (event.type === "effect-settled" && event.result.kind === "done" && event.result.finish)
      settled.push(event.result);
  }
  expect(settled[0]).toMatchObject({ answeredBy: { provider: "scripted", model: "small" }, cost: { microUsd: 200 } });
  expect(settled[1]).not.toHaveProperty("answeredBy");
});

test("the same of a run's model, whose word is also what plugins see", async () => {
  const seen: string[] = [];
  const spy = patching("spy", {
    "before-model": ({ run, overrides }) => {
      seen.push(`${run.model.model} ${overrides.model}`);
    },
  });
  const { providers } = world({ large: cheap, small: dear }, thenSays);
  const paid = clerk({ budget: { usd: 1 }, plugins: [spy] });
  await using t = await testRuntime({ agents: [paid], settings: { providers } });
  const result = await t.runtime.run(paid, "go", { overrides: { model: "small" } });
  expect(result.spent).toEqual({ tokens: 4, usd: 0.0004 });
  expect(seen).toEqual(["small acme/small", "small acme/small"]);
});

const caps: readonly (readonly [string, object, Overrides, number | undefined])[] = [
  ["neither says anything", {}, {}, undefined],
  ["only the run does", {}, { maxOutputTokens: 40 }, 40],
  ["the model gives less", {}, { maxOutputTokens: 40, model: "small" }, 30],
  ["the budget pays for more", { budget: { tokens: 9_000 } }, { maxOutputTokens: 40 }, 40],
  ["the budget pays for less", { budget: { tokens: 600 } }, { maxOutputTokens: 5_000 }, Number.NaN],
  [
    "the budget pays, and the model gives less",
    { budget: { tokens: 9_000 } },
    { maxOutputTokens: 40, model: "small" },
    30,
  ],
];
test.each(caps)("the longest answer where %s", async (...[, more, overrides, expected]) => {
  const { providers, asked } = world({ small: { maxOutputTokens: 30 } });
  const capped = clerk({ tools: [], ...more });
  await using t = await testRuntime({ agents: [capped], settings: { providers } });
  await t.runtime.run(capped, "go", { overrides });
  const { maxOutputTokens: sent = 0 } = asked[0] ?? {};
  if (Number.isNaN(expected)) expect(sent > 0 && sent < 600).toBe(true);
  else expect(asked[0]?.maxOutputTokens).toBe(expected);
});

test("an answer that was wanted no longer than this is not gone on with", async () => {
  const { providers, asked } = world({}, () => [{ attempts: [{ text: "Once", finish: "length" }, "Once more."] }]);
  await using t = await testRuntime({ agents: [clerk()], settings: { providers } });
  const short = await t.runtime.run(clerk(), "go", { overrides: { maxOutputTokens: 1 } });
  expect(short).toMatchObject({ outcome: "stopped", code: "length" });
  expect(asked).toHaveLength(1);
  expect(await t.runtime.run(clerk(), "go")).toMatchObject({ outcome: "completed", output: "Once more." });
});

test("what the model that is called cannot read is refused before the call", async () => {
  const { providers, asked } = world({ small: { accepts: ["text"] } });
  await using t = await testRuntime({ agents: [clerk()], settings: { providers } });
  const image = [{ type: "image", mediaType: "image/png", url: "https://pictures.example/cat.png" }] as const;
  const result = await t.runtime.run(clerk(), image, { overrides: { model: "small" } });
  expect(result).toMatchObject({ outcome: "failed", error: { code: "model-refused" } });
  expect(asked).toEqual([]);
  expect(await t.runtime.run(clerk(), image)).toMatchObject({ outcome: "completed" });
});

test("what fits is by the window of the model that is called, whoever has named it", async () => {
  const { providers, asked } = world({ small: { contextWindow: 900 } });
  const [plain, switching] = [
    clerk(),
    clerk({ name: "other", plugins: [patching("one", inStep(1, { model: "small" }))] }),
  ];
  await using t = await testRuntime({ agents: [plain, switching], settings: { providers } });
  const long = "word ".repeat(2_000);
  const tooLarge = {
    outcome: "failed",
    error: { code: "model-context-overflow", message: expect.stringContaining("scripted/small") },
  };
  expect(await t.runtime.run(plain, long, { overrides: { model: "small" } })).toMatchObject(tooLarge);
  expect(await t.runtime.run(switching, long)).toMatchObject(tooLarge);
  expect(asked).toEqual([]);
  expect(await t.runtime.run(plain, long)).toMatchObject({ outcome: "completed" });
});

test("what is held for a call is by the model that the step calls", async () => {
  const { providers, asked } = world({ large: { ...cheap, maxOutputTokens: 500 }, small: dear }, thenSays);
  const paid = clerk({ budget: { usd: 1 }, plugins: [patching("one", inStep(1, { model: "small" }))] });
  await using t = await testRuntime({ agents: [paid], settings: { providers } });
  await t.runtime.run(paid, "go");
  expect(asked.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([50, 500]);
});

test("between two steps hooks see what is asked of the one to come", async () => {
  const seen: Overrides[] = [];
  const spy = patching("spy", {
    "before-step": ({ overrides }) => {
      seen.push(overrides);
    },
    "before-model": ({ step }) => (step === 1 ? patch({ temperature: 0 }) : undefined),
  });
  const { providers } = world({}, thenSays);
  const watched = clerk({ plugins: [spy] });
  await using t = await testRuntime({ agents: [watched], settings: { providers } });
  await t.runtime.run(watched, "go", { overrides: { topP: 1 } });
  expect(seen).toEqual([{ topP: 1 }, { topP: 1 }]);
});

test("a step's model that says it was too much is asked again with less, by its own window", async () => {
  const { providers, asked } = world({ large: { contextWindow: 100_000 }, small: { contextWindow: 6_000 } }, (name) =>
    Array.from({ length: 20 }, (_, index) =>
      name === "small"
        ? { attempts: [{ error: "model-context-overflow" }, { calls: [{ tool: "look" }] }] as const }
        : index < 16
          ? { calls: [{ tool: "look" }] }
          : "Done.",
    ),
  );
  const much = tool({
    name: "look",
    description: "Look",
    input: z.object({}),
    effect: "pure",
    execute: () => "word ".repeat(500),
  });
  const switching = clerk({ tools: [much], plugins: [patching("one", inStep(15, { model: "small" }))] });
  await using t = await testRuntime({ agents: [switching], settings: { providers } });
  expect(await t.runtime.run(switching, "go")).toMatchObject({ outcome: "completed" });
  const sizes = asked.map(({ by, messages }) => [by, JSON.stringify(messages).length] as const);
  const [first, again] = sizes.filter(([by]) => by === "small").map(([, size]) => size);
  expect(again).toBeLessThan(first ?? 0);
  expect(again).toBeGreaterThan((first ?? 0) / 3);
});
