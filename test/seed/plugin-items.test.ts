/** The seeds' items about phases, plugins and state, each by its id. What we do otherwise on purpose names its D-row. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope } from "../../src/domain/ids.ts";
import { readAfter } from "../../src/engine/load.ts";
import { phaseTable } from "../../src/engine/phases.ts";
import { agent, type ConfiguredPlugin, memory, plugin, stateKey, tool } from "../../src/index.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "seen" });
const steps = stateKey({ name: "steps", schema: z.number(), initial: 0, merge: "sum" });
const notes = stateKey({ name: "notes", schema: z.array(z.string()), initial: [], scope: "thread" });

function looker(...plugins: readonly ConfiguredPlugin[]) {
  const model = scripted([{ calls: [{ tool: "look" }] }, "done"]);
  return agent({ name: "looker", model, instructions: "Look.", tools: [look], plugins });
}

interface Played {
  readonly entries: readonly Entry[];
  /** As they were committed together. */
  readonly commits: readonly (readonly string[])[];
  readonly outcome: string;
  readonly values: Readonly<Record<string, unknown>>;
}

async function play(one: ReturnType<typeof looker>): Promise<Played> {
  const commits: string[][] = [];
  const opened: Store[] = [];
  const inner = memory();
  const store: StoreDefinition = {
    ...inner,
    async open(parts) {
      const real = await inner.open(parts);
      opened.push(real);
      return {
        ...real,
        commit: (what) => {
          commits.push(what.entries.map(({ type }) => type));
          return real.commit(what);
        },
      };
    },
  };
  await using t = await testRuntime({ agents: [one], store });
  const run = await t.runtime.start(one, "go");
  const { outcome } = await run.result();
  const { values } = await run.state();
  const entries = await readAfter({ scope: defaultScope, run: run.id }, 0, opened[0] as Store);
  return { entries, commits, outcome, values };
}

test("C-001 C-002 C-003 a step ends: the counter has moved, then the hooks are asked, then one commit holds it all", async () => {
  const seen: unknown[] = [];
  const watching = plugin({
    name: "watching",
    state: [steps],
    create: () => ({
      hooks: {
        "after-step": ({ stepsEnded, run, messages }) => {
          seen.push([stepsEnded, run.agent, messages.at(-1)?.role]);
          return steps.update(1);
        },
      },
    }),
  });
  const { commits, values } = await play(looker(watching()));
  expect(seen).toEqual([
    [1, "looker", "tool"],
    [2, "looker", "assistant"],
  ]);
  const ending = commits.find((types) => types.includes("step-ended")) ?? [];
  expect(ending.indexOf("step-ended")).toBeLessThan(ending.indexOf("state-changed"));
  expect(ending.indexOf("state-changed")).toBeLessThan(ending.indexOf("command-applied"));
  expect(values).toEqual({ steps: 2 });
});

test("C-004 a step-end phase that fails stops the sequence: no further step begins", async () => {
  const failing = plugin({
    name: "failing",
    create: () => ({
      hooks: {
        "after-step": () => {
          throw new Error("no");
        },
      },
    }),
  });
  const { entries, outcome } = await play(looker(failing()));
  expect(outcome).toBe("failed");
  expect(entries.filter(({ type }) => type === "step-started")).toHaveLength(1);
});

test("C-010 state that cannot be stored is an error of its phase, and nothing of it is committed", async () => {
  const bad = plugin({
    name: "bad",
    state: [notes],
    create: () => ({ hooks: { "after-step": () => notes.set([1 as never]) } }),
  });
  const { entries, outcome } = await play(looker(bad()));
  expect(outcome).toBe("failed");
  expect(entries.some(({ type }) => type === "state-changed")).toBe(false);
});

test("C-023 C-048 D-02 D-15 what is stored and told is the change; the whole is there on demand", async () => {
  const writing = plugin({
    name: "writing",
    state: [steps, notes],
    create: () => ({
      hooks: { "after-step": ({ state, step }) => [steps.update(1), notes.set([...state.get(notes), `step ${step}`])] },
    }),
  });
  const { entries, values } = await play(looker(writing()));
  expect(entries.filter(({ type }) => type === "state-changed")).toHaveLength(4);
  expect(values).toEqual({ steps: 2, notes: ["step 1", "step 2"] });
});

test("R-007 XS-32 D-30 what a plugin contributes is checked before a run starts, and every problem is named", () => {
  const needy = plugin({ name: "needy", requires: ["other"] });
  expect(() => looker(needy(), needy())).toThrow(
    /needy is used twice.*needs the plugin other|needs the plugin other.*used twice/s,
  );
});

test("R-069 R-071 without plugins a run has none, and nothing is asked", async () => {
  const { entries } = await play(looker());
  expect(entries.some(({ type }) => type === "command-applied" || type === "state-changed")).toBe(false);
});

test.each([
  "__runtime.run_lifecycle",
  "__runtime.tool_call_states",
  "__runtime.context_throttle",
  "__runtime.context_message_store",
  "__runtime.pending_work",
  "holdfast.anything",
])("XA-23 the runtime's own state key %s is refused", (name) => {
  expect(() => stateKey({ name, schema: z.number(), initial: 0 })).toThrow("name: must match");
});

test("XA-24 XA-25 state is typed, a snapshot is a map of key to JSON, and keys that nobody here knows are kept", async () => {
  const writing = plugin({
    name: "writing",
    state: [steps],
    create: () => ({ hooks: { "before-run": () => steps.update(7) } }),
  });
  const asking = tool({ name: "ask", description: "Ask", input: z.object({}) });
  const model = scripted([{ calls: [{ tool: "ask" }] }, "done"]);
  const first = agent({ name: "looker", model, instructions: "Look.", tools: [asking], plugins: [writing()] });
  const store = memory();
  const ids = await (async () => {
    await using t = await testRuntime({ agents: [first], store });
    const run = await t.runtime.start(first, "go");
    await run.idle();
    return run.id;
  })();
  const later = agent({ name: "looker", model, instructions: "Look.", tools: [asking] });
  await using t = await testRuntime({ agents: [later], store });
  expect((await t.runtime.runs.get(ids, later).state()).values).toEqual({ steps: 7 });
});

test("XA-26 the phases are a table, and a hook's view has what the seed's context has", async () => {
  expect(Object.keys(phaseTable)).toHaveLength(15);
  let seen: Readonly<Record<string, unknown>> = {};
  const watching = plugin({
    name: "watching",
    config: z.object({ tag: z.string() }),
    state: [steps],
    create: () => ({
      hooks: {
        "after-tool": (view) => {
          const { phase, config, run, messages, call, signal } = view;
          seen = { phase, config, run: run.agent, messages: messages.length, call, aborted: signal.aborted };
          return steps.update(view.state.get(steps) + 1);
        },
      },
    }),
  });
  await play(looker(watching({ tag: "x" })));
  expect(seen).toMatchObject({
    phase: "after-tool",
    config: { tag: "x" },
    run: "looker",
    call: { tool: "look", input: {}, attempt: 1, result: { kind: "value", value: "seen" } },
    aborted: false,
  });
});

test("XA-27 D-18 a plugin is a factory: one instance for each run, closed when the run has left", async () => {
  const made: string[] = [];
  const counted = plugin({
    name: "counted",
    create: (_config, run) => {
      made.push(`made for ${run.id}`);
      return { close: () => void made.push(`closed for ${run.id}`) };
    },
  });
  const one = looker(counted());
  await using t = await testRuntime({ agents: [one] });
  const runs = await Promise.all([t.runtime.start(one, "a"), t.runtime.start(one, "b")]);
  await Promise.all(runs.map((run) => run.result()));
  await t.settle();
  for (const { id } of runs) {
    expect(made.filter((each) => each === `made for ${id}`)).toHaveLength(1);
    expect(made.filter((each) => each === `closed for ${id}`)).toHaveLength(1);
  }
});

test("XA-28 what a plugin sends arrives once in the inbox, as an internal message of a user", async () => {
  const sending = plugin({
    name: "sending",
    create: () => ({
      hooks: {
        "before-run": ({ run }) => ({ type: "send-input", run: run.id, message: "by the way" }),
      },
    }),
  });
  const slow = tool({
    name: "look",
    description: "Look",
    input: z.object({}),
    needsApproval: true,
    execute: () => "seen",
  });
  const model = scripted([{ calls: [{ tool: "look" }] }, "done", "and this"]);
  const one = agent({ name: "looker", model, instructions: "Look.", tools: [slow], plugins: [sending()] });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  await run.idle();
  await t.advance("2m");
  const [ticket] = await t.runtime.tickets.list({ status: "open" });
  if (ticket?.kind !== "approval") throw new Error("no approval");
  await ticket.approve();
  const result = run.result();
  await t.advance("2m");
  expect(await result).toMatchObject({ outcome: "completed" });
  const received: unknown[] = [];
  for await (const event of run.watch()) if (event.type === "input-received") received.push(event.message);
  expect(received).toEqual([expect.objectContaining({ role: "user", visibility: "internal" })]);
});
