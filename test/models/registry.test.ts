/** P1 to P3: models by route, found among the runtime's providers before anything is written. */
import { createOpenAI } from "@ai-sdk/openai";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ModelDescription } from "../../src/index.ts";
import { agent, createRuntime, createWorker, memory, type Providers, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "ok" });

function provider(description: Omit<ModelDescription, "provider" | "model"> = {}) {
  const asked: string[] = [];
  const providers: Providers = {
    acme: (name) => {
      asked.push(name);
      return name.startsWith("unknown") ? undefined : scripted([`I am ${name}.`], { name, description });
    },
  };
  return { asked, providers };
}

const named = (model = "acme/large", more: object = {}) => agent({ name: "clerk", instructions: "", model, ...more });

test("an agent that names its model by route runs with what the provider has", async () => {
  const { providers, asked } = provider();
  const [one, two] = [named(), named("acme/vendor/small", { name: "second" })];
  await using runtime = await createRuntime({ agents: [one, two], providers });
  expect(runtime.providers).toEqual(["acme"]);
  expect(await runtime.run(one, "go")).toMatchObject({ outcome: "completed", output: "I am large." });
  expect(await runtime.run(two, "go")).toMatchObject({ output: "I am vendor/small." });
  expect(await runtime.run("clerk", "go")).toMatchObject({ output: "I am large." });
  expect(new Set(asked)).toEqual(new Set(["large", "vendor/small"]));
});

test("P1 the manifest declares what the model says of itself, and the fingerprint is that of the model given at once", async () => {
  const description = { contextWindow: 9_000, prices: { inputPerMillion: 1, outputPerMillion: 2 } };
  const { providers } = provider(description);
  await using runtime = await createRuntime({ agents: [named()], providers });
  const manifest = runtime.manifest(named());
  expect(manifest.declared.model).toEqual({ provider: "scripted", model: "large", ...description });
  const direct = agent({ name: "clerk", instructions: "", model: scripted([], { name: "large", description }) });
  expect(runtime.manifest(direct).fingerprint).toBe(manifest.fingerprint);
});

test("P1 what depends on the model is checked with the model that was found", async () => {
  const { providers } = provider({ toolCalls: false });
  const problems = async (more: object) => {
    const created = createRuntime({ agents: [named("acme/large", more)], providers });
    return (await created.catch((error) => error as { problems: readonly string[] })) as {
      problems: readonly string[];
    };
  };
  expect((await problems({ tools: [look] })).problems.join()).toContain("cannot call tools");
  expect((await problems({ budget: { usd: 1 } })).problems.join()).toContain(
    'clerk: budget.usd: the model "scripted/large" has no prices',
  );
  const output = { output: z.object({ a: z.string() }), outputMode: "native" };
  expect((await problems(output)).problems.join()).toContain("clerk: outputMode: native needs a model");
});

test("P1 how a typed answer is asked for is decided by the model that was found", async () => {
  const { providers } = provider({ structuredOutput: true });
  const one = named("acme/large", { output: z.object({ a: z.string() }) });
  await using runtime = await createRuntime({ agents: [one], providers });
  expect(runtime.manifest(one).declared.output?.mode).toBe("native");
});

test("P2 R-036 a provider that is missing is named with its route and with what there is", async () => {
  const { providers } = provider();
  const missing =
    "missing provider adapter for package route openai/gpt-x: give createRuntime providers: { openai: … }";
  await expect(createRuntime({ agents: [named("openai/gpt-x")], providers })).rejects.toMatchObject({
    code: "invalid-options",
    problems: [expect.stringContaining(`agents[0]: agent clerk: ${missing}; there are acme`)],
  });
  await expect(createWorker({ agents: [named("openai/gpt-x")], store: memory() })).rejects.toMatchObject({
    problems: [expect.stringContaining(`${missing}; there are none`)],
  });
});

test("P2 R-036 a start with it is refused with the run's id, before anything is written", async () => {
  await using runtime = await createRuntime();
  const started = runtime.start(named("openai/gpt-x"), "go");
  await expect(started).rejects.toMatchObject({
    code: "model-unresolved",
    retry: "never",
    message: expect.stringMatching(/^Run \S+: agent clerk: missing provider adapter for package route openai\/gpt-x/),
    details: { route: "openai/gpt-x", agent: "clerk", run: expect.any(String) },
  });
  expect((await runtime.runs.list()).items).toEqual([]);
});

const refusals: Record<string, readonly [Providers[string], string]> = {
  "has no such model": [() => undefined, "provider acme has no model large"],
  throws: [
    () => {
      throw new Error("no licence");
    },
    "provider acme refuses acme/large: no licence",
  ],
  "answers something else": [() => ({}) as never, "what is no model"],
  "answers what only describes itself": [
    () => ({ description: { provider: "a", model: "b" } }) as never,
    "what is no model",
  ],
};
test.each(Object.entries(refusals))(
  "P2 a provider that %s refuses the route by name",
  async (_what, [acme, problem]) => {
    const created = createRuntime({ agents: [named()], providers: { acme } });
    await expect(created).rejects.toMatchObject({ problems: [expect.stringContaining(problem)] });
  },
);

test("P2 a name that every object has is no provider", async () => {
  const created = createRuntime({ agents: [named("constructor/x")], providers: {} });
  await expect(created).rejects.toThrow("package route constructor/x");
});

test("P3 one route is one model, whoever names it", async () => {
  const { providers, asked } = provider();
  const agents = ["a", "b", "c"].map((name) => named("acme/large", { name }));
  await using runtime = await createRuntime({ agents, providers });
  expect(asked).toEqual(["large"]);
  expect(runtime.providers).toEqual(["acme"]);
});

test.each(["gpt-x", "/gpt-x", "openai/", "", " openai/gpt-x"])("the route %j is refused by the agent", (model) => {
  expect(() => named(model)).toThrow('a route such as "openai/gpt-x"');
});

test("R-062 every wrong provider is named at once", async () => {
  const wrong = { "no name": () => undefined, ok: "text" };
  await expect(createRuntime({ providers: wrong as never })).rejects.toMatchObject({
    problems: [
      expect.stringContaining("providers.no name: the name must match"),
      "providers.ok: must be a function of a model's name",
    ],
  });
  await expect(createRuntime({ providers: [] as never })).rejects.toThrow("providers: must be an object");
});

test("a provider of the AI SDK is a provider as it is", async () => {
  const openai = createOpenAI({ apiKey: "sk-none" });
  await using runtime = await createRuntime({ agents: [named("openai/gpt-x")], providers: { openai } });
  expect(runtime.manifest(named("openai/gpt-x")).declared.model).toMatchObject({ model: "gpt-x" });
});

test("an agent that a resolver answers may name its model by route too", async () => {
  const { providers } = provider();
  const resolver = { names: () => ["clerk"], resolve: () => named() };
  await using runtime = await createRuntime({ resolver, providers });
  expect(await runtime.run("clerk", "go")).toMatchObject({ output: "I am large." });
});

test("in tests a script is a provider like any other", async () => {
  const { providers } = provider();
  const one = named();
  await using t = await testRuntime({ agents: [one], settings: { providers } });
  const run = await t.runtime.start(one, "go");
  expect(await run.output()).toBe("I am large.");
});
