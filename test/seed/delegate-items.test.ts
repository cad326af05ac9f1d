/** The seeds' items about delegates, each by its id: real runs in the same store (D-08), which is why some read otherwise. */
import { expect, test } from "vitest";
import { remoteStatelessText } from "../../src/domain/backend/capabilities.ts";
import { agent, delegate, plugin } from "../../src/index.ts";
import { fakeRemote } from "../../src/testing/fake-remote.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { above, helper, resultOf, runsOf } from "../delegation/family.ts";

test.each([
  [
    "as a durable one, which it cannot be",
    false,
    "agent 'clerk' backend does not support: delegate_persistence, continuation",
  ],
  ["as the seed has it, ephemeral and without a continuation", true, undefined],
] as const)(
  "B-021 B-061 a backend that has the least is a delegate %s: nothing happens before that is known",
  async (...[, ephemeral, refused]) => {
    const backend = fakeRemote(["words"], { capabilities: remoteStatelessText });
    const clerk = agent({ name: "clerk", backend });
    const lead = above(clerk as never, { options: { ephemeral } as never });
    await using t = await testRuntime({ agents: [lead] });
    const run = await t.runtime.start(lead, "Go");
    expect(await run.result()).toMatchObject({ outcome: "completed" });
    expect(backend.turns).toHaveLength(refused ? 0 : 1);
    const result = await resultOf(t, `${run.id}.1.0`);
    expect(result).toEqual(
      refused ? { kind: "error", code: "not-run", message: refused } : { kind: "value", value: "words" },
    );
  },
);

test("LB-014 a delegate whose plugin cannot be set up is set aside with the cause's text", async () => {
  const broken = plugin({
    name: "broken",
    create: (_config, { agent: of }) => {
      if (of === "child") throw new Error("no config server");
      return {};
    },
  })();
  const child = agent({ name: "child", model: scripted(["ok"]), instructions: "", plugins: [broken] });
  const lead = agent({
    name: "lead",
    model: scripted([{ calls: [{ tool: "child", input: { task: "x" } }] }, "done"]),
    instructions: "",
    plugins: [broken],
    delegates: [delegate(child)],
  });
  await using t = await testRuntime({ agents: [lead] });
  await t.runtime.start(lead, "Go");
  await t.settle();
  const [ticket] = await t.runtime.tickets.list({ kind: "quarantined", status: "open" });
  expect(ticket?.prompt).toContain("no config server");
  expect(ticket?.agent).toBe("child");
});

function counting() {
  const runs: string[] = [];
  const counts = plugin({
    name: "counts",
    create: (_config, { agent: of }) => {
      runs.push(of);
      return {};
    },
  })();
  return { runs, counts };
}

test("LB-015 LB-029 D-18 a delegate's plugin is bound exactly once for its run", async () => {
  const { runs, counts } = counting();
  const child = agent({ name: "child", model: scripted(["delegated response"]), instructions: "", plugins: [counts] });
  const lead = agent({
    name: "lead",
    model: scripted([{ calls: [{ tool: "child", input: { task: "x" } }] }, "done"]),
    instructions: "",
    plugins: [counts],
    delegates: [delegate(child)],
  });
  await using t = await testRuntime({ agents: [lead] });
  expect(await t.runtime.run(lead, "Go")).toMatchObject({ outcome: "completed" });
  expect(runs.filter((name) => name === "child")).toHaveLength(1);
});

test("LB-013 LB-018 LB-021 LB-022 a delegate is a stored run: it has its own inbox, its own events and its own result", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = {
    ...scripted([]),
    async *call(...[request, signal]: Parameters<ReturnType<typeof scripted>["call"]>) {
      if (request.step === 1) await promise;
      yield* scripted(["first", "second"]).call(request, signal);
    },
  };
  const child = agent({ name: "child", model: slow, instructions: "" });
  const lead = above(child as never);
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  const find = async () => (await runsOf(t)).find(({ agent: name }) => name === "child")?.run;
  for (let tries = 0; tries < 1_000 && !(await find()); tries += 1) await new Promise((next) => setImmediate(next));
  const below = t.runtime.runs.get((await find()) as string);
  await below.send("more");
  resolve();
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  expect(await below.result()).toMatchObject({ outcome: "completed", output: "second", steps: 2 });
  const types: string[] = [];
  for await (const event of below.watch({ until: "end" })) types.push(event.type);
  expect(types.filter((type) => type === "input-received" || type === "run-ended")).toEqual([
    "input-received",
    "run-ended",
  ]);
  expect(await resultOf(t, `${run.id}.1.0`)).toEqual({ kind: "value", value: "second" });
});

test("LB-019 LB-020 a delegate has the task as its messages, its parent's cancel, and no overrides of its parent's", async () => {
  const seen: unknown[] = [];
  const child = helper((request) => {
    seen.push(
      request.messages.map(({ parts }) => parts),
      request.settings,
    );
    return "ok";
  });
  const lead = above(child);
  await using t = await testRuntime({ agents: [lead] });
  await t.runtime.run(lead, "Go", { overrides: { temperature: 0.1 } } as never);
  expect(JSON.stringify(seen[0])).toContain("for helper");
  expect(seen[1]).toBeUndefined();
});
