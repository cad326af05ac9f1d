/** Calls at the gate: refused, asked about, edited, hidden, changed by others. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { plugin } from "../../../src/domain/plugin.ts";
import { tool } from "../../../src/index.ts";
import { type PermissionsOptions, permissions } from "../../../src/plugins.ts";
import { aModelThat, anAgentWith, callsTools, given, says } from "../../../src/testing/story.ts";
import { ada, approveWith, aStoryOf, bob, guarded, pay, questionsIn, wipe } from "./setting.ts";

const denyPay: PermissionsOptions = {
  default: "allow",
  rules: [{ tool: 'pay(to = "bob")', behavior: "deny", reason: "Bob is not a customer" }],
};

test("P1: a refused call is a result that the model reads, and the run goes on", async () => {
  await using story = await aStoryOf(denyPay, [
    ["pay", bob],
    ["pay", ada],
  ]);
  const run = await story.userSays("pay both");
  await story.expectReply(run, "Done.");
  const message = 'The rule pay(to = "bob") forbids this call: Bob is not a customer';
  expect(await story.results(run)).toEqual([
    { kind: "error", code: "denied", message },
    { kind: "value", value: "paid ada 5" },
  ]);
  const gated = (await story.journal(run)).flatMap((entry) => (entry.type === "call-gated" ? [entry.verdict] : []));
  expect(gated).toEqual([{ kind: "refuse", code: "denied", message, by: "permissions" }, { kind: "allow" }]);
  expect(story.effects(pay)).toHaveLength(1);
});

test("an asked call waits for a person, whose ticket names the rule and the plugin", async () => {
  const rules = [{ tool: "pay", behavior: "ask", reason: "money leaves" }] as const;
  await using story = await aStoryOf({ default: "allow", rules }, [["pay", ada]]);
  const run = await story.userSays("pay");
  const ticket = await story.expectWaitingFor(run, "approval");
  expect(ticket).toMatchObject({ prompt: "May pay run? The rule pay asks: money leaves", plugin: "permissions" });
  expect(ticket.input).toEqual(ada);
  await ticket.approve({ by: "ana" });
  await story.expectReply(run, "Done.");
  expect(await story.results(run)).toEqual([{ kind: "value", value: "paid ada 5" }]);
});

test("without any option every call is asked about", async () => {
  await using story = await aStoryOf(undefined, [["pay", ada]]);
  const run = await story.userSays("pay");
  await approveWith(story, run);
  await story.expectReply(run, "Done.");
  expect(await questionsIn(story, run)).toEqual(["May pay run? No rule is about this call, and the default is to ask"]);
});

describe("of a tool that a rule always forbids", () => {
  const rules = [{ tool: "wipe", behavior: "deny" }] as const;

  test("the model sees nothing, and calling it anyway is refused", async () => {
    await using story = await aStoryOf({ default: "allow", rules }, [
      ["wipe", { disk: "a" }],
      ["pay", ada],
    ]);
    const run = await story.userSays("wipe");
    await story.expectReply(run, "Done.");
    for (const { tools } of story.modelSaw) expect(tools.map(({ name }) => name)).toEqual(["pay"]);
    expect(story.modelSaw).toHaveLength(3);
    expect((await story.results(run))[0]).toMatchObject({ kind: "error", code: "unknown-tool" });
    expect(story.effects(wipe)).toHaveLength(0);
  });

  test("nothing is hidden when only some of its inputs, or a pattern, is forbidden", async () => {
    const some = [
      { tool: 'wipe(disk = "a")', behavior: "deny" },
      { tool: "w*", behavior: "deny" },
    ] as const;
    await using story = await aStoryOf({ default: "allow", rules: some }, [["wipe", { disk: "a" }]]);
    const run = await story.userSays("wipe");
    await story.expectReply(run, "Done.");
    expect(story.modelSaw[0]?.tools.map(({ name }) => name)).toEqual(["pay", "wipe"]);
    expect((await story.journal(run)).some(({ type }) => type === "command-applied")).toBe(false);
  });
});

test("an edit answers the question, and is judged again: what is forbidden stays so", async () => {
  const rules = [{ tool: 'pay(to = "bob")', behavior: "deny" }] as const;
  await using story = await aStoryOf({ rules }, [
    ["pay", ada],
    ["pay", ada],
  ]);
  const run = await story.userSays("pay");
  await story.edit(run, "pay", { to: "amy", cents: 1 });
  await story.edit(run, "pay", bob);
  await story.expectReply(run, "Done.");
  expect(await story.results(run)).toEqual([
    { kind: "value", value: "paid amy 1" },
    { kind: "error", code: "denied", message: 'The rule pay(to = "bob") forbids this call' },
  ]);
  expect(await questionsIn(story, run)).toHaveLength(2);
});

test("P4: a tool's own approval rule holds, whatever the rules allow or people want remembered", async () => {
  const careful = tool({
    name: "careful",
    description: "Wants to be asked about",
    input: z.object({}),
    effect: "idempotent",
    needsApproval: true,
    execute: () => "done",
  });
  const options: PermissionsOptions = { rules: [{ tool: "careful", behavior: "allow" }], remember: {} };
  const model = aModelThat(callsTools(["careful", {}]), callsTools(["careful", {}]), says("Done."));
  await using story = await given({ ...anAgentWith(careful), plugins: [permissions(options)] }, model);
  const run = await story.userSays("go");
  expect(await story.expectWaitingFor(run, "approval")).not.toHaveProperty("plugin");
  await approveWith(story, run, { remember: "run", what: "tool" });
  await approveWith(story, run);
  await story.expectReply(run, "Done.");
  expect(await questionsIn(story, run)).toHaveLength(2);
  expect((await story.journal(run)).some(({ type }) => type === "state-changed")).toBe(false);
});

test("what is asked of one call holds no other call of the step", async () => {
  const rules = [{ tool: 'pay(to = "bob")', behavior: "ask" }] as const;
  const model = aModelThat(callsTools(["pay", bob], ["pay", ada]), says("Done."));
  await using story = await given(guarded({ default: "allow", rules }), model);
  const run = await story.userSays("pay both");
  await story.expectWaitingFor(run, "approval");
  expect(story.effects(pay)).toMatchObject([{ input: ada }]);
  await approveWith(story, run);
  await story.expectReply(run, "Done.");
});

describe("an input that another plugin changes", () => {
  const toBob = plugin({
    name: "to-bob",
    create: () => ({ hooks: { "tool-gate": () => ({ type: "patch-input", input: bob }) } }),
  });

  test.each(["before", "after"])("is judged as it would run, with that plugin %s this one", async (place) => {
    const guard = permissions(denyPay);
    const plugins = place === "before" ? [toBob(), guard] : [guard, toBob()];
    await using story = await given(
      { ...anAgentWith(pay), plugins },
      aModelThat(callsTools(["pay", ada]), says("Done.")),
    );
    const run = await story.userSays("pay ada");
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toMatchObject([{ kind: "error", code: "denied" }]);
    const verdicts = (await story.journal(run)).filter(({ type }) => type === "call-gated");
    expect(verdicts).toMatchObject([{ verdict: { kind: "refuse", by: "permissions" } }]);
    expect(story.effects(pay)).toEqual([]);
  });

  test("is what the person is asked about, by the rule that is about it", async () => {
    const rules = [{ tool: 'pay(to = "bob")', behavior: "ask" }] as const;
    const plugins = [permissions({ default: "allow", rules }), toBob()];
    const model = aModelThat(callsTools(["pay", ada]), says("Done."));
    await using story = await given({ ...anAgentWith(pay), plugins }, model);
    const run = await story.userSays("pay ada");
    const ticket = await story.expectWaitingFor(run, "approval");
    expect(ticket).toMatchObject({ plugin: "permissions", input: bob });
    expect(ticket.prompt).toContain('The rule pay(to = "bob") asks');
    await ticket.approve();
    await story.expectReply(run, "Done.");
    expect(story.effects(pay)).toMatchObject([{ input: bob }]);
  });
});
