import { expect, test } from "vitest";
import { z } from "zod";
import type { FinishReason } from "../../src/domain/entry.ts";
import { agent, tool } from "../../src/index.ts";
import { type ScriptedAnswer, scripted } from "../../src/providers/scripted.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

const nothing = z.object({});

function aTool(needsApproval?: () => boolean): ReturnType<typeof tool> {
  const gate = needsApproval ? { needsApproval } : {};
  return tool({ name: "act", description: "Act", input: nothing, ...gate, execute: () => "done" });
}

function anActor(act: ReturnType<typeof tool>, ...answers: readonly ScriptedAnswer[]): ReturnType<typeof agent> {
  return agent({ name: "actor", model: scripted(answers), instructions: "-", tools: [act] });
}

const calls = [{ tool: "act", input: {} }];

test.each([
  ["length", { outcome: "stopped", code: "length" }],
  ["content-filter", { outcome: "blocked", reason: "content-filter" }],
  ["error", { outcome: "failed" }],
] as const)("calls of a reply that ended by %s are not run", async (finish: FinishReason, result) => {
  const act = aTool();
  const actor = anActor(act, { text: "par", calls, finish }, "Sorry.");
  await using t = await testRuntime({ agents: [actor] });
  expect(await t.runtime.run(actor, "go")).toMatchObject(result);
  expect(t.effects(act)).toEqual([]);
});

test.each([undefined, null, 0, "", Number.NaN])("a gate that answers %o lets nothing through", async (answer) => {
  const act = aTool(() => answer as never);
  const actor = anActor(act, { calls }, "Done.");
  await using t = await testRuntime({ agents: [actor] });
  expect(await t.runtime.run(actor, "go")).toMatchObject({ outcome: "completed" });
  expect(t.effects(act)).toEqual([]);
});

test("an answer without a value is refused, and nobody signs as the engine", async () => {
  const act = aTool(() => true);
  const actor = anActor(act, { calls }, "Done.");
  await using t = await testRuntime({ agents: [actor] });
  const run = await t.runtime.start(actor, "go");
  await run.idle();
  const [ticket] = await t.runtime.tickets.list({ kind: "approval" });
  await expect(ticket?.answer(undefined)).rejects.toMatchObject({ code: "invalid-decision" });
  await expect(ticket?.approve({ by: "engine" })).rejects.toMatchObject({ code: "invalid-options" });
  expect(await ticket?.answer(null)).toMatchObject({ mine: true });
});

test("one act key on two tickets decides both", async () => {
  const act = aTool(() => true);
  const actor = anActor(act, { calls: [...calls, ...calls] }, "Done.");
  await using t = await testRuntime({ agents: [actor] });
  const run = await t.runtime.start(actor, "go");
  await run.idle();
  const [first, second] = await t.runtime.tickets.list({ kind: "approval" });
  expect(await first?.approve({ key: "click-7" })).toMatchObject({ decision: { kind: "approve" }, mine: true });
  expect(await second?.reject("no", { key: "click-7" })).toMatchObject({ decision: { kind: "reject" }, mine: true });
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  expect(t.effects(act)).toHaveLength(1);
});

test("instructions that throw fail the run once, in their own name", async () => {
  let asked = 0;
  const broken = agent({
    name: "broken",
    model: scripted(["never"]),
    instructions: () => {
      asked += 1;
      throw new Error("my bug");
    },
  });
  await using t = await testRuntime({ agents: [broken] });
  const result = await t.runtime.run(broken, "go");
  expect(result).toMatchObject({ outcome: "failed", error: { code: "instructions-failed" } });
  expect(asked).toBe(1);
});

test("a watch whose run is erased meanwhile says so, and a filter knows every event by name", async () => {
  const quick = agent({ name: "quick", model: scripted(["Done."]), instructions: "-" });
  await using t = await testRuntime({ agents: [quick] });
  const { run } = await t.runtime.run(quick, "go");
  const watch = t.runtime.runs.get(run).watch()[Symbol.asyncIterator]();
  await watch.next();
  await t.runtime.runs.erase(run);
  const rest: string[] = [];
  for (let item = await watch.next(); !item.done; item = await watch.next()) rest.push(item.value.type);
  expect(["run-ended", "resync"]).toContain(rest.at(-1));
  const strange = t.runtime.watch({ types: ["run-endedd" as "run-ended"] })[Symbol.asyncIterator]();
  await expect(strange.next()).rejects.toMatchObject({ code: "invalid-options" });
});
