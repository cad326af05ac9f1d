/**
 * The checklist's items about manifests, their resolver and what can be missing. Ours has no ports to leave out: where the
 * seed has a registry, the runtime takes `agents`, `store` and `sinks`, and an agent its model, tools and plugins (D-30).
 */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Agent } from "../../src/domain/agent.ts";
import { agent, createRuntime, memory, plugin, policy, type Runtime, stateKey, tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { transactionalTool } from "../../src/sqlite.ts";

const quiet = { warn: () => undefined, note: () => undefined };
const model = scripted(["Done."]);
const act = tool({ name: "act", description: "Acts", input: z.object({}), version: "3", execute: () => "acted" });
const look = tool({ name: "look", description: "Looks", input: z.object({ at: z.string() }), execute: () => "seen" });
const ann = agent({ name: "ann", model, instructions: "Be kind.", tools: [look, act] });

async function open(options: Parameters<typeof createRuntime>[0] = {}): Promise<Runtime> {
  const runtime = await createRuntime({ logger: quiet, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

function problemsOf(options: object): Promise<readonly string[]> {
  return createRuntime({ logger: quiet, ...options }).then(
    async (runtime) => {
      await runtime.close();
      return [];
    },
    ({ problems }: { problems: readonly string[] }) => problems,
  );
}

/** A store that says whether anybody has written to it. */
function untouched(): { store: StoreDefinition; opened: () => number } {
  const inner = memory();
  let opened = 0;
  const count: StoreDefinition["open"] = (deps) => {
    opened += 1;
    return inner.open(deps);
  };
  return { store: { ...inner, open: count }, opened: () => opened };
}

test("R-004, R-005, R-023, R-036, R-037, R-055, R-056, R-066, D-31 everything that is missing is in one error, in the seed's order, with what to do", async () => {
  const book = transactionalTool({
    name: "book",
    description: "Books",
    input: z.object({}),
    prepare: () => null,
    apply: () => "booked",
  });
  const uncallable = { description: { provider: "acme", model: "m-1" } };
  const made = agent({ name: "bob", model: uncallable, instructions: "", tools: [book], sinks: ["ledger"] });
  const bob = { ...made, tools: [...made.tools, { spec: { ...look.spec, name: "ghost" } }] };
  expect(await problemsOf({ store: {}, content: {}, resolver: {}, agents: [null, bob] })).toEqual([
    "store: must be a store, for example sqlite(path)", // run journal
    "content: must be a place, for example fileContent(folder)", // content resolver
    "resolver.resolve: must be a function of the agent that is wanted", // runtime package resolver
    "resolver: is given instead of agents; leave one of the two out",
    "agents[0]: must come from agent({ … })", // default runtime package
    "agents[1]: the model acme/m-1 of bob cannot be called; give the agent a provider's model", // provider adapter
    "agents[1]: bob: tools: ghost is shown to the model and has no code", // tool routes
    "store: tool book of agent bob writes in a sqlite transaction",
    "sinks: agent bob tells sink ledger, which is not here; give sinks: { ledger: … }", // output sink
  ]);
});

test("R-055, R-056, D-30 what comes as an object cannot be missing: a name in its place is refused, with what to give, all in one error", () => {
  const named = { name: "ann", instructions: "", model: "gpt", tools: ["act"], policy: "house", plugins: ["guard"] };
  const refused = (() => {
    try {
      return agent(named as never) && undefined;
    } catch (cause) {
      return cause as { code: string; problems: readonly string[] };
    }
  })();
  expect(refused).toMatchObject({
    code: "invalid-agent",
    problems: [
      expect.stringMatching(/^model: must be a model/),
      "policy: must come from policy({ … })",
      expect.stringMatching(/^plugins\[0\]: must /),
      "tools[0]: must come from tool({ … })",
    ],
  });
});

test("R-004, R-056, D-30 nobody has to bring a bus, a content resolver, a policy, an approval dispatcher or a default manifest; no such option is ignored", async () => {
  const { store: _store, ...none } = { store: undefined };
  const runtime = await open({ ...none, agents: [ann] });
  expect(await runtime.run("ann", "go")).toMatchObject({ outcome: "completed" });
  const given = { bus: 1, approvals: 1, defaultAgent: "ann", backend: 1, policy: 1 };
  const problems = await problemsOf(given);
  expect(problems.map((problem) => problem.split(":")[0])).toEqual(Object.keys(given));
});

test("R-038, D-30 what is missing of a run's own manifest is in one ticket, whole and in order, and the run can be cancelled", async () => {
  const store = memory();
  const key = stateKey({ name: "notes", schema: z.string(), initial: "" });
  const noted = tool({ name: "noted", description: "Notes", input: z.object({}), writes: [key], execute: () => "" });
  const guard = plugin({ name: "guard", create: () => ({}) });
  const rules = policy({ name: "house", "tool-call": () => "allow" });
  const before = { model, instructions: () => "Be kind.", tools: [noted], policy: rules, plugins: [guard()] };
  const desk = await open({ store });
  const run = await desk.start(agent({ name: "ann", ...before }), "go");
  const other = { ...model, description: { provider: "other", model: "m" } };
  await open({ store, agents: [agent({ name: "ann", model: other, instructions: "", version: "2" })] });
  const idle = await run.idle();
  expect(idle.status === "waiting" && idle.tickets.map(({ kind, prompt }) => [kind, prompt])).toEqual([
    [
      "missing-capability",
      "This run was started with version 1 of agent ann, of which this worker does not have model scripted/scripted, the instructions function, policy house@1, plugin guard@1, tool noted@1, state key notes. Start a worker that has it, or cancel the run",
    ],
  ]);
  await run.cancel();
  expect((await run.result()).outcome).toBe("cancelled");
});

test("R-006 what is refused before it starts is not journaled, told or run, and opens no store", async () => {
  const { store, opened } = untouched();
  await problemsOf({
    store,
    agents: [agent({ name: "bob", model: { description: model.description }, instructions: "" })],
  });
  expect(opened()).toBe(0);
  const runtime = await open({ store, agents: [ann] });
  const told: string[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    for await (const event of runtime.watch({}, { signal: stop.signal })) told.push(event.type);
  })();
  const other = agent({ name: "ann", model, instructions: "Be rude." });
  await expect(runtime.start(other, "go")).rejects.toMatchObject({ code: "unknown-agent" });
  await expect(runtime.start(ann, "go", { context: { tier: 1 } })).rejects.toMatchObject({ code: "invalid-input" });
  expect(await runtime.runs.count()).toBe(0);
  stop.abort();
  await watching.catch(() => undefined);
  expect(told).toEqual([]);
});

test("R-007 a plugin that cannot be checked is refused when the agent is made, with its name", () => {
  const guard = plugin({ name: "guard", config: z.object({ most: z.number() }), create: () => ({}) });
  const wrong = (): unknown =>
    agent({ name: "ann", model, instructions: "", plugins: [guard({ most: "x" } as never)] });
  expect(wrong).toThrow(
    expect.objectContaining({ problems: [expect.stringMatching(/^plugins\[0\]: the config of guard does not fit/)] }),
  );
});

test("R-008, R-017 what a run pins can be read: ids, agent, status, fingerprint, model, whether cancel was asked", async () => {
  const runtime = await open({ agents: [ann] });
  const run = await runtime.start(ann, "go", { thread: "t-1" });
  const view = await run.status();
  expect(view).toMatchObject({ run: run.id, thread: "t-1", agent: "ann", origin: "user", cancelRequested: false });
  const { fingerprint, declared } = await runtime.runs.manifest(run.id);
  expect(view.manifest).toEqual({ fingerprint });
  expect(declared.model).toEqual(model.description);
  await run.cancel();
  expect((await run.status()).cancelRequested || (await run.status()).status === "done").toBe(true);
});

test("R-023, R-065 there is no default manifest: start names its agent, and the runtime is given agents and store", async () => {
  const runtime = await open({ agents: [ann], store: memory() });
  await expect(runtime.start(undefined as never, "go")).rejects.toMatchObject({
    code: "invalid-agent",
    message: "start(agent, input) takes an agent made by agent({ … })",
  });
  expect((await runtime.run(ann, "go")).outcome).toBe("completed");
});

test("R-024, R-027 an agent that the runtime does not have is refused by name and version", async () => {
  const runtime = await open({ agents: [ann] });
  const stranger = agent({ name: "zoe", model, instructions: "" });
  await expect(runtime.start(stranger, "go")).rejects.toMatchObject({
    message: "Agent zoe is not one of this runtime's: ann",
  });
  await expect(
    runtime.start(agent({ name: "ann", version: "2", model, instructions: "" }), "go"),
  ).rejects.toMatchObject({ details: { agent: "ann", version: "2" } });
});

test("R-025, R-028 the output contract is part of what is validated and hashed", async () => {
  const runtime = await open();
  const typed = agent({ name: "ann", model, instructions: "Be kind.", output: z.object({ ok: z.boolean() }) });
  const text = agent({ name: "ann", model, instructions: "Be kind." });
  expect(runtime.manifest(typed).declared.output?.schema).toMatchObject({ type: "object" });
  expect(runtime.manifest(typed).fingerprint).not.toBe(runtime.manifest(text).fingerprint);
});

test("R-026 a manifest that does not hold together is refused whole, when it is given and when it is started", async () => {
  const broken = { ...ann, tools: [act, act, { spec: { ...look.spec, name: "ghost" } }] } as unknown as Agent;
  expect(await problemsOf({ agents: [broken] })).toEqual([
    "agents[0]: ann: tools: act is there twice",
    "agents[0]: ann: tools: ghost is shown to the model and has no code",
  ]);
  const desk = await open();
  await expect(desk.start(broken, "go")).rejects.toMatchObject({
    code: "invalid-manifest",
    problems: ["tools: act is there twice", "tools: ghost is shown to the model and has no code"],
  });
});

test("R-029 the pair of manifest and fingerprint is the same each time, and needs no run", async () => {
  const runtime = await open({ agents: [ann] });
  expect(runtime.manifest(ann)).toEqual(runtime.manifest(ann));
  expect(await runtime.runs.count()).toBe(0);
});

test("R-038, R-040, R-041, R-042, R-043, R-044, R-045, D-41 one list: what the model is shown is what can be executed, by name, with schema and description", async () => {
  const asked: unknown[] = [];
  const listening = {
    ...model,
    call: (...args: Parameters<typeof model.call>) => {
      asked.push(args[0].tools);
      return model.call(...args);
    },
  };
  const both = agent({ name: "both", model: listening, instructions: "", tools: [look, act] });
  const none = agent({ name: "none", model: listening, instructions: "" });
  const runtime = await open({ agents: [both, none] });
  await runtime.run(none, "go");
  await runtime.run(both, "go");
  const shown = [act, look].map(({ spec }) => ({
    name: spec.name,
    description: spec.description,
    inputSchema: spec.inputSchema,
  }));
  expect(asked).toEqual([[], shown]);
  expect(runtime.manifest(both).declared.tools.map(({ name, version }) => [name, version])).toEqual([
    ["act", "3"],
    ["look", "1"],
  ]);
});

test("R-039, R-046 a call of a tool that is not there is a result that names those that are; its schema is in the manifest", async () => {
  const wrong = scripted([{ calls: [{ tool: "fly", input: {} }] }, "Done."]);
  const runtime = await open({ agents: [agent({ name: "ann", model: wrong, instructions: "", tools: [act] })] });
  const { declared } = runtime.manifest(agent({ name: "ann", model: wrong, instructions: "", tools: [act] }));
  expect(declared.tools[0]?.inputSchema).toMatchObject({ type: "object" });
  const run = await runtime.start(agent({ name: "ann", model: wrong, instructions: "", tools: [act] }), "go");
  await run.result();
  const texts: string[] = [];
  for await (const event of run.watch()) texts.push(JSON.stringify(event));
  expect(texts.join("\n")).toContain("There is no tool fly; the tools are act");
});

test("R-067, R-070, D-40 versions of one agent stand side by side; the same version twice is refused, not overwritten", async () => {
  const [one, two] = ["1", "2"].map((version) => agent({ name: "ann", version, model, instructions: version }));
  expect(await problemsOf({ agents: [one, two] })).toEqual([]);
  expect(await problemsOf({ agents: [one, two, one] })).toEqual([
    "agents[2]: ann@1 is there twice; give one of them another version",
  ]);
  expect(() => agent({ name: "ann", model, instructions: "", tools: [act, act] })).toThrow(
    expect.objectContaining({ problems: ["tools[1]: the name act is used twice"] }),
  );
});
