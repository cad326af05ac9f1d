/**
 * An agent whose plugins count, add up, schedule and remind, and whose code stops at gates: each is a quiet point, at which
 * a process can be killed.
 */
import { z } from "zod";
import {
  type Agent,
  agent,
  type Hooks,
  type Model,
  type ModelRequest,
  type PhaseView,
  plugin,
  stateKey,
  tool,
} from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

export const visits = stateKey({
  name: "visits",
  schema: z.record(z.string(), z.number()),
  initial: {},
  merge: (known: Record<string, number>, phase: string) => ({ ...known, [phase]: (known[phase] ?? 0) + 1 }),
});
export const total = stateKey({ name: "total", schema: z.number(), initial: 0, merge: "sum" });
export const diary = stateKey({ name: "diary", schema: z.array(z.string()), initial: [], scope: "thread" });
/** The last step in which something was done. */
export const doneIn = stateKey({ name: "doneIn", schema: z.number(), initial: -1 });

export interface Gate {
  /** Holds whoever comes, until somebody opens. */
  pass(label: string): Promise<void>;
  /** What a model is asked. */
  saw(request: ModelRequest): void;
}

/** Every phase counts itself; exclusive keys are written only where nothing else can write them. */
function keeperHooks({ pass }: Gate): Hooks {
  return {
    "before-run": async () => {
      await pass("before-run");
      return [
        visits.update("before-run"),
        { type: "schedule", phase: "after-step", command: total.update(100) },
        { type: "schedule", phase: "before-end", command: total.update(1_000) },
        { type: "schedule", phase: "after-tool", command: { type: "rewrite-result", value: "rewritten ahead" } },
        { type: "add-context", key: "always", text: "Be brief.", persistent: true, priority: -1 },
        { type: "add-context", key: "first", text: "This is new to you.", consumeOnce: true },
      ];
    },
    "before-step": async ({ step }) => {
      await pass("before-step");
      return [
        visits.update("before-step"),
        { type: "add-context", key: "rarely", text: "Mind the gap.", cooldown: 1, target: "session" },
        { type: "schedule", phase: "after-model", command: total.update(step) },
      ];
    },
    "context-ready": async ({ state }) => {
      await pass("context-ready");
      const settings = { total: state.get(total) };
      return [visits.update("context-ready"), { type: "patch-request", settings }];
    },
    "after-model": async ({ state, step }) => {
      await pass("after-model");
      return [visits.update("after-model"), diary.set([...state.get(diary), `reply ${step}`])];
    },
    "before-tool": async ({ step }) => {
      await pass("before-tool");
      return [visits.update("before-tool"), doneIn.set(step)];
    },
    "after-tool": async ({ state, call }) => {
      await pass("after-tool");
      const isFirst = state.get(visits)["after-tool"] === undefined;
      const again = isFirst && call.index === 0 ? [{ type: "retry", reason: "Look again" } as const] : [];
      return [visits.update("after-tool"), ...again];
    },
    "after-step": async ({ state, step, usage }) => {
      await pass("after-step");
      const spent = `step ${step}: ${usage.outputTokens} tokens`;
      return [visits.update("after-step"), diary.set([...state.get(diary), spent])];
    },
    "before-end": async ({ stepsEnded }) => {
      await pass("before-end");
      if (stepsEnded > 3) return [visits.update("before-end")];
      return [visits.update("before-end"), { type: "continue", message: "Go on." }];
    },
    "on-decision": async ({ state, by }) => {
      await pass("on-decision");
      return [visits.update("on-decision"), diary.set([...state.get(diary), `${by} decided`])];
    },
  };
}

/** Has nothing to say at any of its moments, unless it is asked later than it should be. */
function shyHooks({ pass }: Gate): Hooks {
  const late = (phase: string) => async (view: PhaseView) => {
    await pass(`shy ${phase}`);
    return view.state.get(doneIn) === view.step ? [visits.update(`late ${phase}`)] : undefined;
  };
  return {
    "before-run": late("before-run"),
    "before-step": late("before-step"),
    "context-ready": late("context-ready"),
    "before-model": late("before-model"),
    "after-model": late("after-model"),
    "on-decision": late("on-decision"),
    "after-tool": async () => pass("shy after-tool"),
    "after-step": async () => pass("shy after-step"),
  };
}

export type Crew = "keeper and shy" | "shy";

export function resumeAgent(gate: Gate, crew: Crew): Agent {
  const keys = [visits, total, diary, doneIn];
  const keeper = plugin({ name: "keeper", state: keys, create: () => ({ hooks: keeperHooks(gate) }) });
  const shy = plugin({ name: "shy", state: [visits], create: () => ({ hooks: shyHooks(gate) }) });
  const look = tool({
    name: "look",
    description: "Look",
    input: z.object({ at: z.number() }),
    effect: "pure",
    writes: [total, doneIn],
    async execute({ at }, { state, step }) {
      await gate.pass("look");
      state.update(total, at);
      state.set(doneIn, step);
      return `saw ${at}`;
    },
  });
  const buy = tool({
    name: "buy",
    description: "Buy",
    input: z.object({}),
    effect: "idempotent",
    needsApproval: true,
    writes: [doneIn],
    async execute(_input, { state, step }) {
      await gate.pass("buy");
      state.set(doneIn, step);
      return "bought";
    },
  });
  const answers = [
    { calls: [{ tool: "look", input: { at: 10_000 } }] },
    { calls: [{ tool: "buy" }] },
    "Is that all?",
    "Bye.",
  ];
  return agent({
    name: "resumer",
    instructions: "Resume.",
    model: held(scripted(answers), gate),
    tools: [look, buy],
    plugins: crew === "shy" ? [shy()] : [keeper(), shy()],
  });
}

function held(model: Model, gate: Gate): Model {
  return {
    description: model.description,
    async *call(request, signal) {
      gate.saw(request);
      await gate.pass("model");
      yield* model.call(request, signal);
    },
  };
}
