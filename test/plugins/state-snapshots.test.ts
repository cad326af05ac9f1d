import { expect, test } from "vitest";
import { z } from "zod";
import { agent, memory, plugin, stateKey, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const count = stateKey({ name: "count", schema: z.number(), initial: 0, merge: "sum" });
const seen = stateKey({ name: "seen", schema: z.array(z.string()), initial: [], scope: "thread" });

const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "ok" });

const counting = plugin({
  name: "counting",
  state: [count, seen],
  create: (_config, run) => ({
    hooks: {
      "after-step": (view) => [count.update(1), seen.set([...view.state.get(seen), `${run.id}.${view.step}`])],
    },
  }),
});

const twice = (name: string) =>
  agent({
    name,
    model: scripted([{ calls: [{ tool: "look", input: {} }] }, "done"]),
    instructions: "Look.",
    tools: [look],
    plugins: [counting()],
  });

test("a run's state is read as of any cursor, and now", async () => {
  await using t = await testRuntime({ agents: [twice("one")] });
  const run = await t.runtime.start(twice("one"), "go");
  await run.result();
  const values: unknown[] = [];
  for await (const event of run.watch()) {
    if (!("cursor" in event) || event.type !== "state-changed") continue;
    const at = await run.state({ at: event.cursor });
    values.push([event.key, at.values[event.key], at.get(count)]);
  }
  expect(values).toEqual([
    ["count", 1, 1],
    ["seen", [`${run.id}.1`], 1],
    ["count", 2, 2],
    ["seen", [`${run.id}.1`, `${run.id}.2`], 2],
  ]);
  const now = await run.state();
  expect(now.get(count)).toBe(2);
  expect(now.values).toEqual({ count: 2, seen: [`${run.id}.1`, `${run.id}.2`] });
});

test("a thread's state goes from run to run, a run's does not", async () => {
  const one = twice("one");
  await using t = await testRuntime({ agents: [one], store: memory() });
  const ids: string[] = [];
  for (const text of ["first", "second"]) {
    const run = await t.runtime.start(one, text, { thread: "t-1" });
    await run.result();
    ids.push(run.id);
    expect((await run.state()).get(count)).toBe(2);
  }
  const state = await t.runtime.threads.state("t-1");
  expect(state.get(seen)).toEqual([`${ids[0]}.1`, `${ids[0]}.2`, `${ids[1]}.1`, `${ids[1]}.2`]);
});

test("a cursor of another run and one that is no cursor are refused", async () => {
  const one = twice("one");
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  await run.result();
  await expect(run.state({ at: "0.3.0000000000000000" })).rejects.toMatchObject({ code: "invalid-cursor" });
  await expect(run.state({ at: 3 as never })).rejects.toMatchObject({ code: "invalid-options" });
  await expect(t.runtime.threads.state("nobody")).rejects.toMatchObject({ code: "thread-not-found" });
});
