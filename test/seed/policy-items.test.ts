/** The checklist's items about the policy of a run's start. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, type Policy, type PolicyOptions, policy, type RunEvent, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const look = tool({ name: "look", description: "Looks", input: z.object({}), execute: () => "seen" });

type Start = NonNullable<PolicyOptions["run-start"]>;

function clerk(rules: Policy) {
  const context = z.object({ tier: z.string() });
  return agent({ name: "clerk", model: scripted(["Done."]), instructions: "", tools: [look], context, policy: rules });
}

async function play(start: Start) {
  const one = clerk(policy({ name: "house", "run-start": start }));
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "May I?", { context: { tier: "gold" } });
  const idle = await run.idle();
  const events: RunEvent[] = [];
  for await (const event of run.watch({ until: "idle" })) if ("seq" in event) events.push(event);
  const view = await run.status();
  return { run: run.id, idle, view, types: events.map(({ type }) => type), told: JSON.stringify(events) };
}

test("R-047 the policy of the start sees who asks for what, and what is to run", async () => {
  const seen: Parameters<Start>[0][] = [];
  const { run } = await play((view) => {
    seen.push(view);
    return "allow";
  });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    run: { id: run, agent: "clerk", scope: "default", context: { tier: "gold" }, model: { provider: "scripted" } },
    messages: [{ role: "user", parts: [{ type: "text", text: "May I?" }] }],
    tools: ["look"],
    step: 0,
  });
});

test("R-048, R-053 only allow lets a run begin its first step, and leaves no word in its journal", async () => {
  const allowed = await play(() => "allow");
  expect(allowed.types).toContain("step-started");
  expect(allowed.told).not.toContain("policy");
  for (const verdict of [undefined, null, true, "yes", "deny", {}, { allow: true }] as never[]) {
    const { types, idle } = await play(() => verdict);
    expect(types).not.toContain("step-started");
    expect(idle.status).toBe("done");
  }
});

test("R-049, R-050 a denial ends the run before its first step: with the reason's code, the policy that said so, and the run's own id and origin", async () => {
  for (const verdict of [
    { deny: "not on sundays", code: "house.sunday" },
    { deny: "not on sundays", code: "house.sunday", stop: true },
  ]) {
    const { run, idle, view, types, told } = await play(() => verdict);
    expect(idle).toMatchObject({ status: "done", result: { run, outcome: "blocked", steps: 0 } });
    expect(JSON.stringify(idle)).toContain("house.sunday: not on sundays");
    expect(view).toMatchObject({ run, origin: "user", status: "done" });
    expect(types).not.toContain("step-started");
    expect(told).toContain("policy-house");
  }
});

test("R-051, D-35 an ask at the start is no denial: the run waits on a ticket before its first step", async () => {
  const { idle, types, view } = await play(() => ({ ask: "May it run?" }));
  expect(idle).toMatchObject({ status: "waiting", tickets: [{ kind: "approval", prompt: "May it run?" }] });
  expect(types.filter((type) => type.startsWith("run-"))).toEqual(["run-created", "run-started", "run-waiting"]);
  expect(view.steps).toBe(0);
});

test("R-052 modify is no verdict on a start, and says so", async () => {
  const { idle, types } = await play(() => ({ modify: {} }));
  expect(idle).toMatchObject({ status: "done", result: { outcome: "failed" } });
  expect(JSON.stringify(idle)).toMatch(/modif/);
  expect(types).not.toContain("step-started");
});

test("R-054 a policy that throws stops the start with its own error", async () => {
  const { idle, types } = await play(() => {
    throw new Error("the rules are away");
  });
  expect(idle).toMatchObject({ status: "done", result: { outcome: "failed", error: { code: "plugin-failed" } } });
  expect(JSON.stringify(idle)).toContain("the rules are away");
  expect(types).not.toContain("step-started");
});
