/** Keys that reach for a prototype are data: they are kept as they came and touch nothing. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, given, says } from "../../src/testing/story.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const evilText =
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"a":{"__proto__":{"polluted":3}},"toString":4,"hasOwnProperty":5}';
const evil = () => JSON.parse(evilText);

const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
const ownKeys = () => prototypes.map((each) => Reflect.ownKeys(each));
let before = ownKeys();

beforeEach(() => {
  before = ownKeys();
});

afterEach(() => {
  expect(ownKeys()).toEqual(before);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

onEveryStore((freshStore) => {
  test("in arguments, results, edits and answers, over a restart", async () => {
    const seen: string[] = [];
    const echo = tool({
      name: "echo",
      description: "Echoes",
      input: z.unknown(),
      needsApproval: true,
      execute: (input) => {
        seen.push(JSON.stringify(input));
        return input;
      },
    });
    const calls = Array.from({ length: 3 }, () => ({ tool: "echo", inputText: evilText }));
    await using story = await given(anAgentWith(echo), aModelThat({ calls }, says("Done.")), { store: freshStore() });
    const run = await story.userSays("go");
    await story.expectWaitingFor(run, "approval");
    await story.restart();
    const [one, two, three] = await story.t.runtime.tickets.list({ kind: "approval", run: run.id });
    expect(JSON.stringify(one?.input)).toBe(evilText);
    await one?.approve({ value: evil() });
    await two?.edit(evil());
    await three?.answer(evil());
    await story.expectReply(run, "Done.");
    const results = await story.results(run);
    expect(results.map((result) => JSON.stringify(result.kind === "value" && result.value))).toEqual([
      evilText,
      evilText,
      evilText,
    ]);
    expect(seen).toEqual([evilText, evilText]);
  });

  test("in context, data parts and what an operator marks done", async () => {
    let context: unknown;
    const look = tool({
      name: "look",
      description: "Looks",
      input: z.object({}),
      execute: (_input, ctx) => {
        context = ctx.context;
        throw new Error("boom");
      },
    });
    const looker = agent({
      name: "looker",
      model: scripted([{ calls: [{ tool: "look" }] }, "Done."]),
      instructions: (given) => JSON.stringify(given),
      context: z.unknown(),
      tools: [look],
    });
    await using t = await testRuntime({ agents: [looker], store: freshStore() });
    const run = await t.runtime.start(looker, [{ type: "data", name: "d", data: evil() }], { context: evil() });
    await run.idle();
    const [ticket] = await t.runtime.tickets.list({ kind: "unknown-outcome" });
    await ticket?.markDone(evil());
    expect(await run.result()).toMatchObject({ outcome: "completed" });
    expect(JSON.stringify(context)).toBe(evilText);
  });

  test("in ids, keys, names and options", async () => {
    for (const name of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"]) {
      const probe = tool({ name: "probe", description: "Probes", input: z.object({}), execute: () => 1 });
      const odd = { ...anAgentWith(probe), name };
      await using story = await given(odd, aModelThat({ calls: [{ tool: "probe" }] }, says("Done.")), {
        store: freshStore(),
      });
      const run = await story.userSays("go", { thread: name, key: name });
      await story.expectReply(run, "Done.");
      expect((await story.userSays("go", { thread: name, key: name })).id).toBe(run.id);
      await expect(story.userSays("other", { thread: name, key: name })).rejects.toMatchObject({
        code: "start-key-conflict",
      });
      const options = JSON.parse('{"__proto__": {"thread": "stolen"}}');
      await expect(story.userSays("go", options)).rejects.toMatchObject({ code: "invalid-options" });
      expect(await story.t.runtime.tickets.get(name)).toBeUndefined();
    }
  });
});
