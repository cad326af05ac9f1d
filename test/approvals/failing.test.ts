/** P1: whatever is wrong with a policy, at whichever stage, nothing goes through, and the journal says which and why. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defaultScope, type RunId } from "../../src/domain/ids.ts";
import { policyStages } from "../../src/domain/phase.ts";
import { agent, memory, type PolicyOptions, policy, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";
import { deps } from "../stores/watched-store.ts";

/** A delegate's call passes the gate of tool calls: test/delegation/policy.test.ts. */
const stages = policyStages.filter((stage) => stage !== "delegation");
type Stage = (typeof stages)[number];

const result = "result-canary";
const answer = "answer-canary";

interface World {
  readonly requests: ModelRequest[];
  readonly reads: string[];
}

function clerk(rules: PolicyOptions | undefined, world: World, needsApproval = false) {
  const says =
    (said: ScriptedAnswer): ScriptedAnswer =>
    (request) => {
      world.requests.push(request);
      return said as never;
    };
  const read = tool({
    name: "read",
    description: "Reads",
    input: z.object({}),
    effect: "pure",
    needsApproval,
    execute: () => {
      world.reads.push("read");
      return result;
    },
  });
  const model = scripted([says({ calls: [{ tool: "read", input: {} }] }), says(answer)]);
  return agent({
    name: "clerk",
    model,
    instructions: "Read.",
    tools: [read],
    ...(rules ? { policy: policy(rules) } : {}),
  });
}

async function journalOf(store: StoreDefinition, run: string) {
  const reader = await store.open(deps);
  const entries = await reader.readRun({ scope: defaultScope, run: run as RunId, after: 0, limit: 1_000 });
  return entries;
}

async function play(stage: Stage, verdict: () => unknown) {
  const world: World = { requests: [], reads: [] };
  const store = memory();
  const one = clerk({ name: "house", version: "3", [stage]: verdict } as PolicyOptions, world);
  await using t = await testRuntime({ agents: [one], store });
  const run = await t.runtime.start(one, "go");
  const ended = run.result();
  await t.advance("10m"); // past every phase's deadline
  const outcome = await ended;
  const events: unknown[] = [];
  for await (const event of run.watch()) events.push(event);
  return { ...world, outcome, told: JSON.stringify([outcome, events]), journal: await journalOf(store, run.id) };
}

const wrong: readonly (readonly [string, () => unknown])[] = [
  [
    "throws",
    () => {
      throw new Error("boom");
    },
  ],
  ["rejects", () => Promise.reject(new Error("boom"))],
  ["hangs", () => new Promise(() => undefined)],
  ["answers nonsense", () => "yes"],
  ["answers nothing", () => undefined],
  ["answers nonsense later", async () => ({ allow: true })],
  ["denies without words", () => ({ deny: 1 })],
  ["asks nobody", () => ({ ask: "?", terms: { audience: {} } })],
  ["asks with no terms at all", () => ({ ask: "?", terms: 5 })],
  ["asks until never", () => ({ ask: "?", terms: { answerWithinMs: -1 } })],
  ["asks without words", () => ({ ask: "" })],
];

describe.each(stages)("P1 at %s", (stage) => {
  test("what is allowed goes through: the checks below can see it", async () => {
    const { outcome, told, reads, requests } = await play(stage, () => "allow");
    expect(outcome).toMatchObject({ outcome: "completed", output: answer });
    expect([told.includes(result), told.includes(answer), reads.length, requests.length]).toEqual([true, true, 1, 2]);
  });

  test.each(wrong)(
    "a policy that %s denies, with a code and its name, version and stage in the journal",
    async (_what, verdict) => {
      const { outcome, told, reads, requests, journal } = await play(stage, verdict);
      const ref = { name: "house", version: "3", stage };
      if (stage === "tool-call") {
        expect(journal.filter(({ type }) => type === "call-gated")).toMatchObject([
          { verdict: { kind: "refuse", code: "plugin-failed", by: "policy-house", policy: ref } },
        ]);
      } else {
        const failed = journal.flatMap((entry) =>
          entry.type === "command-applied" && entry.failed ? [entry.failed] : [],
        );
        expect(failed).toMatchObject([{ plugin: "policy-house", policy: ref, error: { code: "plugin-failed" } }]);
      }
      const passed = { result: told.includes(result), answer: told.includes(answer), reads: reads.length };
      const through: Record<Stage, typeof passed> = {
        "run-start": { result: false, answer: false, reads: 0 },
        "model-call": { result: false, answer: false, reads: 0 },
        "tool-call": { result: false, answer: true, reads: 0 }, // the model reads that it was refused, and answers
        "tool-result": { result: false, answer: true, reads: 1 },
        output: { result: true, answer: false, reads: 1 },
      };
      expect(passed).toEqual(through[stage]);
      if (through[stage].answer) expect(JSON.stringify(requests.at(-1))).toContain("plugin-failed");
      else expect(outcome).toMatchObject({ outcome: "failed", error: { code: "plugin-failed" } });
      expect(told).toContain(`Policy house failed at ${stage}`);
      expect(told).not.toContain("Plugin policy-house");
      if (stage === "tool-result" || stage === "output") expect(JSON.stringify(journal)).not.toContain("boom"); // F1
    },
  );

  test("a policy that is gone after a restart lets nothing through: the run waits, and names it", async () => {
    const world: World = { requests: [], reads: [] };
    const store = memory();
    const ruled = clerk({ name: "house", version: "3", [stage]: () => "allow" } as PolicyOptions, world, true);
    const first = await testRuntime({ agents: [ruled], store });
    const { id } = await first.runtime.start(ruled, "go");
    await first.settle(); // it waits for somebody's yes
    await first.close();
    const without = clerk(undefined, world, true);
    await using t = await testRuntime({ agents: [without], store });
    for (const ticket of await t.runtime.tickets.list({ status: "open" })) {
      if (ticket.kind === "approval") await ticket.approve({ by: "ana" });
    }
    await t.advance("5m");
    const run = t.runtime.runs.get(id, without);
    const idle = await run.idle();
    expect(idle).toMatchObject({ status: "waiting", tickets: [{ kind: "missing-capability" }] });
    expect(JSON.stringify(idle)).toContain("policy house");
    expect([world.requests.length, world.reads.length]).toEqual([1, 0]);
    await run.cancel({ by: "ana" });
    expect(await run.result()).toMatchObject({ outcome: "cancelled" });
  });
});
