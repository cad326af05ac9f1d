/** The stage run-start, by the ids of the checklist (R-047 to R-054, D-35): what it sees, what its verdicts come to, and restarts. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, type PolicyOptions, policy, type RunEvent, tool } from "../../src/index.ts";
import type { Run, Ticket } from "../../src/runtime/runtime.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const look = tool({ name: "look", description: "Looks", input: z.object({}), effect: "pure", execute: () => "seen" });

function clerk(start: NonNullable<PolicyOptions["run-start"]>, calls: string[] = []) {
  const model = scripted(
    [
      () => {
        calls.push("called");
        return "done";
      },
    ],
    { name: "small" },
  );
  const house = policy({ name: "house", version: "2", "run-start": start });
  return agent({
    name: "clerk",
    model,
    instructions: "Work.",
    tools: [look],
    policy: house,
    context: z.object({ for: z.string() }),
  });
}

const ref = { name: "house", version: "2", stage: "run-start" };
const context = { context: { for: "ana" } };

async function typesOf(run: Run<unknown>): Promise<readonly string[]> {
  const types: string[] = [];
  const idle = await run.idle();
  for await (const event of run.watch({ until: idle.status === "done" ? "end" : "idle" })) {
    if ("seq" in event) types.push((event as RunEvent).type);
  }
  return types;
}

function approval(tickets: readonly Ticket[]): Extract<Ticket, { kind: "approval" }> {
  const [ticket] = tickets;
  if (ticket?.kind !== "approval") throw new Error("no approval is open");
  return ticket;
}

test("R-047 the policy sees what was asked for, and what the agent is", async () => {
  let seen: unknown;
  const one = clerk((view) => {
    const { run, messages, tools, step } = view;
    seen = { agent: run.agent, context: run.context, model: run.model.model, said: messages.length, tools, step };
    return "allow";
  });
  await using t = await testRuntime({ agents: [one] });
  await (await t.runtime.start(one, "go", context)).result();
  expect(seen).toEqual({ agent: "clerk", context: { for: "ana" }, model: "small", said: 1, tools: ["look"], step: 0 });
});

test("R-048 R-053 only allow lets the run start, and nothing is written of it", async () => {
  const one = clerk(() => "allow");
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go", context);
  expect(await run.result()).toMatchObject({ outcome: "completed", steps: 1 });
  expect(await typesOf(run)).not.toContain("command-applied");
});

test("R-049 R-050 a denial names run, code and policy; the text begins with the code; no step is begun", async () => {
  const calls: string[] = [];
  const one = clerk(() => ({ deny: "closed on sundays", code: "hours.closed" }), calls);
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go", context);
  const blocked = { reason: "hours.closed: closed on sundays", code: "hours.closed", policy: ref };
  expect(await run.result()).toMatchObject({ run: run.id, outcome: "blocked", steps: 0, ...blocked });
  expect((await run.terminalEvent()) as unknown).toMatchObject({ outcome: { kind: "blocked", ...blocked } });
  expect(await run.status()).toMatchObject({ outcome: { kind: "blocked", ...blocked } });
  expect(calls).toEqual([]);
});

test("R-052 modify is refused, with the seed's words", async () => {
  const calls: string[] = [];
  const one = clerk(() => ({ modify: {} }), calls);
  await using t = await testRuntime({ agents: [one] });
  const result = await (await t.runtime.start(one, "go", context)).result();
  expect(result).toMatchObject({ outcome: "failed", steps: 0, error: { code: "plugin-failed" } });
  expect(JSON.stringify(result)).toContain("policy modification is not valid for runtime start");
  expect(calls).toEqual([]);
});

test("R-054 a policy that throws stops the start with its own error", async () => {
  const calls: string[] = [];
  const one = clerk(() => {
    throw new Error("the register is closed");
  }, calls);
  await using t = await testRuntime({ agents: [one] });
  const result = await (await t.runtime.start(one, "go", context)).result();
  expect(result).toMatchObject({ outcome: "failed", steps: 0 });
  expect(JSON.stringify(result)).toContain("Policy house failed at run-start: the register is closed");
  expect(calls).toEqual([]);
});

onEveryStore((freshStore) => {
  /** Now, or by others after an hour: the seeds' defer is an ask of another audience or time. */
  const terms = {
    audience: { roles: ["boss"] },
    answerWithinMs: 7_200_000,
    escalate: { afterMs: 3_600_000, audience: { roles: ["board"] } },
  };

  test.each([
    ["approve", "completed"],
    ["reject", "blocked"],
  ] as const)(
    "R-051 D-35 ask: created, running, waiting before the first step; restarted there, and %s makes it %s",
    async (verb, outcome) => {
      const [asked, calls] = [[], []] as [string[], string[]];
      const one = clerk(({ run }) => {
        asked.push(run.foundAs);
        return { ask: "May it run?", terms };
      }, calls);
      await using t = await testRuntime({ agents: [one], store: freshStore() });
      const { id } = await t.runtime.start(one, "go", context);
      const before = t.runtime.runs.get(id, one);
      expect(await before.idle()).toMatchObject({ status: "waiting" });
      const written = [
        "run-created",
        "run-started",
        "message-appended",
        "ticket-opened",
        "command-applied",
        "run-waiting",
      ];
      expect(await typesOf(before)).toEqual(written);
      for (let restarts = 0; restarts < 2; restarts += 1) await t.restart();
      const run = t.runtime.runs.get(id, one);
      expect(await typesOf(run)).toEqual(written); // nothing moved, and nobody was asked again
      expect([asked, calls]).toEqual([["created"], []]);
      const ticket = approval(await t.runtime.tickets.list({ status: "open" }));
      expect(ticket).toMatchObject({ prompt: "May it run?", policy: ref });
      await expect(ticket.approve({ by: "eve", roles: ["board"] })).rejects.toMatchObject({
        code: "answer-not-allowed",
      });
      const boss = { by: "dee", roles: ["boss"] };
      if (verb === "approve") await ticket.approve(boss);
      else await ticket.reject("not now", boss);
      const result = await run.result();
      expect(result).toMatchObject({ outcome, steps: verb === "approve" ? 1 : 0 });
      if (verb === "reject") {
        expect(result).toMatchObject({
          code: "policy.rejected",
          reason: "policy.rejected: by dee: not now",
          policy: ref,
        });
      }
      expect([asked.length, calls.length]).toEqual([1, verb === "approve" ? 1 : 0]);
    },
  );

  test("R-050 D-35 deferred and never answered: the default ends it, named by its code", async () => {
    const one = clerk(() => ({ ask: "Later?", terms: { answerWithinMs: 60_000 } }));
    await using t = await testRuntime({ agents: [one], store: freshStore() });
    const run = await t.runtime.start(one, "go", context);
    await run.idle();
    await t.advance("2m");
    expect(await run.result()).toMatchObject({ outcome: "blocked", code: "policy.expired", policy: ref, steps: 0 });
  });

  test("D-35 a run that waits to start can be cancelled, and an answer comes too late then", async () => {
    const calls: string[] = [];
    const one = clerk(() => ({ ask: "May it?" }), calls);
    await using t = await testRuntime({ agents: [one], store: freshStore() });
    const run = await t.runtime.start(one, "go", context);
    const idle = await run.idle();
    const ticket = approval(idle.status === "waiting" ? idle.tickets : []);
    await (await run.cancel({ by: "ana" })).receipt();
    const late = await ticket.approve({ by: "ana" }).catch((cause: unknown) => cause);
    expect(late).toMatchObject({ decision: { kind: "closed" }, mine: false });
    expect(calls).toEqual([]);
  });
});
