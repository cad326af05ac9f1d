/** The checklist's items about the runtime as a handle: starting, cancelling, reading, numbers and the end of a run. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, HoldfastError, isHoldfastError, memory, type Runtime, tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, callsTool, callsTools, given, says } from "../../src/testing/story.ts";

const warned: string[] = [];
const logger = { warn: (text: string) => void warned.push(text), note: () => undefined };
const greeter = agent({ name: "greeter", model: scripted(["Hi."]), instructions: "Greet." });
const ask = tool({ name: "ask", description: "Asks", input: z.object({}) });
const asker = agent({
  name: "asker",
  model: scripted([{ calls: [{ tool: "ask", input: {} }] }, "Done."]),
  instructions: "",
  tools: [ask],
});

async function open(options: Parameters<typeof createRuntime>[0]): Promise<Runtime> {
  const runtime = await createRuntime({ logger, pollMs: 10, watchPollMs: 10, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

async function knownOptions(refused: () => unknown): Promise<readonly string[]> {
  try {
    await refused();
  } catch (cause) {
    const [problem = ""] = isHoldfastError(cause) ? cause.problems : [];
    return problem.split("known are ")[1]?.split(", ") ?? [];
  }
  return [];
}

test("R-001 a copy of the runtime is the same one: what is started through it is seen, watched and cancelled through the other", async () => {
  const runtime = await open({ agents: [asker] });
  const { start } = { ...runtime };
  const copy = { ...runtime };
  const run = await start(asker, "go");
  await run.idle();
  const [listed] = (await copy.runs.list()).items;
  expect(listed?.run).toBe(run.id);
  await copy.runs.get(run.id).cancel();
  const types: string[] = [];
  for await (const event of runtime.runs.get(run.id).watch()) types.push(event.type);
  expect(types.at(-1)).toBe("run-ended");
});

test("R-003 each part of the seed's runtime has its place: an option of the runtime or the agent, or a part of the runtime", async () => {
  const nonsense = { nonsense: 1 } as never;
  const ofRuntime = await knownOptions(() => createRuntime(nonsense));
  const ofAgent = await knownOptions(() => agent(nonsense));
  // journal and content, resolver, sequence numbers; sinks; local manifests
  expect(ofRuntime).toEqual(expect.arrayContaining(["store", "resolver", "sinks", "agents"]));
  // provider; run and tool policy; hooks; tool routes and executors; the output contract
  expect(ofAgent).toEqual(expect.arrayContaining(["model", "policy", "plugins", "tools", "output", "sinks"]));
  const runtime = await open({});
  // event bus; approvals; registry and control; sinks
  expect(Object.keys(runtime)).toEqual(expect.arrayContaining(["watch", "tickets", "runs", "sinks", "manifest"]));
});

test("R-009, D-33 a handle is returned after the run is written: any other process can read it then", async () => {
  const store = memory();
  const [here, there] = [await open({ store }), await open({ store })];
  const run = await here.start(greeter, "hi");
  expect((await there.runs.get(run.id).status()).status).toBe("created");
});

test("R-009 a start whose write fails returns no handle, and there is no run", async () => {
  const inner = memory();
  let isBroken = true;
  const store: StoreDefinition = {
    ...inner,
    open: async (deps) => {
      const opened = await inner.open(deps);
      const refuse = () => Promise.reject(new HoldfastError("store-full", "The disk is full"));
      return { ...opened, create: (birth) => (isBroken ? refuse() : opened.create(birth)) };
    },
  };
  const runtime = await open({ store });
  await expect(runtime.start(greeter, "hi")).rejects.toMatchObject({ code: "store-full" });
  expect(await runtime.runs.count()).toBe(0);
  isBroken = false;
  await runtime.start(greeter, "hi");
  expect(await runtime.runs.count()).toBe(1);
});

test("R-010 a handle reads, cancels and watches through the store, also one that another process made by id", async () => {
  const store = memory();
  const worker = await open({ store, agents: [asker] });
  const desk = await open({ store });
  const run = await worker.start(asker, "go");
  const far = desk.runs.get(run.id);
  expect((await far.idle()).status).toBe("waiting");
  await far.cancel({ by: "ana" });
  expect((await run.result()).outcome).toBe("cancelled");
  expect((await worker.runs.list({ status: "done" })).items.map(({ run: id }) => id)).toEqual([run.id]);
  const [mine, theirs]: string[][] = [[], []];
  for await (const { type } of run.watch()) mine?.push(type);
  for await (const { type } of far.watch()) theirs?.push(type);
  expect(theirs).toEqual(mine);
});

test("R-012, D-45 a typed run is the same run with the agent's output contract; the contract is in its manifest", async () => {
  const output = z.object({ ok: z.boolean() });
  const typed = agent({ name: "typed", model: scripted(['{"ok":true}']), instructions: "", output });
  const runtime = await open({ agents: [typed] });
  const run = await runtime.start(typed, "go");
  const result = await run.result();
  expect(result.outcome === "completed" && result.output.ok).toBe(true);
  expect((await runtime.runs.manifest(run.id)).declared.output?.schema).toMatchObject({ required: ["ok"] });
});

/** Waits until its signal aborts, and shows it meanwhile. */
function waiter(name: string, signals: AbortSignal[]) {
  return tool({
    name,
    description: "Waits",
    input: z.object({}),
    effect: "pure",
    execute: (_input, { signal }) => {
      signals.push(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    },
  });
}

test("R-015, R-022, D-44 cancel is a fact of the journal, then reaches everything that runs; a signal is unset until then and tells nothing but itself", async () => {
  const signals: AbortSignal[] = [];
  const model = aModelThat(callsTools(["one", {}], ["two", {}]), says("Done."));
  await using story = await given(anAgentWith(waiter("one", signals), waiter("two", signals)), model);
  const run = await story.userSays("go");
  await story.pass(1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  expect(signals.map((signal) => JSON.stringify(signal))).toEqual(["{}", "{}"]);
  await run.cancel();
  expect((await story.journal(run)).map(({ type }) => type)).toContain("cancel-requested");
  await story.expectOutcome(run, "cancelled");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect((await story.journal(run)).at(-1)?.type).toBe("run-ended");
});

test("R-018 reading a run that is not there fails like cancelling it, and names it", async () => {
  const runtime = await open({});
  const nobody = runtime.runs.get("nobody");
  const reads = [nobody.status(), nobody.result(), nobody.terminalEvent(), runtime.runs.manifest("nobody")];
  for (const read of [...reads, nobody.cancel()]) {
    await expect(read).rejects.toMatchObject({ code: "run-not-found", details: { run: "nobody" } });
  }
});

test("R-019, D-32 the number of runs can be asked, also after a restart", async () => {
  const store = memory();
  const first = await open({ store, agents: [greeter] });
  await first.run(greeter, "hi");
  await first.start(greeter, "hi", { startAt: Date.now() + 3_600_000 });
  await first.close();
  const second = await open({ store });
  expect(await second.runs.count()).toBe(2);
  expect(await second.runs.count({ status: "done" })).toBe(1);
});

test("R-020, R-021, D-44 a run's status says whether it has ended and how; that cancel was asked for is read from the journal", async () => {
  const store = memory();
  const desk = await open({ store });
  const run = await desk.start(asker, "go");
  expect(await run.status()).toMatchObject({ status: "created", cancelRequested: false });
  await run.cancel();
  expect(await run.status()).toMatchObject({ status: "created", cancelRequested: true }); // nobody has ended it yet
  await open({ store, agents: [asker] });
  await run.result();
  expect(await run.status()).toMatchObject({ status: "done", cancelRequested: true, outcome: { kind: "cancelled" } });
});

test("R-057 what is broken inside is said, never passed over: an entry that cannot be read is named to the reader and in the log", async () => {
  warned.length = 0;
  const inner = memory();
  let isTorn = false;
  const store: StoreDefinition = {
    ...inner,
    open: async (deps) => {
      const opened = await inner.open(deps);
      const torn = () => Promise.reject(new HoldfastError("entry-unreadable", "Entry 1 is torn"));
      return { ...opened, readRun: (read) => (isTorn ? torn() : opened.readRun(read)) };
    },
  };
  const desk = await open({ store });
  const run = await desk.start(greeter, "hi");
  isTorn = true;
  await expect(run.status()).rejects.toMatchObject({ code: "entry-unreadable" });
  await open({ store, agents: [greeter] });
  await expect.poll(() => warned.join("\n")).toContain(`Run ${run.id} stopped on a defect`);
  expect((await desk.runs.list()).items).toHaveLength(1);
});

test("R-058, R-059, R-060, D-36 the store numbers the entries of a run from 1 on, without a gap; a commit gets one block, and what it expects is the number before", async () => {
  await using story = await given(anAgentWith(ask), aModelThat(callsTool("ask"), says("Done.")));
  const run = await story.userSays("go");
  await story.expectWaitingFor(run, "ask");
  const before = (await story.journal(run)).map(({ seq }) => seq);
  await story.restart();
  expect((await story.journal(run)).map(({ seq }) => seq)).toEqual(before); // looking takes no number
  await story.answer(run, "ask", "yes");
  await story.expectReply(run, "Done.");
  const entries = await story.journal(run);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
});

test("R-061, D-39 run-ended is the result's only source: every process reads the same one, and nothing comes after it", async () => {
  const store = memory();
  const worker = await open({ store, agents: [greeter] });
  const run = await worker.start(greeter, "hi");
  const result = await run.result();
  const desk = await open({ store });
  expect(await desk.runs.get(run.id).result()).toEqual(result);
  const terminal = await desk.runs.get(run.id).terminalEvent();
  expect(terminal).toMatchObject({ type: "run-ended" });
  await expect(run.send("more")).rejects.toMatchObject({ code: "run-ended" });
  await run.cancel();
  expect(await desk.runs.get(run.id).result()).toEqual(result);
});

test("R-062 an agent brings its own provider's model; one that cannot be called is refused when it is given", async () => {
  const [a, b] = ["A.", "B."].map((text, index) =>
    agent({ name: `a${index}`, model: scripted([text]), instructions: "" }),
  );
  if (!a || !b) throw new Error("two agents");
  const runtime = await open({ agents: [a, b] });
  expect(await runtime.run(a, "go")).toMatchObject({ output: "A." });
  expect(await runtime.run(b, "go")).toMatchObject({ output: "B." });
  const described = agent({ name: "c", model: { description: { provider: "p", model: "m" } }, instructions: "" });
  await expect(createRuntime({ logger, agents: [described] })).rejects.toMatchObject({ code: "invalid-options" });
});

test("R-068 a tool's code is in the tool: one name, one code, and what is no tool is refused", async () => {
  const act = (says: string) => tool({ name: "act", description: "Acts", input: z.object({}), execute: () => says });
  const model = () => scripted([{ calls: [{ tool: "act", input: {} }] }, "Done."]);
  const [one, two] = ["one", "two"].map((name) =>
    agent({ name, model: model(), instructions: "", tools: [act(name)] }),
  );
  if (!one || !two) throw new Error("two agents");
  const runtime = await open({ agents: [one, two] });
  for (const each of [one, two]) {
    const run = await runtime.start(each, "go");
    await run.result();
    const told: string[] = [];
    for await (const event of run.watch()) told.push(JSON.stringify(event));
    expect(told.join("\n")).toContain(`"value":"${each.name}"`);
  }
  const twice = () => agent({ name: "x", model: model(), instructions: "", tools: [act("a"), act("b")] });
  expect(twice).toThrow("tools[1]: the name act is used twice");
  expect(() =>
    agent({ name: "x", model: model(), instructions: "", tools: [{ spec: act("a").spec } as never] }),
  ).toThrow("tools[0]: must come from tool({ … })");
});
