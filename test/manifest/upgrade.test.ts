/**
 * A run waits on manifest A; prompt, tool schema, tool version, plugin config or model change; it is resumed under each
 * onUpgrade (B1–B3, N1–N2, E1–E2, M3).
 */
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { type Agent, agent, createRuntime, memory, plugin, type Run, type Runtime, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";

const quiet = { warn: () => undefined, note: () => undefined };
const patience = { timeout: 15_000, interval: 20 };

interface Refunding {
  readonly onUpgrade?: "pinned" | "move" | "refuse";
  readonly prompt?: string;
  readonly version?: string;
  readonly most?: number;
  readonly says?: string;
  readonly toolVersion?: string;
  readonly needsApproval?: boolean;
  readonly withoutTool?: boolean;
  readonly limit?: number;
  readonly model?: string;
}

interface Shop {
  readonly paid: { readonly by: string; readonly cents: number }[];
  readonly requests: ModelRequest[];
}

function support(shop: Shop, how: Refunding = {}): Agent {
  const { prompt = "Be polite.", toolVersion = "1", says = "Refunds", most = 100, limit = 3 } = how;
  const refund = tool({
    name: "refund",
    description: says,
    version: toolVersion,
    input: z.object({ cents: z.number().max(most) }),
    needsApproval: how.needsApproval ?? true,
    execute: ({ cents }) => {
      shop.paid.push({ by: toolVersion, cents });
      return "paid";
    },
  });
  const model = scripted([{ calls: [{ tool: "refund", input: { cents: 80 } }] }, "Done."]);
  const called = {
    description: { provider: "scripted", model: how.model ?? "m" },
    call: (request: ModelRequest, signal: AbortSignal) => {
      shop.requests.push(request);
      return model.call(request, signal);
    },
  };
  return agent({
    name: "support",
    model: called,
    instructions: prompt,
    tools: how.withoutTool ? [] : [refund],
    plugins: [note({ limit })],
    ...(how.version === undefined ? {} : { version: how.version }),
    ...(how.onUpgrade === undefined ? {} : { onUpgrade: how.onUpgrade }),
  });
}

const seenLimits: number[] = [];
const note = plugin({
  name: "note",
  config: z.object({ limit: z.number() }),
  create: ({ limit }) => ({
    hooks: {
      "before-tool": () => {
        seenLimits.push(limit);
        return [];
      },
    },
  }),
});

interface Stage {
  readonly shop: Shop;
  readonly store: StoreDefinition;
  readonly run: Run;
  work(...agents: readonly Agent[]): Promise<Runtime>;
}

/** A run of the agent as it was, which waits for approval while no worker is up. */
async function waiting(before: Refunding = {}): Promise<Stage> {
  const shop: Shop = { paid: [], requests: [] };
  const store = memory();
  const open = async (agents: readonly Agent[]): Promise<Runtime> => {
    const runtime = await createRuntime({ store, agents, logger: quiet, pollMs: 20, limits: { unservedMs: 60 } });
    onTestFinished(() => runtime.close());
    return runtime;
  };
  const first = await open([support(shop, before)]);
  const started = await first.start(support(shop, before), "Refund 80 cents");
  expect((await started.idle()).status).toBe("waiting");
  await first.close();
  const desk = await open([]);
  return { shop, store, run: desk.runs.get(started.id) as Run, work: (...agents) => open(agents) };
}

async function approve(runtime: Runtime): Promise<void> {
  const [ticket] = await runtime.tickets.list({ kind: "approval", status: "open" });
  await ticket?.approve({ by: "ana" });
}

async function missing(runtime: Runtime): Promise<string> {
  const open = async (): Promise<readonly { prompt: string }[]> =>
    runtime.tickets.list({ kind: "missing-capability", status: "open" });
  await vi.waitFor(async () => expect(await open()).toHaveLength(1), patience);
  return (await open())[0]?.prompt ?? "";
}

test("B1 with both versions side by side, a run goes on with its own, and starts use the agent they are given", async () => {
  const { shop, run, work } = await waiting();
  const [old, next] = [support(shop), support(shop, { version: "2", prompt: "Be brief.", toolVersion: "2" })];
  const runtime = await work(old, next);
  await approve(runtime);
  expect(await run.output()).toBe("Done.");
  expect(shop.paid).toEqual([{ by: "1", cents: 80 }]);
  const other = await runtime.start(next, "Refund 80 cents");
  await other.idle();
  await approve(runtime);
  expect(await other.output()).toBe("Done.");
  expect(shop.paid.at(-1)).toEqual({ by: "2", cents: 80 });
  expect((await runtime.runs.manifest(other.id)).declared.version).toBe("2");
});

test("N1 pinned: prompt, descriptions, schema and plugin config are those the run was started with", async () => {
  const { shop, run, work } = await waiting();
  const before = await (await work()).runs.manifest(run.id);
  const runtime = await work(support(shop, { prompt: "Be brief.", says: "Pays back", limit: 9, most: 90 }));
  seenLimits.length = 0;
  await approve(runtime);
  expect(await run.output()).toBe("Done.");
  expect(shop.paid).toEqual([{ by: "1", cents: 80 }]);
  const [first, last] = [shop.requests[0], shop.requests.at(-1)];
  expect(last?.instructions).toBe("Be polite.");
  expect(last?.tools).toEqual(first?.tools);
  expect(seenLimits).toEqual([3]);
  expect(await runtime.runs.manifest(run.id)).toEqual(before);
});

test("pinned: an approved input that the code's schema no longer takes is refused by name, and nothing is paid", async () => {
  const { shop, run, work } = await waiting();
  const runtime = await work(support(shop, { most: 50 }));
  await approve(runtime);
  expect(await run.output()).toBe("Done.");
  expect(shop.paid).toEqual([]);
  expect(JSON.stringify(shop.requests.at(-1)?.messages)).toContain("does not fit any more");
});

test.each([
  { was: true, is: false },
  { was: false, is: true },
])("N1 pinned: approval is asked as the manifest says ($was), not as the code says ($is)", async ({ was, is }) => {
  const shop: Shop = { paid: [], requests: [] };
  const store = memory();
  const desk = await createRuntime({ store, logger: quiet });
  onTestFinished(() => desk.close());
  const run = await desk.start(support(shop, { needsApproval: was }), "Refund 80 cents");
  const worker = await createRuntime({
    store,
    agents: [support(shop, { needsApproval: is })],
    logger: quiet,
    pollMs: 20,
  });
  onTestFinished(() => worker.close());
  expect((await run.idle()).status).toBe(was ? "waiting" : "done");
  expect(shop.paid).toHaveLength(was ? 0 : 1);
});

test("N2 pinned: what is gone is named in a ticket, all of it, whatever was answered, and cancel still works", async () => {
  const { shop, run, work } = await waiting();
  const runtime = await work(support(shop, { toolVersion: "2", model: "other", prompt: "Be brief." }));
  await approve(runtime);
  expect(await missing(runtime)).toBe(
    "This run was started with version 1 of agent support, of which this worker does not have model scripted/m, tool refund@1. Start a worker that has it, or cancel the run",
  );
  expect(shop.paid).toEqual([]);
  await run.cancel();
  expect((await run.result()).outcome).toBe("cancelled");
});

test("U3 a worker that lacks it too leaves the ticket alone; one that has it takes the run up by itself", async () => {
  const { shop, run, work } = await waiting();
  const lacking = await work(support(shop, { withoutTool: true }));
  await approve(lacking);
  await missing(lacking);
  await new Promise((resolve) => setTimeout(resolve, 300)); // several rounds of its caretaker
  expect(await lacking.tickets.list({ kind: "missing-capability" })).toHaveLength(1);
  await lacking.close();
  await work(support(shop, { prompt: "Be brief." }));
  expect(await run.output()).toBe("Done.");
  expect(shop.paid).toEqual([{ by: "1", cents: 80 }]);
});

test("M3, B3 refuse: the run waits with a ticket that names every difference, and goes on where its manifest is", async () => {
  const { shop, run, work } = await waiting({ onUpgrade: "refuse" });
  const other = await work(support(shop, { onUpgrade: "refuse", prompt: "Be brief.", toolVersion: "2", most: 90 }));
  await approve(other);
  const prompt = await missing(other);
  expect(prompt).toContain('the instructions: "Be polite." → "Be brief."');
  expect(prompt).toContain('the version of tool refund: "1" → "2"');
  expect(prompt).toContain("inputSchema.properties.cents.maximum: 100 → 90");
  await other.close();
  await work(support(shop, { onUpgrade: "refuse" }));
  expect(await run.output()).toBe("Done.");
  expect(shop.paid).toEqual([{ by: "1", cents: 80 }]);
});

test("refuse: it can be cancelled", async () => {
  const { shop, run, work } = await waiting();
  const other = await work(support(shop, { onUpgrade: "refuse", prompt: "Be brief." }));
  await approve(other);
  await missing(other);
  const [ticket] = await other.tickets.list({ kind: "missing-capability", status: "open" });
  await ticket?.cancelRun();
  expect((await run.result()).outcome).toBe("cancelled");
});

test("E1 move: the journal says so once, the run goes on with the new prompt, and an approval of an unchanged tool works", async () => {
  const { shop, run, work } = await waiting();
  const next = support(shop, { onUpgrade: "move", prompt: "Be brief." });
  const runtime = await work(next);
  await approve(runtime);
  expect(await run.output()).toBe("Done.");
  expect(shop.paid).toEqual([{ by: "1", cents: 80 }]);
  expect(shop.requests.at(-1)?.instructions).toBe("Be brief.");
  const amended = [];
  for await (const event of run.watch()) if (event.type === "manifest-amended") amended.push(event);
  const { fingerprint } = runtime.manifest(next);
  expect(amended).toMatchObject([{ fingerprint, changed: [] }]);
  expect(await runtime.runs.manifest(run.id)).toEqual(runtime.manifest(next));
  expect((await run.status()).manifest.fingerprint).toBe(fingerprint);
});

test("E2 move: an answer about a tool that has changed since is not taken for the new one: it is asked again, and says why", async () => {
  const { shop, run, work } = await waiting();
  const runtime = await work(support(shop, { onUpgrade: "move", toolVersion: "2" }));
  await approve(runtime);
  await vi.waitFor(async () => {
    expect(await runtime.tickets.list({ kind: "approval", status: "open" })).toHaveLength(1);
  }, patience);
  expect(shop.paid).toEqual([]);
  const [again] = await runtime.tickets.list({ kind: "approval", status: "open" });
  expect(again?.call.version).toBe("2");
  expect(again?.problem).toBe(
    "Tool refund has changed since this was asked, and what ana answered was about the tool as it was",
  );
  await again?.approve();
  expect(await run.output()).toBe("Done.");
  expect(shop.paid).toEqual([{ by: "2", cents: 80 }]);
});

test("E2 move: an open question about a tool that has changed is closed, and a late answer to it learns that", async () => {
  const { shop, run, work } = await waiting();
  const runtime = await work(support(shop, { onUpgrade: "move", toolVersion: "2", needsApproval: true }));
  const [old] = await runtime.tickets.list({ kind: "approval", status: "open" });
  await run.send("Are you there?"); // wakes the run, and answers nothing
  await vi.waitFor(async () => {
    const [open] = await runtime.tickets.list({ kind: "approval", status: "open" });
    expect(open?.id).not.toBe(old?.id);
    expect(open?.problem).toBe("Tool refund has changed since this was asked");
  }, patience);
  expect(await old?.approve()).toMatchObject({ mine: false, decision: { kind: "closed", why: "amended" } });
  const [open] = await runtime.tickets.list({ kind: "approval", status: "open" });
  await open?.edit({ cents: 5 });
  expect(await run.output()).toBe("Done.");
  expect(shop.paid).toEqual([{ by: "2", cents: 5 }]);
});

test("move: a call of a tool that is gone is a result that the model reads", async () => {
  const { shop, run, work } = await waiting();
  const runtime = await work(support(shop, { onUpgrade: "move", withoutTool: true }));
  await approve(runtime);
  expect(await run.output()).toBe("Done.");
  expect(shop.paid).toEqual([]);
  expect(JSON.stringify(shop.requests.at(-1)?.messages)).toContain("unknown-tool");
});

test("the worker's own rule counts, and two agents with one name need two versions", async () => {
  const shop: Shop = { paid: [], requests: [] };
  await expect(createRuntime({ agents: [support(shop), support(shop, { prompt: "Other." })] })).rejects.toMatchObject({
    problems: ["agents[1]: support@1 is there twice; give one of them another version"],
  });
});

test("R-027 a start with an agent that is not what the runtime has is refused, and nothing is written", async () => {
  const shop: Shop = { paid: [], requests: [] };
  const runtime = await createRuntime({ agents: [support(shop)], logger: quiet });
  onTestFinished(() => runtime.close());
  await expect(runtime.start(support(shop, { prompt: "Other." }), "go")).rejects.toMatchObject({
    code: "unknown-agent",
    message: expect.stringContaining("Agent support@1 is not what this runtime has: support@1"),
  });
  expect(await runtime.runs.count()).toBe(0);
});

const changes: readonly Refunding[] = [
  { prompt: "Be brief." },
  { says: "Pays back" },
  { most: 90 },
  { toolVersion: "2" },
  { limit: 9 },
  { model: "other" },
  { version: "2" },
  { needsApproval: false },
];

test.each(["pinned", "move", "refuse"] as const)(
  "M3 %s: whatever has changed, a run goes on under the fingerprint that is recorded of it, or not at all",
  async (onUpgrade) => {
    for (const change of changes) {
      const { shop, run, work } = await waiting();
      const recorded = (await run.status()).manifest.fingerprint;
      const next = support(shop, { ...change, onUpgrade });
      const runtime = await work(next);
      const now = runtime.manifest(next).fingerprint;
      expect(now).not.toBe(recorded);
      const asked = shop.requests.length;
      await approve(runtime);
      await vi.waitFor(async () => {
        const isSettled = (await run.idle()).status === "done" || shop.requests.length > asked;
        expect(isSettled || (await runtime.tickets.list({ status: "open" })).length > 0).toBe(true);
      }, patience);
      const { fingerprint } = (await run.status()).manifest;
      const isUsed = shop.requests.length > asked || shop.paid.length > 0;
      if (isUsed) expect(fingerprint).toBe(onUpgrade === "move" ? now : recorded);
      if (onUpgrade === "refuse") expect([fingerprint, isUsed]).toEqual([recorded, false]);
      if (onUpgrade === "pinned") expect(fingerprint).toBe(recorded);
    }
  },
);
