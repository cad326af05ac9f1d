/** Agents that a resolver knows (A1–A3), as someone meets it who keeps their definitions in a registry. */
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import {
  type Agent,
  type AgentResolver,
  agent,
  createRuntime,
  createWorker,
  memory,
  type Runtime,
  type RuntimeOptions,
  tool,
  type WantedAgent,
} from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { transactionalTool } from "../../src/sqlite.ts";

const patience = { timeout: 15_000, interval: 20 };
const warnings: string[] = [];
const logger = { warn: (text: string) => void warnings.push(text), note: () => undefined };

function ann(version = "1", more: Partial<Parameters<typeof agent>[0]> = {}): Agent<unknown> {
  return agent({ name: "ann", version, model: scripted([`Ann ${version}.`]), instructions: version, ...more });
}

/** A registry that someone can change, and that can be away. */
interface Registry extends AgentResolver {
  agents: Agent<unknown>[];
  fails: Error | "hangs" | undefined;
  readonly asked: WantedAgent[];
}

function registry(...agents: Agent<unknown>[]): Registry {
  const held = { agents, fails: undefined as Registry["fails"], asked: [] as WantedAgent[] };
  return Object.assign(held, {
    names: () => [...new Set(held.agents.map(({ name }) => name))],
    async resolve(wanted: WantedAgent) {
      held.asked.push(wanted);
      await new Promise(setImmediate);
      if (held.fails === "hangs") return new Promise<never>(() => undefined);
      if (held.fails) throw held.fails;
      const named = held.agents.filter(({ name }) => name === wanted.agent);
      return named.find(({ version }) => version === wanted.version) ?? named.at(-1);
    },
  });
}

/** What createRuntime takes of it. */
function resolverOf({ names, resolve }: Registry): AgentResolver {
  return { ...(names ? { names } : {}), resolve };
}

async function open(options: RuntimeOptions): Promise<Runtime> {
  const limits = { unservedMs: 60, ...options.limits };
  const runtime = await createRuntime({ logger, pollMs: 10, ...options, limits });
  onTestFinished(() => runtime.close());
  return runtime;
}

test("R-024, R-063 an agent is started by its name, or name and version, as the resolver has it then", async () => {
  const shelf = registry(ann("1"), ann("2"));
  const runtime = await open({ resolver: resolverOf(shelf) });
  const run = await runtime.start("ann", "go");
  expect(await run.output()).toBe("Ann 2.");
  expect(shelf.asked[0]).toEqual({ agent: "ann", run: run.id, scope: "default" });
  const first = await runtime.run("ann@1", "go");
  expect(first).toMatchObject({ outcome: "completed", output: "Ann 1." });
  shelf.agents.push(ann("3"));
  expect(await runtime.run("ann", "go")).toMatchObject({ output: "Ann 3." });
  await expect(runtime.start("ann@9", "go")).rejects.toMatchObject({ code: "unknown-agent" });
  await expect(runtime.start("zoe", "go")).rejects.toMatchObject({ code: "unknown-agent" });
});

test("R-024, R-006 a resolver that throws or hangs stops the start before anything is written; the error has the run's id", async () => {
  const shelf = registry(ann());
  const store = memory();
  const patient = await open({ store, resolver: resolverOf(shelf) });
  const hasty = await open({ store, resolver: resolverOf(shelf), limits: { phaseTimeoutMs: 40 } });
  const key = "same-key";
  for (const fails of [new Error("registry away, token sk-ant-abcdefghijklmnopqrstuvwx"), "hangs"] as const) {
    shelf.fails = fails;
    const runtime = fails === "hangs" ? hasty : patient;
    const refused = await runtime.start("ann", "go", { key }).catch((cause: unknown) => cause);
    const { run } = shelf.asked.at(-1) as WantedAgent;
    expect(refused).toMatchObject({ code: "resolver-failed", retry: "later", details: { run, agent: "ann" } });
    expect(String(refused)).toContain(`Run ${run}: the resolver ${fails === "hangs" ? "did not answer" : "failed"}`);
    expect(String(refused)).not.toContain("sk-ant-abc");
  }
  expect(await patient.runs.count()).toBe(0);
  shelf.fails = undefined;
  expect(await patient.run("ann", "go", { key })).toMatchObject({ outcome: "completed" });
});

test("R-027, R-006 what the resolver answers must be the agent that was asked for, whole, and all that it needs must be here", async () => {
  const apply = { prepare: () => null, apply: () => "booked" };
  const book = transactionalTool({ name: "book", description: "Books", input: z.object({}), ...apply });
  const uncallable = { description: { provider: "acme", model: "m-1" } };
  const answers: [unknown, string[]][] = [
    [agent({ name: "bob", model: scripted([]), instructions: "" }), ["the resolver answered agent bob for agent ann"]],
    [{ name: "ann" }, ["does not come from agent({ … })"]],
    [
      ann("1", { model: uncallable, tools: [book], sinks: ["ledger"] }),
      [
        "the model acme/m-1 of ann cannot be called",
        "store: tool book of agent ann writes in a sqlite transaction",
        "sinks: agent ann tells sink ledger, which is not here",
      ],
    ],
  ];
  for (const [answer, problems] of answers) {
    const runtime = await open({ resolver: { resolve: () => answer as Agent } });
    const refused = await runtime.start("ann", "go").catch((cause: unknown) => cause);
    expect(refused).toMatchObject({ code: "invalid-manifest", details: { agent: "ann", run: expect.any(String) } });
    for (const problem of problems) expect(String(refused)).toContain(problem);
    expect(await runtime.runs.count()).toBe(0);
  }
});

test("an agent object is started only if the resolver has it like that", async () => {
  const shelf = registry(ann("1"));
  const runtime = await open({ resolver: resolverOf(shelf) });
  expect(await runtime.run(ann("1"), "go")).toMatchObject({ output: "Ann 1." });
  expect(shelf.asked[0]?.fingerprint).toBe(runtime.manifest(ann("1")).fingerprint);
  const other = ann("1", { instructions: "other" });
  await expect(runtime.start(other, "go")).rejects.toMatchObject({ code: "unknown-agent" });
});

test("R-070, D-40 agents and a resolver are not given together; what is no resolver is refused by name", async () => {
  const { problems } = (await createRuntime({ logger, agents: [ann()], resolver: resolverOf(registry()) }).catch(
    (cause: unknown) => cause as { problems: string[] },
  )) as { problems: string[] };
  expect(problems).toEqual(["resolver: is given instead of agents; leave one of the two out"]);
  await expect(createRuntime({ logger, resolver: { find: 1 } as never })).rejects.toMatchObject({
    problems: [
      "resolver.find: unknown option; known are resolve, names",
      "resolver.resolve: must be a function of the agent that is wanted",
    ],
  });
  const silent = { resolve: () => undefined };
  await expect(createWorker({ logger, store: memory(), resolver: silent })).rejects.toMatchObject({
    problems: [expect.stringContaining("or give a resolver that has names")],
  });
});

test("what needs agents takes a resolver that has names, and only such a one; limits are by whatever names it may have", async () => {
  const sink = { deliver: () => undefined };
  const more = { sinks: { crm: sink }, retention: { keepFinishedMs: 1 }, concurrencyPerAgent: { ann: 1, later: 2 } };
  const runtime = await open({ resolver: resolverOf(registry(ann("1", { sinks: ["crm"] }))), ...more });
  expect(await runtime.run("ann", "go")).toMatchObject({ outcome: "completed" });
  await expect(createRuntime({ logger, resolver: { resolve: () => undefined }, ...more })).rejects.toMatchObject({
    problems: [expect.stringMatching(/^retention: needs agents/), expect.stringMatching(/^sinks: needs agents/)],
  });
  const none = { ...more, concurrencyPerAgent: { ann: 0 } };
  await expect(createRuntime({ logger, resolver: resolverOf(registry()), ...none })).rejects.toMatchObject({
    problems: [expect.stringMatching(/^concurrencyPerAgent.ann: must be a whole number/)],
  });
});

test("concurrencyPerAgent holds for agents that a resolver names later", async () => {
  const store = memory();
  let [now, most] = [0, 0];
  const slow = tool({
    name: "slow",
    description: "Slow",
    input: z.object({}),
    execute: async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      now -= 1;
      return "done";
    },
  });
  const shelf = registry();
  const worker = await open({ store, resolver: resolverOf(shelf), concurrencyPerAgent: { ann: 1 } });
  const answers = scripted([{ calls: [{ tool: "slow", input: {} }] }, "Done."]);
  shelf.agents.push(ann("1", { model: answers, tools: [slow] }));
  const runs = await Promise.all([1, 2, 3].map((n) => worker.start("ann", "go", { key: `k${n}` })));
  for (const run of runs) expect(await run.output()).toBe("Done.");
  expect(most).toBe(1);
});

test("R-064, R-070 without a resolver the agents that were given are found by name, the last of its name unless a version is said", async () => {
  const runtime = await open({ agents: [ann("1"), ann("2")] });
  expect(await runtime.run("ann", "go")).toMatchObject({ output: "Ann 2." });
  expect(await runtime.run("ann@1", "go")).toMatchObject({ output: "Ann 1." });
  await expect(runtime.start("zoe", "go")).rejects.toThrow("Agent zoe is not one of this runtime's: ann@1, ann@2");
  const desk = await open({});
  await expect(desk.start("ann", "go")).rejects.toThrow("none; pass the agent itself, or give createRuntime agents or");
});

test("a process with a resolver without names starts runs and executes none", async () => {
  const store = memory();
  const shelf = registry(ann());
  const desk = await open({ store, resolver: { resolve: shelf.resolve } });
  const run = await desk.start("ann", "go");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await run.status()).status).toBe("created");
  await open({ store, agents: [ann()] });
  expect(await run.output()).toBe("Ann 1.");
});

test.each<[string, Registry["fails"], string]>([
  ["throws", new Error("away, token sk-ant-abcdefghijklmnopqrstuvwx"), "failed: away"],
  ["hangs", "hangs", "did not answer within 40 ms"],
])(
  "A2 a run whose resolver %s says so in a ticket and goes on by itself when it answers",
  async (_how, fails, words) => {
    warnings.length = 0;
    const store = memory();
    const shelf = registry(ann());
    shelf.fails = fails;
    const desk = await open({ store });
    const run = await desk.start(ann(), "go");
    const limits = fails === "hangs" ? { phaseTimeoutMs: 40 } : {};
    await open({ store, limits, resolver: resolverOf(shelf) });
    const idle = await run.idle();
    const [ticket] = idle.status === "waiting" ? idle.tickets : [];
    expect(ticket).toMatchObject({ kind: "missing-capability" });
    expect(ticket?.prompt).toContain(words);
    expect(ticket?.prompt).not.toContain("sk-ant-abc");
    expect(warnings.join()).toContain(`Run ${run.id} waits: agent ann was not found`);
    expect(shelf.asked[0]).toMatchObject({ agent: "ann", version: "1", run: run.id });
    shelf.fails = undefined;
    expect(await run.output()).toBe("Ann 1.");
    const types: string[] = [];
    for await (const event of run.watch()) types.push(event.type);
    expect(types.indexOf("ticket-decided")).toBeGreaterThan(0);
    expect(types.indexOf("ticket-decided")).toBeLessThan(types.indexOf("step-started"));
  },
);

test("A2 a hiccup of the registry is not seen in the journal", async () => {
  const store = memory();
  const shelf = registry(ann());
  let fails = 2;
  const resolve: AgentResolver["resolve"] = (wanted, context) => {
    fails -= 1;
    if (fails >= 0) throw new Error("hiccup");
    return shelf.resolve(wanted, context);
  };
  const desk = await open({ store });
  const run = await desk.start(ann(), "go");
  await open({ store, resolver: { names: () => ["ann"], resolve } });
  expect(await run.output()).toBe("Ann 1.");
  const types: string[] = [];
  for await (const event of run.watch()) types.push(event.type);
  expect(types).not.toContain("ticket-opened");
});

test("A2 a run that the resolver has nothing or something else for waits, and can be cancelled", async () => {
  const store = memory();
  const bob = agent({ name: "bob", model: scripted([]), instructions: "" });
  for (const [answer, words] of [
    [undefined, "The resolver has no agent ann for this run, which was started with version 1"],
    [bob, "the resolver answered agent bob for agent ann"],
  ] as const) {
    const desk = await open({ store });
    const run = await desk.start(ann(), "go");
    const worker = await open({ store, resolver: { names: () => ["ann"], resolve: () => answer } });
    const idle = await run.idle();
    expect(idle).toMatchObject({ status: "waiting", tickets: [{ kind: "missing-capability" }] });
    expect(idle.status === "waiting" && idle.tickets[0]?.prompt).toContain(words);
    await run.cancel();
    expect((await run.result()).outcome).toBe("cancelled");
    await worker.close();
  }
});

test("A2 of a run that was started with another version, its onUpgrade decides; what is missing is looked for again", async () => {
  const store = memory();
  const act = (version: string) =>
    tool({ name: "act", version, description: "Acts", input: z.object({}), execute: () => "acted" });
  const model = scripted([{ calls: [{ tool: "act", input: {} }] }, "Done."]);
  const desk = await open({ store });
  const run = await desk.start(ann("1", { model, tools: [act("1")] }), "go");
  const shelf = registry(ann("2", { model, tools: [act("2")] }));
  await open({ store, resolver: resolverOf(shelf) });
  const idle = await run.idle();
  expect(idle.status === "waiting" && idle.tickets[0]?.prompt).toContain("does not have tool act@1");
  shelf.agents.unshift(ann("1", { model, tools: [act("1")] }));
  expect(await run.output()).toBe("Done.");
});

test("A3 names may come and go while the process lives", async () => {
  warnings.length = 0;
  const store = memory();
  const shelf = registry();
  const desk = await open({ store });
  const run = await desk.start(ann(), "go");
  const bob = agent({ name: "bob", model: scripted(["Bob."]), instructions: "" });
  shelf.agents.push(bob);
  let isBroken = false;
  const names = (): readonly string[] => {
    if (isBroken) throw new Error("no list");
    return shelf.names?.() ?? [];
  };
  await open({ store, resolver: { names, resolve: shelf.resolve } });
  await vi.waitFor(async () => expect((await run.status()).status).toBe("waiting"), patience);
  expect(shelf.asked).toEqual([]); // nobody asked for what is not named
  shelf.agents.push(ann());
  expect(await run.output()).toBe("Ann 1.");
  isBroken = true;
  expect(await (await desk.start(ann(), "go")).output()).toBe("Ann 1.");
  expect(warnings.filter((text) => text.includes("could not say which agents it has"))).toHaveLength(1);
});

test("close does not wait for a resolver that hangs", async () => {
  const store = memory();
  const shelf = registry(ann());
  shelf.fails = "hangs";
  const desk = await open({ store });
  await desk.start(ann(), "go");
  const limits = { phaseTimeoutMs: 60_000 };
  const worker = await open({ store, limits, closeGraceMs: 10, resolver: resolverOf(shelf) });
  await vi.waitFor(() => expect(shelf.asked).toHaveLength(1), patience);
  await worker.close();
});
