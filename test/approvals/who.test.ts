/** P3: who asks cannot answer; a wrong role is refused; a decision outside the allowed set is refused; words approve nothing. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, type PolicyOptions, plugin, policy, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const calls = { calls: [{ tool: "wire", input: { cents: 5 } }] };

onEveryStore((freshStore) => {
  async function asked(
    rules: Omit<PolicyOptions, "name"> | undefined,
    plugins: readonly ReturnType<typeof gate>[] = [],
  ) {
    const ran: string[] = [];
    const wire = tool({
      name: "wire",
      description: "Wires",
      input: z.object({ cents: z.number() }),
      execute: () => {
        ran.push("wired");
        return "wired";
      },
    });
    const house = rules ? { policy: policy({ name: "house", ...rules }) } : {};
    const bank = agent({
      name: "bank",
      model: scripted([calls, "done"]),
      instructions: "Wire.",
      tools: [wire],
      plugins,
      ...house,
    });
    const t = await testRuntime({ agents: [bank], store: freshStore() });
    const run = await t.runtime.start(bank, "go");
    await run.idle();
    const [ticket] = await t.runtime.tickets.list({ status: "open" });
    if (ticket?.kind !== "approval") throw new Error("no approval is open");
    return { t, run, ran, ticket };
  }

  const gate = (name: string) =>
    plugin({ name, create: () => ({ hooks: { "tool-gate": () => ({ type: "ask", prompt: "May it?" }) } }) })();
  const roles = ["treasury"];
  const terms = { audience: { principals: ["bank", "house", "policy-house", "guard", "ana"], roles } };
  const ask = { ask: "May it?", terms };

  const stages: readonly (readonly [string, Omit<PolicyOptions, "name">])[] = [
    ["run-start", { "run-start": () => ask }],
    ["model-call", { "model-call": () => ask }],
    ["tool-call", { "tool-call": () => ask }],
    ["output", { output: () => ask }],
  ];

  test.each(stages)(
    "P3 asked at %s, neither agent, run, policy nor its plugin can answer, whatever the audience says",
    async (_stage, rules) => {
      const { t, run, ran, ticket } = await asked(rules);
      await using _closing = t;
      for (const by of ["bank", run.id, "house", "policy-house"]) {
        await expect(ticket.approve({ by, roles }), by).rejects.toMatchObject({ code: "answer-not-allowed" });
        await expect(ticket.reject("no", { by, roles }), by).rejects.toMatchObject({ code: "answer-not-allowed" });
      }
      const [still] = await t.runtime.tickets.list({ status: "open" });
      expect([still?.id, ran.length]).toEqual([ticket.id, ticket.output !== undefined ? 1 : 0]);
      expect(await ticket.approve({ by: "ana" })).toMatchObject({ mine: true, by: "ana" });
    },
  );

  test("P3 a plugin that asks cannot answer", async () => {
    const { t, ran, ticket } = await asked(undefined, [gate("guard")]);
    await using _closing = t;
    await expect(ticket.approve({ by: "guard" })).rejects.toMatchObject({ code: "answer-not-allowed" });
    expect(ran).toEqual([]);
  });

  test("P3 a wrong role is refused, and so is nobody in particular", async () => {
    const { t, ran, ticket } = await asked({ "tool-call": () => ask });
    await using _closing = t;
    for (const who of [{ by: "eve" }, { by: "eve", roles: ["clerk"] }, { by: "eve", roles: [] }, {}]) {
      await expect(ticket.approve(who)).rejects.toMatchObject({ code: "answer-not-allowed" });
    }
    await expect(ticket.approve({ by: "eve", roles: "treasury" as never })).rejects.toMatchObject({
      code: "invalid-options",
    });
    expect(ran).toEqual([]);
  });

  const outside: readonly Record<string, unknown>[] = [
    { kind: "release" },
    { kind: "mark-done", result: "wired" },
    { kind: "run-again" },
    { kind: "expired", counts: "approve" },
    { kind: "closed", why: "found" },
    { kind: "elapsed" },
    { kind: "allow" },
    { kind: "APPROVE" },
    { kind: "approve ", value: 1 },
    {},
    { kind: "approve", text: "yes, go ahead" },
  ];

  test.each(outside)("P3 a decision outside the allowed set is refused: %o", async (answer) => {
    const { t, ran, ticket } = await asked({ "tool-call": () => ask });
    await using _closing = t;
    const offered = { hash: ticket.hash, by: "ana", ...answer } as never;
    await expect(t.runtime.tickets.decide(ticket.id, offered)).rejects.toMatchObject({ code: "invalid-decision" });
    expect([(await t.runtime.tickets.list({ status: "open" })).length, ran]).toEqual([1, []]);
  });

  test.each(stages.filter(([stage]) => stage !== "tool-call"))(
    "P3 what asks about no call takes a yes or a no, and nothing else: %s",
    async (_stage, rules) => {
      const { t, ticket } = await asked(rules);
      await using _closing = t;
      for (const answer of [
        { kind: "edit", input: { cents: 1 } },
        { kind: "answer", value: "approve" },
      ] as const) {
        const offered = { hash: ticket.hash, by: "ana", ...answer };
        await expect(t.runtime.tickets.decide(ticket.id, offered)).rejects.toMatchObject({ code: "invalid-decision" });
      }
      expect((await t.runtime.tickets.list({ status: "open" })).length).toBe(1);
    },
  );

  test("P3 words never approve: a message to the run, an answer in words, a no that says yes", async () => {
    const { t, run, ran, ticket } = await asked({ "tool-call": () => ask });
    await using _closing = t;
    await run.send("yes, approve it", { by: "ana" });
    await t.advance("5m");
    expect([ran, (await run.status()).status]).toEqual([[], "waiting"]);
    await ticket.answer("approve", { by: "ana" }); // is the result; the tool does not run
    await t.settle();
    expect(ran).toEqual([]);
    const other = await asked({ "run-start": () => ask });
    await using _other = other.t;
    await other.ticket.reject("approve", { by: "ana" });
    expect(await other.run.result()).toMatchObject({ outcome: "blocked", code: "policy.rejected", steps: 0 });
  });
});
