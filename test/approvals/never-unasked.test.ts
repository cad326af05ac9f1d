/** P2: a call that somebody has to approve, whoever says so and whatever its effect, runs only after a settled ticket. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope, type RunId } from "../../src/domain/ids.ts";
import { agent, policy, tool } from "../../src/index.ts";
import { permissions } from "../../src/plugins.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { transactionalTool } from "../../src/sqlite.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { freshFiles } from "../scenarios/stores.ts";
import { deps } from "../stores/watched-store.ts";

const input = z.object({ cents: z.number() });
const kinds = ["always", "by input", "policy", "permissions"] as const;
const effects = ["pure", "idempotent", "once", "transactional"] as const;

type Kind = (typeof kinds)[number];
type Effect = (typeof effects)[number];

function approvalOf(kind: Kind) {
  if (kind === "always") return { needsApproval: true as const };
  return kind === "by input" ? { needsApproval: async ({ cents }: { cents: number }) => cents > 1 } : {};
}

function paying(kind: Kind, effect: Effect, ran: string[]) {
  const facts = { name: "pay", description: "Pays", input, ...approvalOf(kind) };
  if (effect === "transactional") {
    return transactionalTool({
      ...facts,
      prepare: (given: { cents: number }) => given,
      apply: () => {
        ran.push("paid");
        return "paid";
      },
    });
  }
  const execute = (): string => {
    ran.push("paid");
    return "paid";
  };
  return tool({ ...facts, effect, execute });
}

function clerk(kind: Kind, effect: Effect, ran: string[]) {
  const asks = policy({ name: "house", "tool-call": async () => ({ ask: "May it pay?" }) });
  return agent({
    name: "clerk",
    model: scripted([{ calls: [{ tool: "pay", input: { cents: 5 } }] }, "done"]),
    instructions: "Pay.",
    tools: [paying(kind, effect, ran)],
    ...(kind === "policy" ? { policy: asks } : {}),
    ...(kind === "permissions" ? { plugins: [permissions({ default: "ask", rules: [] })] } : {}),
  });
}

async function journalOf(store: StoreDefinition, run: RunId): Promise<readonly Entry[]> {
  const reader = await store.open(deps);
  const entries = await reader.readRun({ scope: defaultScope, run, after: 0, limit: 1_000 });
  await reader.close();
  return entries;
}

/** In the journal the decision stands before the intent; of a call without one there is no intent. */
function orderIn(journal: readonly Entry[]): readonly string[] {
  const steps = journal.flatMap((entry) => {
    if (entry.type === "ticket-opened" || entry.type === "ticket-decided") return [entry.type];
    return entry.type === "effect-intended" && entry.kind === "tool" ? ["intended"] : [];
  });
  return steps;
}

const fresh = freshFiles();

describe.each(kinds)("P2 asked by %s", (kind) => {
  test.each(effects)("a %s call runs only once it was approved, over restarts", async (effect) => {
    const ran: string[] = [];
    const store = fresh();
    const one = clerk(kind, effect, ran);
    await using t = await testRuntime({ agents: [one], store });
    const { id } = await t.runtime.start(one, "go");
    for (let restarts = 0; restarts < 2; restarts += 1) {
      await t.settle();
      expect(await t.runtime.runs.get(id, one).idle()).toMatchObject({ status: "waiting" });
      expect([ran, orderIn(await journalOf(store, id))]).toEqual([[], ["ticket-opened"]]);
      await t.restart();
      await t.advance("5m");
    }
    const [ticket] = await t.runtime.tickets.list({ status: "open" });
    if (ticket?.kind !== "approval") throw new Error("no approval is open");
    await ticket.approve({ by: "ana" });
    await t.restart(); // whoever takes it up finds the answer
    expect(await t.runtime.runs.get(id, one).result()).toMatchObject({ outcome: "completed" });
    expect(ran).toEqual(["paid"]);
    expect(orderIn(await journalOf(store, id))).toEqual(["ticket-opened", "ticket-decided", "intended"]);
  });

  test.each(effects)(
    "a %s call that is rejected, closed by a cancel or never answered does not run",
    async (effect) => {
      for (const how of ["reject", "cancel", "nothing"] as const) {
        const ran: string[] = [];
        const store = fresh();
        const one = clerk(kind, effect, ran);
        await using t = await testRuntime({ agents: [one], store });
        const run = await t.runtime.start(one, "go");
        await run.idle();
        const [ticket] = await t.runtime.tickets.list({ status: "open" });
        if (ticket?.kind !== "approval") throw new Error("no approval is open");
        if (how === "reject") await ticket.reject("no", { by: "ana" });
        if (how === "cancel") await run.cancel({ by: "ana" });
        await t.restart();
        await t.advance("5m");
        expect([how, ran, orderIn(await journalOf(store, run.id)).includes("intended")]).toEqual([how, [], false]);
      }
    },
  );
});
