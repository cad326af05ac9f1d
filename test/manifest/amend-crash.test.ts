/** A run moves to another manifest while its worker dies, before and after every call to a port (E1, E2). */
import { expect, test } from "vitest";
import { z } from "zod";
import { foldAll } from "../../src/domain/apply.ts";
import type { Entry } from "../../src/domain/entry.ts";
import type { Scope } from "../../src/domain/ids.ts";
import { readAfter } from "../../src/engine/load.ts";
import { type Agent, agent, memory, tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { countingIds, startProcess, type TestProcess } from "../../src/testing/test-process.ts";

const leaseMs = 30_000;

interface Bank {
  readonly paid: Set<string>;
}

function teller(bank: Bank, how: { version: string; prompt: string }): Agent {
  const pay = tool({
    name: "pay",
    version: how.version,
    description: "Pays",
    input: z.object({}),
    effect: "idempotent",
    needsApproval: true,
    execute: (_input, { idempotencyKey }) => {
      bank.paid.add(`pay@${how.version} ${idempotencyKey}`);
      return "paid";
    },
  });
  const model = scripted([{ calls: [{ tool: "pay", input: {} }] }, "Done."]);
  return agent({ name: "teller", onUpgrade: "move", model, instructions: how.prompt, tools: [pay] });
}

interface Play {
  readonly store: StoreDefinition;
  readonly clock: FakeClock;
  boot(agents: readonly Agent[], intercept?: Intercept): Promise<TestProcess>;
}

function play(): Play {
  const [store, clock, ids] = [memory(), createFakeClock(), countingIds()];
  const settings = { leaseMs, pollMs: 60_000 };
  return {
    store,
    clock,
    boot: (agents, intercept) =>
      startProcess({ store, agents, clock, ids, settings, ...(intercept ? { intercept } : {}) }),
  };
}

async function approve({ runtime }: TestProcess): Promise<void> {
  for (const ticket of await runtime.tickets.list({ kind: "approval", status: "open" })) await ticket.approve();
}

interface Cut {
  readonly at: number;
  readonly when: "before" | "after";
}

/** Dies at the nth call; false when there were not so many. */
async function diesAt({ at, when }: Cut, agents: readonly Agent[], { boot }: Play): Promise<boolean> {
  let calls = 0;
  let isDoomed = false;
  let worker: TestProcess | undefined;
  const die = (): void => {
    isDoomed = true;
    worker?.kill();
  };
  const cut: Intercept = async ({ method }, proceed) => {
    if (method === "sleep") return proceed(); // it ends when time passes, and none does
    calls += 1;
    const isTheOne = calls === at;
    if (isTheOne && when === "before") die();
    if (isDoomed) return new Promise(() => undefined);
    const answer = await proceed();
    if (isTheOne) die();
    return answer;
  };
  worker = await boot(agents, cut);
  if (isDoomed) worker.kill(); // while it came up
  await worker.quiet();
  worker.kill();
  return isDoomed;
}

async function entriesOf(run: string, { store, clock }: Play): Promise<readonly Entry[]> {
  const open = await store.open({ clock, logger: { warn: () => undefined, note: () => undefined } });
  return readAfter({ scope: "default" as Scope, run: run as never }, 0, open);
}

async function playCut({ at, when }: Cut, toolVersion: string): Promise<boolean> {
  const bank: Bank = { paid: new Set() };
  const stage = play();
  const [was, is] = [
    teller(bank, { version: "1", prompt: "Be polite." }),
    teller(bank, { version: toolVersion, prompt: "Be brief." }),
  ];
  const first = await stage.boot([was]);
  const { id } = await first.runtime.start(was, "Pay");
  await first.quiet();
  first.kill();
  await stage.clock.advance(leaseMs + 1);
  const desk = await stage.boot([]);
  await approve(desk);
  const died = await diesAt({ at, when }, [is], stage);
  await stage.clock.advance(leaseMs + 1);
  const last = await stage.boot([is]);
  await last.quiet();
  if (toolVersion !== "1") {
    expect(bank.paid.size, `paid without being asked again (${when} ${at})`).toBe(0);
    await approve(last);
    await last.quiet();
  }
  const entries = await entriesOf(id, stage);
  expect(foldAll(entries).outcome, `${when} ${at}`).toEqual({ kind: "completed", reason: "natural" });
  expect(entries.filter(({ type }) => type === "manifest-amended")).toHaveLength(1);
  expect([...bank.paid].map((each) => each.split(" ")[0])).toEqual([`pay@${toolVersion}`]);
  return died;
}

test.each([
  ["before", "1"],
  ["after", "1"],
  ["before", "2"],
  ["after", "2"],
] as const)(
  "E1, E2 its worker dies %s each call, with pay@%s deployed: one amendment, one payment",
  async (when, version) => {
    let cuts = 0;
    while (await playCut({ at: cuts + 1, when }, version)) cuts += 1;
    expect(cuts).toBeGreaterThan(10);
  },
);

test.each([
  { was: "once", version: "2", tickets: ["unknown-outcome"], executed: 1 },
  { was: "idempotent", version: "2", tickets: ["unknown-outcome"], executed: 1 },
  { was: "pure", version: "2", tickets: [], executed: 2 },
  { was: "idempotent", version: "1", tickets: [], executed: 2 },
] as const)("E3 a lost $was call of version 1, with version $version deployed: run $executed times", async (row) => {
  const { was, version, tickets, executed } = row;
  let begun = 0;
  const sender = (how: { version: string; effect: "once" | "idempotent" | "pure"; prompt: string }): Agent => {
    const execute = (): Promise<string> | string => {
      begun += 1;
      return begun === 1 ? new Promise(() => undefined) : "sent";
    };
    const send = tool({
      name: "send",
      description: "Sends",
      input: z.object({}),
      version: how.version,
      effect: how.effect,
      execute,
    });
    const model = scripted([{ calls: [{ tool: "send", input: {} }] }, "Done."]);
    return agent({ name: "sender", onUpgrade: "move", model, instructions: how.prompt, tools: [send] });
  };
  const stage = play();
  const before = sender({ version: "1", effect: was, prompt: "Be polite." });
  const first = await stage.boot([before]);
  const { id } = await first.runtime.start(before, "Send");
  while (begun === 0) await new Promise(setImmediate);
  first.kill();
  await stage.clock.advance(leaseMs + 1);
  const effect = version === "1" ? was : "pure";
  const last = await stage.boot([sender({ version, effect, prompt: "Be brief." })]);
  await last.quiet();
  const open = await last.runtime.tickets.list({ run: id, status: "open" });
  expect(open.map(({ kind }) => kind)).toEqual(tickets);
  expect(begun).toBe(executed);
});
