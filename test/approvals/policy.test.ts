/** V1–V3: what a policy says at each stage holds, and only a plain "allow" lets anything through. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, type Policy, policy, type RunEvent, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";

const read = tool({
  name: "read",
  description: "Read",
  input: z.object({ path: z.string() }),
  effect: "pure",
  execute: ({ path }) => `canary of ${path}`,
});

function clerk(
  rules: Policy,
  answers: readonly ScriptedAnswer[] = [{ calls: [{ tool: "read", input: { path: "a" } }] }, "done"],
) {
  return agent({ name: "clerk", model: scripted(answers), instructions: "Read.", tools: [read], policy: rules });
}

async function play(one: ReturnType<typeof clerk>) {
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  const result = await run.result();
  const events: RunEvent[] = [];
  for await (const event of run.watch()) if ("seq" in event) events.push(event);
  return { result, events, told: JSON.stringify(events), reads: t.effects(read).length };
}

test("run-start: a denial ends the run before its first step, with its code and reason", async () => {
  const { result, events } = await play(
    clerk(policy({ name: "house", "run-start": () => ({ deny: "not on sundays", code: "sunday" }) })),
  );
  expect(result).toMatchObject({ outcome: "blocked", reason: "sunday: not on sundays", steps: 0 });
  expect(events.some(({ type }) => type === "step-started")).toBe(false);
});

test.each([
  ["approve", "completed"],
  ["reject", "blocked"],
] as const)("run-start: ask waits before the first step; %s makes it %s", async (verb, outcome) => {
  const one = clerk(
    policy({ name: "house", "run-start": () => ({ ask: "May it run?", terms: { audience: { roles: ["boss"] } } }) }),
  );
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  const idle = await run.idle();
  if (idle.status !== "waiting") throw new Error("it should wait");
  expect((await run.status()).steps).toBe(0);
  const [ticket] = idle.tickets;
  if (ticket?.kind !== "approval") throw new Error("no approval");
  expect(ticket.prompt).toBe("May it run?");
  await expect(ticket.approve({ by: "ana" })).rejects.toMatchObject({ code: "answer-not-allowed" });
  const boss = { by: "dee", roles: ["boss"] };
  if (verb === "approve") await ticket.approve(boss);
  else await ticket.reject("no", boss);
  expect(await run.result()).toMatchObject({ outcome });
});

test("run-start: nobody answers, and the default counts", async () => {
  const one = clerk(
    policy({ name: "house", "run-start": () => ({ ask: "May it?", terms: { answerWithinMs: 1_000 } }) }),
  );
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  await run.idle();
  await t.advance("2s");
  expect(await run.result()).toMatchObject({ outcome: "blocked", steps: 0 });
});

test("model-call: settings are changed, and a denial ends the run without a call", async () => {
  const requests: ModelRequest[] = [];
  const saw = (request: ModelRequest): ScriptedAnswer => {
    requests.push(request);
    return "done";
  };
  const cool = policy({ name: "house", "model-call": () => ({ modify: { temperature: 0 } }) });
  await play(clerk(cool, [saw]));
  expect(requests[0]?.settings).toEqual({ temperature: 0 });
  const { result } = await play(clerk(policy({ name: "house", "model-call": () => ({ deny: "over" }) }), [saw]));
  expect(result).toMatchObject({ outcome: "blocked" });
  expect(requests).toHaveLength(1);
});

test("tool-call: a denial answers the model, and with stop ends the run", async () => {
  const said = await play(
    clerk(policy({ name: "house", "tool-call": () => ({ deny: "no reading", code: "read.no" }) })),
  );
  expect(said.result).toMatchObject({ outcome: "completed" });
  expect(said.told).toContain("read.no: no reading");
  expect(said.reads).toBe(0);
  const stopped = await play(clerk(policy({ name: "house", "tool-call": () => ({ deny: "no", stop: true }) })));
  expect(stopped.result).toMatchObject({ outcome: "blocked" });
});

test("V3 P4 tool-result: a denied result is read by neither the model nor a watcher", async () => {
  const requests: ModelRequest[] = [];
  const saw = (request: ModelRequest): ScriptedAnswer => {
    requests.push(request);
    return "done";
  };
  const calls = { calls: [{ tool: "read", input: { path: "a" } }] };
  const open = await play(clerk(policy({ name: "house", "tool-result": () => "allow" }), [calls, saw]));
  expect(open.told).toContain("canary"); // the check below can see one
  const withheld = await play(
    clerk(policy({ name: "house", "tool-result": () => ({ deny: "secret" }) }), [calls, saw]),
  );
  expect(withheld.reads).toBe(1);
  expect(withheld.told).not.toContain("canary");
  expect(withheld.told).toContain("The result is withheld: policy.denied: secret");
  expect(JSON.stringify(requests.at(-1))).not.toContain("canary");
});

const broken: readonly (readonly [string, () => never])[] = [
  [
    "throws",
    () => {
      throw new Error("boom");
    },
  ],
  ["answers nonsense", () => "yes" as never],
  ["answers nothing", () => undefined as never],
  ["asks with terms that nobody can meet", () => ({ ask: "?", terms: { audience: {} } }) as never],
];

test.each(broken)("V1 P1 a policy that %s lets nothing through, at any stage", async (_what, stage) => {
  const call = await play(clerk(policy({ name: "house", "tool-call": stage })));
  expect(call.reads).toBe(0);
  const result = await play(clerk(policy({ name: "house", "tool-result": stage })));
  expect(result.told).not.toContain("canary");
  for (const name of ["run-start", "model-call"] as const) {
    const run = await play(clerk(policy({ name: "house", [name]: stage })));
    expect(run.result).toMatchObject({ outcome: "failed" });
    expect(run.reads).toBe(0);
    expect(JSON.stringify(run.result)).toContain(`Policy house failed at ${name}`);
  }
});

test("a policy that hangs denies when its time is over", async () => {
  const one = clerk(policy({ name: "house", "tool-call": () => new Promise(() => undefined) }));
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  const result = run.result();
  await t.advance("10m");
  expect(await result).toMatchObject({ outcome: "completed" });
  expect(t.effects(read)).toHaveLength(0);
});

test("R-052 modify is no verdict at run-start, and ask none on a result", async () => {
  const start = await play(clerk(policy({ name: "house", "run-start": () => ({ modify: {} }) })));
  expect(start.result).toMatchObject({ outcome: "failed" });
  const result = await play(clerk(policy({ name: "house", "tool-result": () => ({ ask: "?" }) })));
  expect(result.told).not.toContain("canary");
});

test.each([
  [{ name: "a b", "tool-call": () => "allow" }, "name: must match"],
  [{ name: "house" }, "one of run-start, model-call, tool-call, delegation, tool-result, output must be given"],
  [{ name: "house", "tool-call": "no" }, "tool-call: must be a function"],
  [{ name: "house", "tool-cal": () => "allow" }, "tool-cal: unknown option"],
])("a wrong policy is named: %o", (options, problem) => {
  expect(() => policy(options as never)).toThrow(problem);
});

test("an agent takes a policy, nothing else by that name", () => {
  expect(() => clerk({ name: "house" } as never)).toThrow("policy: must come from policy({ … })");
});
