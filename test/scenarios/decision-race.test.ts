import { expect, test } from "vitest";
import { z } from "zod";
import { agent, type Runtime, type Settlement, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";
import { countingIds, startProcess } from "../../src/testing/test-process.ts";
import { aMoment } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

onEveryStore((freshStore) => {
  for (const first of ["approve", "reject"] as const) {
    test(`a hundred decisions at once, ${first} asked first, settle a ticket once, and every caller learns whether it was theirs`, async () => {
      let executions = 0;
      const pay = tool({
        name: "pay",
        description: "Pays",
        input: z.object({ cents: z.number() }),
        needsApproval: true,
        execute: () => {
          executions += 1;
          return "paid";
        },
      });
      const payer = agent({
        name: "payer",
        model: scripted([{ calls: [{ tool: "pay", input: { cents: 1 } }] }, "Done."]),
        instructions: "Pay.",
        tools: [pay],
      });
      const shared = { store: freshStore(), agents: [payer], clock: createFakeClock(), ids: countingIds() };
      const one = await startProcess({ ...shared, settings: { pollMs: 1_000 } });
      const two = await startProcess({ ...shared, settings: { pollMs: 1_000 } });
      const { id } = await one.runtime.start(payer, "pay");
      await whileTimePasses(shared.clock, one.runtime.runs.get(id).idle());

      const settlements = await Promise.all(
        Array.from({ length: 100 }, (_, index) => {
          const { runtime } = index % 3 === 0 ? one : two;
          const other = first === "approve" ? "reject" : "approve";
          return decide(runtime, { verb: index % 2 === 0 ? first : other, by: `caller-${index}` });
        }),
      );

      expect(settlements.filter(({ mine }) => mine)).toHaveLength(1);
      const counted = new Set(settlements.map(({ decision, by, at }) => JSON.stringify({ decision, by, at })));
      expect(counted.size).toBe(1);
      const winner = settlements.findIndex(({ mine }) => mine);
      expect(settlements[winner]?.by).toBe(`caller-${winner}`);

      const ended = await whileTimePasses(shared.clock, one.runtime.runs.get(id).result());
      expect(ended).toMatchObject({ outcome: "completed", output: "Done." });
      expect(executions).toBe(settlements[winner]?.decision.kind === "approve" ? 1 : 0);
      const rows = await two.runtime.tickets.list({ run: id });
      expect(rows.map(({ settlement }) => settlement?.by)).toEqual([`caller-${winner}`]);
      await whileTimePasses(shared.clock, Promise.all([one.runtime.close(), two.runtime.close()]));
    });
  }

  test("XA-15 the same decision key gives the first answer again, and it is still the caller's own", async () => {
    const ask = tool({ name: "ask", description: "Asks", input: z.object({}), needsApproval: true, execute: () => 1 });
    const asker = agent({
      name: "asker",
      model: scripted([{ calls: [{ tool: "ask" }] }, "Done."]),
      instructions: "Ask.",
      tools: [ask],
    });
    const clock = createFakeClock();
    const { runtime } = await startProcess({ store: freshStore(), agents: [asker], clock, ids: countingIds() });
    const { id } = await runtime.start(asker, "ask");
    await runtime.runs.get(id).idle();
    const [ticket] = await runtime.tickets.list({ tool: ask, status: "open" });
    if (ticket?.kind !== "approval") throw new Error("no approval");
    const first = await ticket.approve({ by: "ana", key: "d-1" });
    const again = await ticket.approve({ by: "ana", key: "d-1" });
    expect(first.mine).toBe(true);
    expect(again).toEqual(first);
    expect(await ticket.reject("too late", { by: "ben" })).toEqual({ ...first, mine: false });
    await runtime.runs.get(id).result();
    await runtime.close();
  });
});

/** Two processes hear each other only by polling. */
async function whileTimePasses<T>(clock: FakeClock, awaited: Promise<T>): Promise<T> {
  let settled = false;
  const watched = awaited.finally(() => {
    settled = true;
  });
  for (let seconds = 0; seconds < 20 && !settled; seconds += 1) await clock.advance(1_000, aMoment);
  return watched;
}

async function decide(runtime: Runtime, answer: { verb: "approve" | "reject"; by: string }): Promise<Settlement> {
  const [ticket] = await runtime.tickets.list({ limit: 1 });
  if (ticket?.kind !== "approval") throw new Error("no approval ticket");
  const { by } = answer;
  return answer.verb === "approve" ? ticket.approve({ by }) : ticket.reject("no", { by });
}
