/** An agent all of whose code passes one place, so that a test can count it, or make it fail. */
import { z } from "zod";
import type { StandardSchema } from "../../src/domain/standard-schema.ts";
import { type Agent, agent, type Hooks, type Model, plugin, stateKey, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

/** What runs user code: `label` says which. */
export type Runner = <T>(label: string, code: () => T) => T;

export interface World {
  readonly agent: Agent;
  readonly keys: ReturnType<typeof keysFor>;
}

function keysFor(runs: Runner) {
  const numbers = checked(z.number(), "the schema of count", runs);
  return {
    count: stateKey({ name: "count", schema: numbers, initial: 0, merge: "sum" }),
    seen: stateKey({ name: "seen", schema: z.array(z.string()), initial: [], scope: "thread" }),
    tally: stateKey({
      name: "tally",
      schema: z.record(z.string(), z.number()),
      initial: {},
      merge: (known: Record<string, number>, word: string) =>
        runs("a merge", () => ({ ...known, [word]: (known[word] ?? 0) + 1 })),
    }),
  };
}

function checked<Schema extends StandardSchema>(schema: Schema, label: string, runs: Runner): Schema {
  const { validate, ...rest } = schema["~standard"];
  return { ...schema, "~standard": { ...rest, validate: (value: unknown) => runs(label, () => validate(value)) } };
}

const waitingPhases = ["before-run", "before-step", "context-ready", "before-model", "after-model"] as const;
const laterPhases = ["before-tool", "after-tool", "after-step", "before-end", "on-decision"] as const;

export function replayWorld(runs: Runner): World {
  const keys = keysFor(runs);
  const counting: Hooks = Object.fromEntries(
    [...waitingPhases, ...laterPhases].map((phase) => [
      phase,
      () => runs(phase, () => [keys.count.update(1), keys.tally.update(phase)]),
    ]),
  );
  const counter = plugin({
    name: "counter",
    state: [keys.count, keys.seen, keys.tally],
    create: () => runs("create", () => ({ hooks: { ...counting, ...extra(keys, runs) } })),
  });
  return {
    keys,
    agent: agent({
      name: "counted",
      model: counted(runs),
      instructions: () => runs("instructions", () => "Count."),
      tools: toolsFor(keys, runs),
      plugins: [counter()],
    }),
  };
}

function extra({ seen }: World["keys"], runs: Runner): Hooks {
  return {
    "tool-gate": ({ call }) =>
      runs("tool-gate", () => (call.tool === "forbidden" ? { type: "deny", reason: "No." } : undefined)),
    "after-step": ({ state, step, messages }) =>
      runs("after-step", () => {
        const isEnough = JSON.stringify(messages[0]).includes("stop after one");
        const stop = isEnough ? [{ type: "stop", code: "enough" } as const] : [];
        return [seen.set([...state.get(seen), `step ${step}`]), ...stop];
      }),
    "on-cancel": ({ state }) => runs("on-cancel", () => seen.set([...state.get(seen), "cancelled"])),
    "after-run": () => runs("after-run", () => undefined),
  };
}

function toolsFor({ count, tally }: World["keys"], runs: Runner) {
  const input = z.object({});
  const look = tool({
    name: "look",
    description: "Look",
    input,
    effect: "pure",
    writes: [count, tally],
    execute: (_input, { state }) =>
      runs("look", () => {
        state.update(count, 10);
        state.update(tally, "look");
        return "seen";
      }),
  });
  const forbidden = tool({ name: "forbidden", description: "No", input, execute: () => runs("forbidden", () => null) });
  const buy = tool({
    name: "buy",
    description: "Buy",
    input,
    effect: "idempotent",
    needsApproval: () => runs("needsApproval", () => true),
    execute: () => runs("buy", () => "bought"),
  });
  return [look, forbidden, buy];
}

function counted(runs: Runner): Model {
  const { description, call } = scripted([
    { calls: [{ tool: "look" }, { tool: "look" }, { tool: "forbidden" }] },
    { calls: [{ tool: "buy" }] },
    "Bye.",
  ]);
  return { description, call: (request, signal) => runs("model", () => call(request, signal)) };
}
