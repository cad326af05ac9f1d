/** Which code takes a delegate's run up: the delegate as its parent lends it, from a list or from a resolver. */
import { expect, test } from "vitest";
import { type Agent, agent, delegate, memory, policy } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { above, helper, look, pay, runsOf, tasks } from "./family.ts";

const asks = { calls: [{ tool: "pay", input: { to: "Ada" } }] };

test("a resolver that knows the parent knows what it lends", async () => {
  const lead = above(helper("ok"));
  const resolver = {
    names: () => ["lead", "helper"],
    resolve: ({ agent: name }: { agent: string }) => (name === "lead" ? (lead as Agent<unknown>) : undefined),
  };
  await using t = await testRuntime({ agents: [], settings: { resolver } });
  const run = await t.runtime.start("lead", "Go");
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "done" });
  expect(await runsOf(t)).toHaveLength(2);
});

test("G3 the same agent started by itself is not the one that is lent", async () => {
  const child = helper("ok", "ok");
  const lead = above(child);
  await using t = await testRuntime({ agents: [lead, child] });
  const alone = await t.runtime.start(child, "Go");
  await alone.result();
  await t.runtime.run(lead, "Go");
  const [first, , third] = await runsOf(t);
  const [own, lent] = await Promise.all([first, third].map((each) => t.runtime.runs.manifest(each?.run as string)));
  expect(own?.declared.under).toBeUndefined();
  expect(lent?.declared.under).toEqual(["lead/helper"]);
  await using only = await testRuntime({ agents: [lead] });
  await expect(only.runtime.start("helper", "Go")).rejects.toMatchObject({ code: "unknown-agent" });
});

test("a child that waits over a deploy goes on as it was lent, under the policy of then", async () => {
  const rules = policy({ name: "house", "tool-call": () => "allow" });
  const build = (instructions: string, answers: Parameters<typeof scripted>[0]) => {
    const child = agent({ name: "helper", model: scripted(answers), instructions, tools: [look, pay] });
    const model = scripted([tasks("helper"), "done"]);
    return agent({ name: "lead", model, instructions, policy: rules, delegates: [delegate(child)] });
  };
  const store = memory();
  const before = build("As it was.", [asks, "ok"]);
  const t = await testRuntime({ agents: [before], store });
  const run = await t.runtime.start(before, "Go");
  await run.idle();
  await t.close();
  const seen: string[] = [];
  const after = build("As it is now.", [
    asks,
    ({ instructions }) => {
      seen.push(instructions);
      return "ok";
    },
  ]);
  await using later = await testRuntime({ agents: [after], store });
  const [ticket] = await later.runtime.tickets.list({ root: run.id, kind: "approval", status: "open" });
  await ticket?.approve({ by: "ana" });
  expect(await later.runtime.runs.get(run.id).result()).toMatchObject({ outcome: "completed" });
  expect(seen).toEqual(["As it was."]);
});

test("a worker without the parent has the child wait, and says whose delegate is missing", async () => {
  const lead = above(helper(asks, "ok"));
  const store = memory();
  const t = await testRuntime({ agents: [lead], store });
  const run = await t.runtime.start(lead, "Go");
  await run.idle();
  await t.close();
  await using other = await testRuntime({ agents: [helper("ok")], store });
  const [ticket] = await other.runtime.tickets.list({ root: run.id, kind: "approval", status: "open" });
  await ticket?.approve({ by: "ana" });
  await other.settle();
  const [missing] = await other.runtime.tickets.list({ root: run.id, kind: "missing-capability", status: "open" });
  expect(missing?.prompt).toContain("as it was lent by lead/helper");
  await using back = await testRuntime({ agents: [lead], store });
  await missing?.release({ by: "ana" }).catch(() => undefined);
  const [again] = await back.runtime.tickets.list({ root: run.id, kind: "missing-capability", status: "open" });
  await again?.release({ by: "ana" });
  expect(await back.runtime.runs.get(run.id).result()).toMatchObject({ outcome: "completed" });
});
