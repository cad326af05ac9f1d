/** What a hook is shown cannot be changed, and shows what there was: for itself, for others, and for the run. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Phase, phases } from "../../src/domain/phase.ts";
import { plugin } from "../../src/domain/plugin.ts";
import { agent, stateKey, tool } from "../../src/index.ts";
import { aModelThat, callsTool } from "../../src/testing/story.ts";
import { turn } from "../../src/testing/test-process.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

const bag = stateKey({ name: "bag", schema: z.object({ things: z.array(z.string()) }), initial: { things: [] } });
const shelf = stateKey({ ...{ name: "shelf", schema: z.array(z.number()), initial: [1] }, scope: "thread" });
const config = z.object({ words: z.array(z.string()), deep: z.object({ n: z.number() }) });
const context = z.object({ user: z.object({ name: z.string() }) });
const input = z.object({ list: z.array(z.number()) });

type View = Record<string, unknown> & { readonly state: { get(key: unknown): unknown } };

/** Every value that can be reached from a view, with the way to it. */
function* reachable(value: unknown, path: string, depth = 0): Iterable<readonly [string, object]> {
  if (typeof value !== "object" || value === null || depth > 8 || value instanceof AbortSignal) return;
  yield [path, value];
  for (const [key, inner] of Object.entries(value)) yield* reachable(inner, `${path}.${key}`, depth + 1);
}

function namesOf(view: object): readonly string[] {
  const found = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(view));
  return Object.keys(found).filter((name) => found[name]?.get);
}

/** Tries to change everything; answers what gave way. */
function tamper(view: View): readonly string[] {
  const soft: string[] = [];
  const parts = namesOf(view).map((name): readonly [string, unknown] => [name, shownOf(view, name)]);
  const values = [bag, shelf].map((key): readonly [string, unknown] => [key.name, view.state.get(key)]);
  for (const [name, part] of [...parts, ...values]) {
    if (parts.some(([known]) => known === name) && Reflect.set(view, name, "mine")) soft.push(name);
    for (const [path, value] of reachable(part, name)) {
      if (!Object.isFrozen(value)) soft.push(path);
      Reflect.set(value, "mine", true);
      if (Array.isArray(value)) Reflect.set(value, "length", 0);
      for (const key of Object.keys(value)) Reflect.set(value, key, "mine");
    }
  }
  return soft;
}

/** Some of a view is there in its own phase only. */
function shownOf(view: View, name: string): unknown {
  try {
    return view[name];
  } catch {
    return undefined;
  }
}

describe("everything in a view is fixed", () => {
  test.each(phases)("in %s", async (phase) => {
    const tampered: (readonly string[])[] = [];
    const seen: string[] = [];
    const breaker = plugin({
      name: "breaker",
      config,
      state: [bag, shelf],
      create: () => ({ hooks: { [phase]: (view: View) => void tampered.push(tamper(view)) } }),
    })({ words: ["a"], deep: { n: 1 } });
    const witness = plugin({
      name: "witness",
      config,
      state: [bag, shelf],
      create: () => ({ hooks: { [phase]: (view: View) => void seen.push(JSON.stringify(shownTo(view))) } }),
    })({ words: ["a"], deep: { n: 1 } });
    const alone = await story(phase, [witness]);
    const [undisturbed] = seen.splice(0);
    const disturbed = await story(phase, [breaker, witness]);
    expect(tampered.length).toBeGreaterThan(0);
    expect([...new Set(tampered.flat())]).toEqual([]);
    expect(seen[0]).toBe(undisturbed);
    expect(disturbed).toEqual(alone);
  });
});

function shownTo(view: View): unknown {
  const parts = namesOf(view).filter((name) => name !== "signal");
  return [...parts.map((name) => [name, shownOf(view, name)]), view.state.get(bag), view.state.get(shelf)];
}

/** A run with everything in it that can be shown; answers what came of it. */
async function story(phase: Phase, plugins: Parameters<typeof agent>[0]["plugins"]): Promise<unknown> {
  const told: unknown[] = [];
  const { model, saw } = aModelThat({ text: "I look.", calls: [{ tool: "look", input: { list: [1] } }] }, "Done.");
  const look = tool({
    name: "look",
    description: "Look",
    input,
    effect: "pure",
    needsApproval: true,
    writes: [bag],
    execute: (given, { state, context: shown }) => {
      told.push(given, shown);
      state.set(bag, { things: ["one"] });
      return { seen: [1, 2] };
    },
  });
  const options = { name: "teller", tools: [look], context, ...(plugins ? { plugins } : {}) };
  const teller = agent({ ...options, instructions: ({ user }) => `Tell ${user.name}.`, model });
  await using t = await testRuntime({ agents: [teller] });
  const run = await t.runtime.start(teller, "go", { context: { user: { name: "Ana" } } });
  const idle = await run.idle();
  const [ticket] = idle.status === "waiting" ? idle.tickets : [];
  if (phase === "on-cancel") await (await run.cancel({ by: "ana" })).receipt();
  else if (ticket?.kind === "approval") await ticket.approve({ by: "ana" });
  return { told, saw, result: await run.result() };
}

test("a view that is looked at later shows what there was when the hook was called", async () => {
  const later: string[] = [];
  const first: string[] = [];
  const pending: Promise<void>[] = [];
  const watcher = plugin({
    name: "watcher",
    state: [bag, shelf],
    create: () => ({
      hooks: Object.fromEntries(
        ["before-run", "before-step", "before-model", "after-model", "before-tool", "after-tool", "after-step"].map(
          (phase) => [
            phase,
            (untyped: unknown) => {
              const view = untyped as View;
              // Half of them were looked at before, half of them were not.
              const mine = first.length;
              first.push(phase === "after-model" || phase === "before-step" ? "" : JSON.stringify(shownTo(view)));
              pending.push(
                untilTheEnd().then(() => {
                  later[mine] = JSON.stringify(shownTo(view));
                }),
              );
              return undefined;
            },
          ],
        ),
      ),
    }),
  })();
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const untilTheEnd = async (): Promise<void> => {
    await ended;
    await turn();
  };
  await story("before-run", [watcher]);
  end();
  await Promise.all(pending);
  expect(first.length).toBe(11);
  for (const [index, shown] of first.entries()) if (shown !== "") expect(later[index]).toBe(shown);
  // What was not looked at in time has not moved on either: each still shows its own moment.
  const messagesSeen = later.map(
    (shown) => JSON.parse(shown).find(([name]: [string]) => name === "messages")[1].length,
  );
  expect(messagesSeen).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4]);
});

test("a tool sees state that it cannot change by hand", async () => {
  const attempts: unknown[] = [];
  const poke = tool({
    name: "poke",
    description: "Poke",
    input: z.object({}),
    effect: "pure",
    writes: [bag],
    execute: (_input, { state }) => {
      const value = state.get(bag);
      attempts.push(Object.isFrozen(value), Object.isFrozen(value.things));
      const mine = { things: ["kept"] };
      state.set(bag, mine);
      mine.things.push("changed later");
      attempts.push(state.get(bag));
      return "poked";
    },
  });
  const { model } = aModelThat(callsTool("poke"), "Done.");
  const teller = agent({ name: "teller", instructions: "Tell.", model, tools: [poke] });
  await using t = await testRuntime({ agents: [teller] });
  const run = await t.runtime.start(teller, "go");
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  expect(attempts).toEqual([true, true, { things: ["kept"] }]);
  expect(await run.state()).toMatchObject({ values: { bag: { things: ["kept"] } } });
});
