/** B4: overrides outlive the process that started the run, and a worker without their model leaves the run waiting. */
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import {
  type Agent,
  agent,
  createRuntime,
  memory,
  type Overrides,
  type Providers,
  plugin,
  type Run,
  type Runtime,
  type StoreDefinition,
  tool,
} from "../../../src/index.ts";
import { testRuntime } from "../../../src/testing.ts";
import { onEveryStore } from "../../scenarios/stores.ts";
import { intended, world } from "./world.ts";

const refund = tool({
  name: "refund",
  description: "Refund",
  input: z.object({}),
  needsApproval: true,
  execute: () => "paid",
});
const answers = (name: string) => [{ calls: [{ tool: "refund" }] }, `I am ${name}.`];
const overrides: Overrides = { model: "beta/small", temperature: 0.5, settings: { seed: 7 } };

onEveryStore((freshStore) => {
  test("a run keeps what it was started with over a crash, a snapshot and another process", async () => {
    const clerk = agent({ name: "clerk", instructions: "", model: "acme/large", tools: [refund] });
    const { providers, asked } = world({}, answers);
    const settings = { providers, limits: { snapshotEvery: 1 } };
    await using t = await testRuntime({ agents: [clerk], store: freshStore(), settings });
    const run = await t.runtime.start(clerk, "go", { overrides });
    await t.settle();
    await t.restart();
    const [ticket] = await t.runtime.tickets.list({ kind: "approval", status: "open" });
    await ticket?.approve();
    await t.settle();
    const again = t.runtime.runs.get(run.id, clerk);
    expect(await again.output()).toBe("I am small.");
    const { model: _model, ...said } = overrides;
    for (const call of asked) expect(call).toMatchObject({ by: "small", ...said });
    expect(asked).toHaveLength(2);
    expect(await intended(again)).toEqual([overrides, overrides]);
  });
});

const patience = { timeout: 10_000, interval: 20 };
const quiet = { warn: () => undefined, note: () => undefined };

async function worker(
  store: StoreDefinition,
  agents: readonly Agent<unknown>[],
  providers: Providers,
): Promise<Runtime> {
  const runtime = await createRuntime({ store, agents, providers, logger: quiet, pollMs: 20, leaseMs: 300 });
  onTestFinished(() => runtime.close());
  return runtime;
}

async function missing(runtime: Runtime): Promise<string> {
  const open = () => runtime.tickets.list({ kind: "missing-capability", status: "open" });
  await vi.waitFor(async () => expect(await open()).toHaveLength(1), patience);
  return (await open())[0]?.prompt ?? "";
}

const modest = agent({ name: "clerk", instructions: "", model: "acme/large", tools: [refund] });
/** Its second step asks for another model. */
const changing = agent({
  name: "clerk",
  instructions: "",
  model: "acme/large",
  tools: [refund],
  plugins: [
    plugin({
      name: "switch",
      create: () => ({
        hooks: {
          "before-run": () => ({
            type: "schedule",
            phase: "before-step",
            command: { type: "open-ticket", name: "wait", prompt: "Go on?" },
          }),
          "before-step": ({ step }) => (step === 1 ? { type: "patch-request", model: "beta/small" } : undefined),
        },
      }),
    })(),
  ],
});

interface Waiting {
  readonly store: StoreDefinition;
  readonly run: Run<unknown>;
  readonly desk: Runtime;
}

/** Started, and waiting on somebody, in a process that is gone. */
async function waiting(clerk: Agent<unknown>, asked: Overrides | undefined): Promise<Waiting> {
  const store = memory();
  const first = await worker(store, [clerk], world({}, answers).providers);
  const started = await first.start(clerk, "go", asked ? { overrides: asked } : {});
  expect((await started.idle()).status).toBe("waiting");
  await first.close();
  const desk = await createRuntime({ store, logger: quiet, pollMs: 20 });
  onTestFinished(() => desk.close());
  return { store, desk, run: desk.runs.get(started.id) };
}

async function decide(desk: Runtime): Promise<void> {
  for (const ticket of await desk.tickets.list({ status: "open" })) {
    if (ticket.kind === "approval") await ticket.approve();
    if (ticket.kind === "input") await ticket.answer("yes");
  }
}

const cases: readonly (readonly [string, Agent<unknown>, Overrides | undefined])[] = [
  ["a run was started with", modest, overrides],
  ["a step asks for", changing, undefined],
];
test.each(cases)(
  "a worker without the model that %s leaves the run waiting, and one that has it goes on",
  async (_what, clerk, asked) => {
    const { store, desk, run } = await waiting(clerk, asked);
    const { acme } = world({}, answers).providers;
    const lacking = await worker(store, [clerk], { acme: acme as never });
    await decide(desk);
    expect(await missing(lacking)).toBe(
      "This run asks for model beta/small instead of its agent's: missing provider adapter for package route beta/small: " +
        "give createRuntime providers: { beta: … }; there are acme. Start a worker that has it, or cancel the run",
    );
    await new Promise((resolve) => setTimeout(resolve, 200)); // several rounds of its caretaker
    expect((await run.status()).status).toBe("waiting");
    await lacking.close();
    const { providers, asked: calls } = world({}, answers);
    await worker(store, [clerk], providers);
    await vi.waitFor(async () => {
      await decide(desk);
      expect((await run.status()).status).toBe("done");
    }, patience);
    expect(calls[0]?.by).toBe("small");
    expect((await run.result()).outcome).toBe("completed");
  },
);

test("the same where a resolver knows the agents: it asks again by itself, and can be cancelled", async () => {
  const { store, desk, run } = await waiting(modest, overrides);
  const { acme } = world({}, answers).providers;
  const resolver = { names: () => ["clerk"], resolve: async () => modest };
  const limits = { unservedMs: 50 };
  const lacking = await createRuntime({
    store,
    resolver,
    providers: { acme: acme as never },
    logger: quiet,
    pollMs: 20,
    limits,
  });
  onTestFinished(() => lacking.close());
  await decide(desk);
  expect(await missing(lacking)).toContain("asks for model beta/small");
  await run.cancel();
  expect((await run.result()).outcome).toBe("cancelled");
});
