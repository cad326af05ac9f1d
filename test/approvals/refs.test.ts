/** Every verdict that is written names the policy, its version and the stage; a denial its code. Stage by stage. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { PolicyStageName } from "../../src/domain/phase.ts";
import { agent, type PolicyOptions, type PolicyVerdict, policy, type RunEvent, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const look = tool({ name: "look", description: "Looks", input: z.object({}), effect: "pure", execute: () => "seen" });

async function play(stage: PolicyStageName, verdict: PolicyVerdict) {
  const rules = { name: "house", version: "9", [stage]: () => verdict } as PolicyOptions;
  const model = scripted([{ calls: [{ tool: "look", input: {} }] }, "done"]);
  const one = agent({ name: "clerk", model, instructions: "Look.", tools: [look], policy: policy(rules) });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  const events: RunEvent[] = [];
  const idle = await run.idle();
  for await (const event of run.watch({ until: "idle" })) if ("seq" in event) events.push(event);
  const { outcome } = await run.status();
  return { events, outcome, tickets: idle.status === "waiting" ? idle.tickets : [] };
}

const deny = { deny: "no", code: "house.no" };
const code = "house.no";
const ask = { ask: "May it?" };

/** What is written of the verdict besides the reference. */
const rows: readonly (readonly [PolicyStageName, PolicyVerdict, object])[] = [
  ["run-start", deny, { command: { type: "stop", code } }],
  ["run-start", ask, { command: { type: "open-ticket", name: "run-start" } }],
  ["model-call", deny, { command: { type: "stop", code } }],
  ["model-call", ask, { command: { type: "open-ticket", name: "model-call" } }],
  ["model-call", { modify: { seed: 1 } }, { command: { type: "patch-request" } }],
  ["tool-call", "allow", { kind: "allow" }],
  ["tool-call", deny, { kind: "refuse", code: "denied", reason: code }],
  ["tool-call", { ...deny, stop: true }, { kind: "refuse", code: "denied", reason: code, stop: true }],
  ["tool-call", ask, { kind: "ask", prompt: "May it?" }],
  ["tool-call", { modify: {} }, { kind: "allow", input: {} }],
  ["tool-result", deny, { command: { type: "rewrite-result", code } }],
  ["tool-result", { modify: "other" }, { command: { type: "rewrite-result", value: "other" } }],
  ["output", deny, { command: { type: "stop", code } }],
  ["output", ask, { command: { type: "open-ticket", name: "output" } }],
  ["output", { modify: "other" }, { command: { type: "rewrite-output" } }],
];

test.each(rows)("%s, %o: its entry names the policy", async (stage, verdict, said) => {
  const type = stage === "tool-call" ? "call-gated" : "command-applied";
  const { events, outcome, tickets } = await play(stage, verdict);
  const ref = { policy: { name: "house", version: "9", stage } };
  const written = events.filter((event) => event.type === type);
  const verdicts = written.flatMap((event): readonly object[] => {
    if (event.type === "call-gated") return [event.verdict];
    return event.type === "command-applied" ? [...event.commands] : [];
  });
  expect(verdicts[0]).toMatchObject({ ...ref, ...said });
  const isAsked = typeof verdict === "object" && "ask" in verdict;
  expect(tickets).toMatchObject(isAsked ? [ref] : []);
  if (outcome?.kind === "blocked") expect(outcome).toMatchObject({ ...ref, code });
  const ends = stage !== "tool-result" && (stage !== "tool-call" || (verdict as { stop?: boolean }).stop === true);
  expect(outcome?.kind === "blocked").toBe(ends && typeof verdict === "object" && "deny" in verdict);
});
