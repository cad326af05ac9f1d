/** The stage of a policy that is about delegation, and what a child is at most. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { lendManifest } from "../../src/domain/lend-agent.ts";
import { declare } from "../../src/domain/manifest.ts";
import { type Agent, agent, delegate, type PolicyOptions, policy } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { above, helper, look, pay, resultOf, runsOf, tasks } from "./family.ts";

function lead(rules: Omit<PolicyOptions, "name">) {
  return agent({
    name: "lead",
    model: scripted([{ calls: [...tasks("helper").calls, { tool: "look" }] }, "done"]),
    instructions: "Delegate.",
    tools: [look],
    policy: policy({ name: "house", ...rules }),
    delegates: [delegate(helper("ok"))],
  });
}

test("delegation is asked of delegates' calls, tool-call of the others", async () => {
  const asked: string[] = [];
  const one = lead({
    "tool-call": ({ call }) => {
      asked.push(`tool ${call.tool}`);
      return "allow";
    },
    delegation: ({ call }) => {
      asked.push(`agent ${call.delegate}`);
      return { deny: "not today" };
    },
  });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Go");
  await run.result();
  expect(asked.sort()).toEqual(["agent helper", "tool look"]);
  expect(await resultOf(t, `${run.id}.1.0`)).toMatchObject({ code: "denied" });
  expect(await runsOf(t)).toHaveLength(1);
});

test("a delegation can be asked about: it is born once somebody has approved it", async () => {
  const one = lead({ delegation: () => ({ ask: "Give it away?" }) });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Go");
  const idle = await run.idle();
  expect(await runsOf(t)).toHaveLength(1);
  const [ticket] = idle.status === "waiting" ? idle.tickets : [];
  expect(ticket).toMatchObject({ kind: "approval", tool: "helper", policy: { name: "house", stage: "delegation" } });
  if (ticket?.kind === "approval") await ticket.approve({ by: "ana" });
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  expect(await runsOf(t)).toHaveLength(2);
});

test("a policy that fails at delegation lets nothing through", async () => {
  const one = lead({
    delegation: () => {
      throw new Error("broken");
    },
  });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Go");
  await run.result();
  expect(await runsOf(t)).toHaveLength(1);
  expect(await resultOf(t, `${run.id}.1.0`)).toMatchObject({ code: "plugin-failed" });
});

const limits = fc.record(
  {
    steps: fc.integer({ min: 1, max: 60 }),
    tokens: fc.integer({ min: 1, max: 9_999 }),
    depth: fc.nat(9),
    children: fc.nat(9),
  },
  { requiredKeys: [] },
);

const drawn = fc.record({
  own: limits,
  lent: limits,
  child: limits,
  readOnly: fc.boolean(),
  hasPolicy: fc.boolean(),
  levels: fc.integer({ min: 1, max: 3 }),
});

test("G1 G2 child ⊆ parent at every level: tools, policies and budgets, whatever is drawn", () => {
  const property = fc.property(drawn, ({ own, lent, child, readOnly, hasPolicy, levels }) => {
    const model = scripted(["x"]);
    let below = agent({ name: "leaf", model, instructions: "", tools: [look, pay], budget: child }) as Agent<unknown>;
    for (let level = 1; level < levels; level += 1) below = above(below, { name: `level-${level}` });
    const rules = policy({ name: "house", "tool-call": () => "allow" });
    const root = agent({
      name: "root",
      model,
      instructions: "",
      budget: own,
      ...(hasPolicy ? { policy: rules } : {}),
      delegates: [delegate(below as Agent<string>, { budget: lent, readOnly })],
    });
    let parent = declare(root);
    for (let level = 0; level < levels; level += 1) {
      const [granted] = parent.delegates ?? [];
      if (!granted) throw new Error("nothing is lent");
      const narrow = lendManifest(parent, granted);
      for (const name of ["steps", "tokens", "depth", "children"] as const) {
        const most = [parent.budget[name], granted.budget?.[name], granted.declared.budget[name]];
        const known = most.filter((limit) => limit !== undefined);
        expect(narrow.budget[name] ?? Number.POSITIVE_INFINITY).toBe(Math.min(Number.POSITIVE_INFINITY, ...known));
      }
      const tools = narrow.tools.map((spec) => spec.name);
      expect(tools.every((name) => granted.declared.tools.some((spec) => spec.name === name))).toBe(true);
      if (readOnly) expect(tools).not.toContain("pay");
      if (hasPolicy) expect(narrow.plugins?.[0]?.name).toBe("policy-house");
      expect(narrow.under).toHaveLength(level + 1);
      parent = narrow;
    }
  });
  fc.assert(property, { numRuns: 100, seed: 4 });
});
