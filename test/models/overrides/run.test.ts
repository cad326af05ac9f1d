/** Overrides of a run: checked before anything is written, recorded, and what the model is really asked. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, delegate, type Overrides, tool } from "../../../src/index.ts";
import { openaiCompatible } from "../../../src/openai.ts";
import { fakeRemote, scripted, testRuntime } from "../../../src/testing.ts";
import { tasks } from "../../delegation/family.ts";
import { intended, world } from "./world.ts";

const clerk = (more: object = {}) => agent({ name: "clerk", instructions: "", model: "acme/large", ...more });
const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "ok" });

const guarded = tool({
  name: "guarded",
  description: "Asks",
  input: z.object({}),
  needsApproval: true,
  execute: () => 1,
});
const callsGuarded = { calls: [{ tool: "guarded" }] };

const whole: Overrides = {
  model: "beta/vendor/small",
  temperature: 0.25,
  maxOutputTokens: 77,
  topP: 0.5,
  reasoningEffort: "high",
  settings: { seed: 7 },
};

test("every field reaches the model, and nothing of them does where none is said", async () => {
  const { providers, asked } = world();
  await using t = await testRuntime({ agents: [clerk()], settings: { providers } });
  expect(await t.runtime.run(clerk(), "go", { overrides: whole })).toMatchObject({ output: "I am vendor/small." });
  await t.runtime.run(clerk(), "go");
  const { model: _model, ...said } = whole;
  expect(asked[0]).toMatchObject({ by: "vendor/small", ...said });
  expect(asked[1]).toMatchObject({ by: "large" });
  for (const name of Object.keys(said)) expect(asked[1]).not.toHaveProperty(name);
});

test("a name alone is a model of the agent's own provider, as its route calls it", async () => {
  const { providers, asked } = world();
  await using t = await testRuntime({ agents: [clerk()], settings: { providers } });
  const run = await t.runtime.start(clerk(), "go", { overrides: { model: "small" } });
  expect(await run.output()).toBe("I am small.");
  expect(asked.map(({ by }) => by)).toEqual(["small"]);
  expect((await run.status()).request.overrides).toEqual({ model: "acme/small" });
});

test("they are recorded with the run and with each call, with the whole route, and only where there are any", async () => {
  const { providers } = world();
  await using t = await testRuntime({ agents: [clerk()], settings: { providers } });
  const run = await t.runtime.start(clerk(), "go", { overrides: { ...whole, model: "small" } });
  await run.result();
  const recorded = { ...whole, model: "acme/small" };
  expect((await run.status()).request.overrides).toEqual(recorded);
  expect(await intended(run)).toEqual([recorded]);
  for await (const event of run.watch({ until: "end" })) {
    if (event.type === "run-created") expect(event.overrides).toEqual(recorded);
  }
  for await (const event of run.watch({ until: "end", content: false })) {
    if (event.type === "run-created") expect(event.overrides).toEqual({ ...recorded, settings: {} });
  }
  const plain = await t.runtime.start(clerk(), "go", { overrides: {} });
  await plain.result();
  expect((await plain.status()).request).not.toHaveProperty("overrides");
  expect(await intended(plain)).toEqual([undefined]);
});

test("they are part of what a start key stands for", async () => {
  const { providers } = world();
  await using t = await testRuntime({ agents: [clerk()], settings: { providers } });
  const start = (overrides?: Overrides) =>
    t.runtime.start(clerk(), "go", { key: "k", thread: "t", ...(overrides ? { overrides } : {}) });
  const first = await start({ temperature: 1, settings: { a: 1, b: 2 } });
  expect((await start({ settings: { b: 2, a: 1 }, temperature: 1 })).id).toBe(first.id);
  await expect(start({ temperature: 0 })).rejects.toMatchObject({ code: "start-key-conflict" });
  await expect(start()).rejects.toMatchObject({ code: "start-key-conflict" });
});

describe("refused before anything is written:", () => {
  const priced = { prices: { inputPerMillion: 1, outputPerMillion: 1 } };
  const output = z.object({ a: z.string() });
  const descriptions = { mute: { toolCalls: false }, large: { ...priced, structuredOutput: true } };
  const refusals: readonly (readonly [string, object, Overrides, string])[] = [
    ["an unknown field", {}, { heat: 1 } as never, "overrides.heat: unknown option; known are model"],
    ["no object", {}, 5 as never, "overrides.options must be an object"],
    ["a route that no provider has", {}, { model: "gamma/x" }, "overrides.model: missing provider adapter"],
    ["a model that its provider does not have", {}, { model: "unknown" }, "provider acme has no model unknown"],
    ["a model that cannot call tools", { tools: [look] }, { model: "mute" }, "acme/mute cannot call tools"],
    ["one that nobody can count", { budget: { usd: 1 } }, { model: "small" }, "acme/small has no prices"],
    ["one that cannot be bound", { output }, { model: "small" }, "acme/small has no structuredOutput"],
    [
      "one that cannot answer by a tool",
      { output, outputMode: "tool" },
      { model: "mute" },
      "and the agent is answered by one",
    ],
  ];
  test.each(refusals)("%s", async (...[, more, overrides, problem]) => {
    const { providers, asked } = world(descriptions);
    await using t = await testRuntime({ agents: [clerk(more)], settings: { providers } });
    await expect(t.runtime.start(clerk(more), "go", { overrides })).rejects.toMatchObject({
      code: "invalid-options",
      problems: [expect.stringContaining(problem)],
    });
    expect((await t.runtime.runs.list()).items).toEqual([]);
    expect(asked).toEqual([]);
  });

  test("all that is wrong with the fields, in one error", async () => {
    const { providers } = world();
    await using t = await testRuntime({ agents: [clerk()], settings: { providers } });
    const overrides = { temperature: -1, topP: 2, reasoningEffort: "much" as never, more: 1 };
    await expect(t.runtime.start(clerk(), "go", { overrides, priority: 9 })).rejects.toMatchObject({
      problems: expect.objectContaining({ length: 5 }),
    });
  });

  test("a setting that the model's adapter decides itself", async () => {
    const model = openaiCompatible({ baseURL: "http://127.0.0.1:9/v1", model: "m" });
    const direct = agent({ name: "direct", instructions: "", model });
    await using runtime = await createRuntime({ agents: [direct] });
    const started = runtime.start(direct, "go", { overrides: { settings: { stream: false } } });
    await expect(started).rejects.toMatchObject({
      problems: ["overrides.settings.stream: is decided by each request, not by settings"],
    });
  });

  test("any of an agent that is run elsewhere", async () => {
    const far = agent({ name: "far", backend: fakeRemote(["Hello."]) });
    await using t = await testRuntime({ agents: [far] });
    await expect(t.runtime.start(far, "go", { overrides: { temperature: 1 } })).rejects.toMatchObject({
      problems: ["overrides: agent far is run elsewhere, which asks its model itself"],
    });
    expect(await t.runtime.run(far, "go", { overrides: {} })).toMatchObject({ output: "Hello." });
  });

  test("a name alone where the runtime has no provider of that name", async () => {
    const direct = agent({ name: "direct", instructions: "", model: scripted(["Hi."]) });
    await using runtime = await createRuntime({ agents: [direct] });
    await expect(runtime.start(direct, "go", { overrides: { model: "small" } })).rejects.toMatchObject({
      problems: [
        expect.stringContaining("package route scripted/small: give createRuntime providers: { scripted: … }"),
      ],
    });
  });
});

test("a start that would join another run is refused rather than half heard", async () => {
  const ask = tool({ name: "ask", description: "Ask", input: z.object({}) });
  const asking = clerk({ tools: [ask] });
  const { providers } = world({}, () => [{ calls: [{ tool: "ask" }] }, "Done."]);
  await using t = await testRuntime({ agents: [asking], settings: { providers } });
  const run = await t.runtime.start(asking, "go", { thread: "t" });
  await run.idle();
  const start = (more: object) => t.runtime.start(asking, "yes", { thread: "t", ...more });
  const overrides = { temperature: 1 };
  const refused = { code: "thread-busy", message: expect.stringContaining("leave out overrides") };
  await expect(start({ overrides })).rejects.toMatchObject(refused);
  await expect(start({ overrides, whenBusy: "steer" })).rejects.toMatchObject(refused);
  await expect(start({ overrides, whenBusy: "reject" })).rejects.toMatchObject({
    message: expect.stringContaining("which is waiting"),
  });
  expect((await start({})).id).toBe(run.id);
  expect(await run.output()).toBe("Done.");
});

test("a fork is asked as its original was, and otherwise where it says so; another agent is asked as it asks itself", async () => {
  const { providers, asked } = world();
  const other = clerk({ name: "other" });
  await using t = await testRuntime({ agents: [clerk(), other], settings: { providers } });
  const run = await t.runtime.start(clerk(), "go", { overrides: { model: "small", temperature: 1 } });
  await run.result();
  await (await t.runtime.runs.fork(run.id, clerk(), { atStep: 1 })).result();
  await (await t.runtime.runs.fork(run.id, clerk(), { atStep: 1, overrides: { temperature: 0 } })).result();
  await (await t.runtime.runs.fork(run.id, other, { atStep: 1 })).result();
  expect(asked.map(({ by, temperature }) => [by, temperature])).toEqual([
    ["small", 1],
    ["small", 1],
    ["small", 0],
    ["large", undefined],
  ]);
  const bad = t.runtime.runs.fork(run.id, clerk(), { atStep: 1, overrides: { topP: 5 } });
  await expect(bad).rejects.toMatchObject({ problems: ["overrides.topP: must be a number from 0 to 1"] });
});

test("the run that reads what another has left unread is asked as that one was", async () => {
  const asking = clerk({ tools: [guarded], budget: { steps: 1 } });
  const { providers, asked } = world({}, () => [(request) => (request.messages.length > 1 ? "Done." : callsGuarded)]);
  await using t = await testRuntime({ agents: [asking], settings: { providers } });
  const run = await t.runtime.start(asking, "go", { overrides: { model: "small", temperature: 0.5 }, thread: "t" });
  await run.idle();
  await run.send("more");
  const [ticket] = await t.runtime.tickets.list({ kind: "approval", status: "open" });
  await ticket?.approve();
  await run.result();
  await t.settle();
  expect(asked.map(({ by, temperature }) => [by, temperature])).toEqual([
    ["small", 0.5],
    ["small", 0.5],
  ]);
});

test("LB-020 a delegate is asked as its own agent asks", async () => {
  const helper = agent({ name: "helper", instructions: "", model: "acme/large" });
  const lead = clerk({ delegates: [delegate(helper)] });
  const { providers, asked } = world({}, (name) =>
    name === "large" ? ["Helped."] : [tasks("helper"), `I am ${name}.`],
  );
  await using t = await testRuntime({ agents: [lead, helper], settings: { providers } });
  const run = await t.runtime.start(lead, "go", { overrides: { model: "small", temperature: 1 } });
  await t.advance("1m");
  expect(await run.output()).toBe("I am small.");
  expect(asked.map(({ agent: who, by, temperature }) => [who, by, temperature])).toEqual([
    ["clerk", "small", 1],
    ["helper", "large", undefined],
    ["clerk", "small", 1],
  ]);
});
