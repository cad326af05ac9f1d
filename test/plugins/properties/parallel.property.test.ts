import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Entry } from "../../../src/domain/entry.ts";
import type { JsonValue } from "../../../src/domain/json.ts";
import { memory, plugin, stateKey, tool } from "../../../src/index.ts";
import { aModelThat, callsTools, given, says } from "../../../src/testing.ts";
import { type Commutative, commutative, keepPace, operandOf, type Pace, paces } from "./hook-plan.ts";

const numRuns = Math.ceil(Number(process.env.HOLDFAST_ORDER_PLANS ?? 60) / 2);
const timeout = 60_000 + numRuns * 100;

/** Everyone reads it and adds one: in the end it tells whether somebody's writing was lost. */
const turns = stateKey({ name: "turns", schema: z.number(), initial: 0 });
/** The same for hooks. A tool that is running overwrites what hooks set meanwhile: it has read the key before them. */
const asked = stateKey({ name: "asked", schema: z.number(), initial: 0 });
const all = Object.values(commutative);

interface Update {
  readonly key: Commutative;
  readonly operand: number;
}

interface Call {
  readonly tool: "free" | "orderly";
  readonly updates: readonly Update[];
}

/** When tools and hooks answer: by call, and for each of them before, during and after. */
type Paces = readonly Pace[];

const updates = fc.record<Update>({
  key: fc.constantFrom<Commutative>("sum", "max", "min", "union", "custom"),
  operand: fc.integer({ min: -50, max: 150 }),
});
const calls = fc.array(
  fc.record<Call>({ tool: fc.constantFrom("free", "orderly"), updates: fc.array(updates, { maxLength: 4 }) }),
  { minLength: 1, maxLength: 5 },
);

function toolsAt(pace: Paces) {
  const input = z.object({ at: z.number(), updates: z.array(z.object({ key: z.string(), operand: z.number() })) });
  const common = { description: "Write", input, effect: "pure" as const };
  const free = tool({
    ...common,
    name: "free",
    writes: all,
    async execute({ at, updates: given }, { state }) {
      await keepPace(pace[3 * at] ?? "at once");
      for (const { key, operand } of given)
        state.update(commutative[key as "sum"], operandOf(key as "sum", operand) as number);
      return at;
    },
  });
  const orderly = tool({
    ...common,
    name: "orderly",
    writes: [turns],
    async execute({ at }, { state }) {
      const before = state.get(turns);
      await keepPace(pace[3 * at] ?? "at once");
      state.set(turns, before + 1);
      return at;
    },
  });
  return [free, orderly];
}

function pluginAt(name: string, nth: 1 | 2, pace: Paces) {
  return plugin({
    name,
    state: [asked, ...all],
    create: () => ({
      hooks: {
        "before-tool": async ({ state, call }) => {
          await keepPace(pace[3 * call.index + nth] ?? "at once");
          return [commutative.sum.update(call.index), asked.set(state.get(asked) + 1)];
        },
        "after-tool": async ({ state, call }) => {
          await keepPace(pace[3 * call.index + 3 - nth] ?? "at once");
          return [commutative.union.update([100 + call.index]), asked.set(state.get(asked) + 1)];
        },
      },
    }),
  })();
}

async function play(drawn: readonly Call[], pace: Paces) {
  const plugins = [pluginAt("one", 1, pace), pluginAt("two", 2, pace)];
  const wanted = drawn.map(({ tool, updates }, at) => [tool, { at, updates }] as const);
  const model = aModelThat(callsTools(...wanted), says("bye"));
  const teller = { name: "teller", instructions: "Tell.", tools: toolsAt(pace), plugins };
  await using story = await given(teller, model, { store: memory() });
  const run = await story.userSays("go", { thread: "t" });
  const outcome = await run.result();
  const { values } = await run.state();
  const thread = (await story.t.runtime.threads.state("t")).values;
  return { outcome, values, thread, read: model.saw[1]?.messages, written: writtenIn(await story.journal(run)) };
}

/** Who wrote what; of a value that grew, only what was added to it. */
function writtenIn(entries: readonly Entry[]): readonly string[] {
  const changes = entries.flatMap((entry) => (entry.type === "state-changed" ? [entry] : []));
  return changes.map(({ key, by, change }) => `${by} ${key} ${JSON.stringify(change.operand ?? "set")}`).sort();
}

function expectedOf(drawn: readonly Call[]): Readonly<Record<string, JsonValue>> {
  const given = drawn.flatMap((call) => (call.tool === "free" ? call.updates : []));
  const of = (key: Commutative): number[] => given.flatMap((each) => (each.key === key ? [each.operand] : []));
  const indexes = drawn.map((_call, index) => index);
  const sum = of("sum").reduce((a, b) => a + b, 2 * indexes.reduce((a, b) => a + b, 0));
  const union = new Set([...of("union").map((each) => each % 7), ...indexes.map((index) => 100 + index)]);
  const taken = drawn.filter((call) => call.tool === "orderly").length;
  return {
    sum,
    asked: 4 * drawn.length,
    ...(taken > 0 ? { turns: taken } : {}),
    union: [...union].sort((a, b) => (String(a) < String(b) ? -1 : 1)),
    ...(of("max").length > 0 ? { max: Math.max(0, ...of("max")) } : {}),
    ...(of("min").length > 0 ? { min: Math.min(100, ...of("min")) } : {}),
    ...(of("custom").length > 0
      ? { custom: (((31 * of("custom").reduce((a, b) => a + b, 0)) % 997) + 997) % 997 }
      : {}),
  };
}

test(
  "M3 parallel calls whose tools and hooks write state leave the same state in any finishing order",
  async () => {
    const property = fc.asyncProperty(calls, paces, paces, async (drawn, one, other) => {
      const played = await play(drawn, one);
      expect(played.values).toEqual(expectedOf(drawn));
      expect(played.outcome).toMatchObject({ outcome: "completed" });
      expect(await play(drawn, other)).toEqual(played);
    });
    await fc.assert(property, { numRuns });
  },
  timeout,
);
