/** Definitions, options and input that do not fit: refused by name before anything is written or opened. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, memory, type StoreDefinition, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const greeter = agent({
  name: "greeter",
  model: scripted(["Hi."]),
  instructions: "Greet.",
  context: z.object({ user: z.string() }),
});
const context = { user: "ada" };

test("createRuntime names every option that does not fit, and opens no store", async () => {
  let opened = 0;
  const store: StoreDefinition = {
    name: "watched",
    open: (deps) => {
      opened += 1;
      return memory().open(deps);
    },
  };
  const wrong = {
    agents: [greeter, greeter, {}, { name: "mute", model: {} }],
    scope: "",
    logger: {},
    clock: 7,
    ids: null,
    concurrency: 0,
    leaseMs: 1.5,
    pollMs: Number.NaN,
    closeGraceMs: -1,
    limits: { graceMs: 0, patience: 5 },
    retries: 3,
  };
  const refused = await createRuntime({ ...wrong, store } as never).catch((cause: unknown) => cause);
  expect(refused).toMatchObject({ code: "invalid-options" });
  const { problems } = refused as { problems: readonly string[] };
  const named = ["retries", "agents[1]", "agents[2]", "agents[3]", "scope", "logger", "clock", "ids", "concurrency"];
  for (const name of [...named, "leaseMs", "pollMs", "closeGraceMs", "limits.graceMs", "limits.patience"]) {
    expect(problems.filter((problem) => problem.startsWith(name))).toHaveLength(1);
  }
  expect(opened).toBe(0);
  for (const options of [null, "fast", [], { store: "runs.db" }, { agents: greeter }, { limits: null }]) {
    await expect(createRuntime(options as never)).rejects.toMatchObject({ code: "invalid-options" });
  }
  await expect(createRuntime({ store, agents: [greeter], scope: "a\nb" })).rejects.toMatchObject({
    code: "invalid-options",
  });
  expect(opened).toBe(0);
});

test("scopes and limits of a worker that do not fit are refused by name", async () => {
  const wrong: Record<string, readonly unknown[]> = {
    scopes: ["some", "", null, {}, [""], ["a\nb"], [7], ["a", null]],
    concurrencyPerScope: [0, -1, 1.5, Number.NaN, 100_001, "4", null],
    concurrencyPerAgent: [
      null,
      4,
      [],
      { greeter: 0 },
      { greeter: 2.5 },
      { greeter: "4" },
      { greeter: null },
      { stranger: 4 },
    ],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      await expect(createRuntime({ agents: [greeter], [name]: value } as never)).rejects.toMatchObject({
        code: "invalid-options",
        problems: [expect.stringMatching(new RegExp(`^${name}[.:]`))],
      });
    }
  }
});

onEveryStore((freshStore) => {
  const inputs: Record<string, unknown> = {
    undefined: undefined,
    null: null,
    "a number": 7,
    "an empty list": [],
    "a list of nothing": [null],
    "a part without a type": [{ text: "hi" }],
    "a part of an unknown type": [{ type: "poem", text: "roses" }],
    "text that is no text": [{ type: "text", text: 7 }],
    "an image without a url": [{ type: "image", mediaType: "image/png" }],
    "a message of an unknown role": [{ id: "m", role: "boss", parts: [] }],
    "a message without parts": [{ id: "m", role: "user" }],
    "a message with a part that is null": [{ id: "m", role: "user", parts: [null] }],
    "a message of an unknown visibility": [
      { id: "m", role: "user", parts: [{ type: "text", text: "hi" }], visibility: "some" },
    ],
    "a lone surrogate": "\ud800",
    "more than 1 MiB": "x".repeat(1024 * 1024),
    "a data part that is no JSON": [{ type: "data", name: "n", data: () => 1 }],
  };
  for (const [what, input] of Object.entries(inputs)) {
    test(`R-006 a run does not start with ${what}, and nothing is written`, async () => {
      await using t = await testRuntime({ agents: [greeter], store: freshStore() });
      await expect(t.runtime.start(greeter, input as never, { context, key: "k" })).rejects.toMatchObject({
        code: "invalid-input",
      });
      // The key is free: nothing was born with it.
      expect(await t.runtime.run(greeter, "hi", { context, key: "k" })).toMatchObject({ output: "Hi." });
    });
  }

  test("a context that does not fit is refused with its place; a schema that throws is refused too", async () => {
    const strict = z.object({ user: z.string() }).refine(() => {
      throw new Error("rule book lost");
    });
    const moody = agent({ name: "moody", model: scripted(["Hi."]), instructions: "?", context: strict });
    const plain = agent({ name: "plain", model: scripted(["Hi."]), instructions: "?" });
    await using t = await testRuntime({ agents: [greeter, moody, plain], store: freshStore() });
    for (const wrong of [undefined, null, {}, { user: 7 }, "ada"]) {
      await expect(t.runtime.start(greeter, "hi", { context: wrong as never })).rejects.toMatchObject({
        code: "invalid-input",
      });
    }
    await expect(t.runtime.start(greeter, "hi", { context: { user: "\ud800" } })).rejects.toMatchObject({
      code: "invalid-input",
      message: expect.stringContaining("$.user"),
    });
    await expect(t.runtime.start(moody, "hi", { context })).rejects.toMatchObject({
      code: "invalid-input",
      message: expect.stringContaining("rule book lost"),
    });
    await expect(t.runtime.start(plain, "hi", { context })).rejects.toMatchObject({
      code: "invalid-input",
      message: expect.stringContaining("takes no context"),
    });
  });

  test("unknown options of start, run and the waits are refused by name", async () => {
    await using t = await testRuntime({ agents: [greeter], store: freshStore() });
    const options = { context, prioritiy: 1 } as never;
    await expect(t.runtime.start(greeter, "hi", options)).rejects.toMatchObject({
      code: "invalid-options",
      problems: [expect.stringContaining("prioritiy")],
    });
    await expect(t.runtime.run(greeter, "hi", options)).rejects.toMatchObject({ code: "invalid-options" });
    await expect(
      t.runtime.start(greeter, "hi", { context, signal: new AbortController().signal } as never),
    ).rejects.toMatchObject({
      code: "invalid-options",
    });
    for (const none of [null, "x", []]) {
      await expect(t.runtime.start(greeter, "hi", none as never)).rejects.toMatchObject({ code: "invalid-options" });
    }
  });

  test("a priority or start time that does not fit is refused by name, and nothing is started", async () => {
    await using t = await testRuntime({ agents: [greeter], store: freshStore() });
    const wrong: Record<string, readonly unknown[]> = {
      priority: [3, -3, 0.5, Number.NaN, "high", "1", null, {}],
      startAt: [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 8.7e15, "tomorrow", new Date(), null],
    };
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        await expect(t.runtime.start(greeter, "hi", { context, [name]: value } as never)).rejects.toMatchObject({
          code: "invalid-options",
          problems: [expect.stringContaining(`${name}: must be a whole number from`)],
        });
      }
    }
    expect(await t.runtime.runs.count()).toBe(0);
  });

  test("what is no agent is refused, in a runtime with agents and in one without", async () => {
    await using t = await testRuntime({ agents: [greeter], store: freshStore() });
    await using bare = await createRuntime({ store: freshStore() });
    for (const runtime of [t.runtime, bare]) {
      for (const nobody of [undefined, null, 7, {}, { name: "greeter" }]) {
        await expect(runtime.start(nobody as never, "hi")).rejects.toMatchObject({ code: "invalid-agent" });
      }
    }
  });

  test("a tool that changes after the run was asked is judged by the manifest the run was born with", async () => {
    const store = freshStore();
    const first = tool({
      name: "ask",
      description: "Asks",
      input: z.object({ n: z.number() }),
      needsApproval: true,
      execute: () => 1,
    });
    const model = scripted([{ calls: [{ tool: "ask", input: { n: 1 } }] }, "Done."]);
    const asker = agent({ name: "asker", model, instructions: "?", tools: [first] });
    const t = await testRuntime({ agents: [asker], store });
    const run = await t.runtime.start(asker, "ask");
    await run.idle();
    await t.close();
    await using bare = await createRuntime({ store, clock: t.clock });
    const [ticket] = await bare.tickets.list({ run: run.id });
    if (ticket?.kind !== "approval") throw new Error("no approval");
    await expect(ticket.edit({ n: "x" })).rejects.toMatchObject({ code: "invalid-edit" });
    expect(await ticket.edit({ n: 2 })).toMatchObject({ mine: true });
  });
});
