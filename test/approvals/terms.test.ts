/** A1–A3: who may answer, until when, and what counts when nobody has. On every store: the guard is theirs. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const minute = 60_000;

function wiring(approval: object, ran: string[] = []) {
  const wire = tool({
    name: "wire",
    description: "Wire money",
    input: z.object({ cents: z.number() }),
    needsApproval: true,
    approval,
    execute: ({ cents }) => {
      ran.push(`wired ${cents}`);
      return "wired";
    },
  });
  const answers = [{ calls: [{ tool: "wire", input: { cents: 5 } }] }, "done"];
  return { ran, bank: agent({ name: "bank", model: scripted(answers), instructions: "Wire.", tools: [wire] }) };
}

onEveryStore((freshStore) => {
  async function asked(approval: object) {
    const { ran, bank } = wiring(approval);
    const t = await testRuntime({ agents: [bank], store: freshStore() });
    const run = await t.runtime.start(bank, "go");
    await run.idle();
    const ticket = async () => {
      const [open] = await t.runtime.tickets.list({ status: "open" });
      if (open?.kind !== "approval") throw new Error("no open approval");
      return open;
    };
    return { t, run, ran, bank, ticket };
  }

  test("A1 somebody who is not of the audience is refused, and the ticket stays open", async () => {
    const { t, run, ran, ticket } = await asked({ audience: { principals: ["ana"], roles: ["treasurer"] } });
    await using _closing = t;
    for (const who of [{ by: "bob" }, { by: "bob", roles: ["clerk"] }, {}]) {
      await expect((await ticket()).approve(who)).rejects.toMatchObject({ code: "answer-not-allowed" });
    }
    expect(ran).toEqual([]);
    const settled = await (await ticket()).approve({ by: "cem", roles: ["clerk", "treasurer"] });
    expect(settled).toMatchObject({ by: "cem", mine: true });
    expect(await run.result()).toMatchObject({ outcome: "completed" });
    expect(ran).toEqual(["wired 5"]);
  });

  test("A1 the agent that asks never answers, whatever the audience", async () => {
    const { t, ticket } = await asked({ audience: { principals: ["bank"], roles: ["any"] } });
    await using _closing = t;
    await expect((await ticket()).approve({ by: "bank", roles: ["any"] })).rejects.toMatchObject({
      code: "answer-not-allowed",
    });
    expect(await (await ticket()).reject("no", { by: "ana", roles: ["any"] })).toMatchObject({ mine: true });
  });

  test.each([
    ["reject", { effects: [], said: "Nobody answered in time", outcome: "completed" }],
    ["approve", { effects: ["wired 5"], said: "wired", outcome: "completed" }],
    ["cancel-run", { effects: [], said: "", outcome: "cancelled" }],
  ] as const)("A2 nobody answers: %s counts, once", async (onExpiry, { effects, said, outcome }) => {
    const { t, run, ran } = await asked({ answerWithinMs: minute, onExpiry });
    await using _closing = t;
    await t.advance(minute - 1);
    expect((await run.idle()).status).toBe("waiting");
    await t.advance(1);
    await t.advance("1h");
    expect(await run.result()).toMatchObject({ outcome });
    expect(ran).toEqual(effects);
    const events: string[] = [];
    for await (const event of run.watch()) events.push(JSON.stringify(event));
    expect(events.filter((event) => event.includes('"ticket-decided"'))).toHaveLength(1);
    expect(events.join("\n")).toContain(said);
  });

  test("A2 the default counts also when no process was up at the deadline", async () => {
    const { t, run, ran, bank } = await asked({ answerWithinMs: minute });
    await using _closing = t;
    t.process.kill();
    await t.clock.advance(2 * 24 * 60 * minute);
    await t.restart();
    const result = await t.runtime.runs.get(run.id, bank).result();
    expect(result).toMatchObject({ outcome: "completed" });
    expect(ran).toEqual([]);
  });

  test("A2 an answer in the last millisecond counts, one at the deadline is refused", async () => {
    const inTime = await asked({ answerWithinMs: minute });
    {
      await using _closing = inTime.t;
      await inTime.t.advance(minute - 1);
      expect(await (await inTime.ticket()).approve({ by: "ana" })).toMatchObject({ mine: true });
      await inTime.run.result();
      expect(inTime.ran).toEqual(["wired 5"]);
    }
  });

  test("A3 from the escalation on others may answer too", async () => {
    const approval = {
      audience: { principals: ["ana"] },
      escalate: { afterMs: minute, audience: { roles: ["boss"] } },
    };
    const { t, run, ticket } = await asked(approval);
    await using _closing = t;
    const boss = { by: "dee", roles: ["boss"] };
    await t.advance(minute - 1);
    await expect((await ticket()).approve(boss)).rejects.toMatchObject({ code: "answer-not-allowed" });
    await t.advance(1);
    expect(await (await ticket()).approve(boss)).toMatchObject({ by: "dee" });
    expect(await run.result()).toMatchObject({ outcome: "completed" });
  });
});

test.each([
  [{ audience: {} }, "approval.audience.principals, roles: nobody could ever answer"],
  [{ audience: { people: ["ana"] } }, "approval.audience.people: unknown option"],
  [{ answerWithinMs: 0 }, "approval.answerWithinMs: must be a whole number"],
  [{ onExpiry: "approve" }, "approval.onExpiry: needs answerWithinMs"],
  [{ answerWithinMs: 5, onExpiry: "shrug" }, "approval.onExpiry: must be one of"],
  [{ escalate: { afterMs: 5, audience: { roles: ["boss"] } } }, "approval.escalate: needs an audience"],
  [
    { audience: { roles: ["a"] }, escalate: { audience: { roles: ["boss"] } } },
    "approval.escalate.afterMs: must be given",
  ],
])("wrong terms are named: %o", (approval, problem) => {
  expect(() => wiring(approval)).toThrow(problem);
});
