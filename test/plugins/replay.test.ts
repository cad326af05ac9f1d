import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import { defaultScope } from "../../src/domain/ids.ts";
import { viewRun } from "../../src/domain/run-view.ts";
import type { Run, Runtime } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import { type TestRuntime, testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";
import { type Runner, replayWorld, type World } from "./replay-world.ts";

/** One that completes over restarts, one that is stopped, one that is cancelled, and one that still waits. */
async function playAll(t: TestRuntime, world: World): Promise<readonly Run["id"][]> {
  const start = async (text: string): Promise<Run> => t.runtime.start(world.agent, text, { thread: text });
  const completed = await start("go");
  await completed.idle();
  await t.restart();
  await approve(t, completed);
  await t.restart();
  const stopped = await start("stop after one");
  await stopped.result();
  const cancelled = await start("give up");
  await cancelled.idle();
  await (await t.runtime.runs.get(cancelled.id).cancel({ by: "ana", reason: "late" })).receipt();
  const waiting = await start("wait");
  await waiting.idle();
  return [completed, stopped, cancelled, waiting].map(({ id }) => id);
}

async function approve(t: TestRuntime, run: Run): Promise<void> {
  const [ticket] = await t.runtime.tickets.list({ run: run.id, kind: "approval", status: "open" });
  await ticket?.approve({ by: "ana" });
  await t.runtime.runs.get(run.id).result();
}

/** Everything that can be read of these runs. */
async function readAll(runtime: Runtime, { keys }: World, ids: readonly Run["id"][]): Promise<unknown> {
  const runs = [];
  for (const id of ids) {
    const run = runtime.runs.get(id);
    const status = await run.status();
    const events = [];
    const states = [];
    for await (const event of run.watch({ until: "idle" })) {
      events.push(event);
      if (event.type !== "state-changed") continue;
      const { values, get } = await run.state({ at: event.cursor });
      states.push({ values, read: Object.values(keys).map((key) => get<unknown>(key)) });
    }
    const { values } = await run.state();
    const idle = await run.idle();
    const result = idle.status === "done" ? await run.result() : undefined;
    const thread = (await runtime.threads.state(status.thread)).values;
    const { items: messages } = await runtime.threads.messages(status.thread);
    const more = { evidence: await run.evidence(), terminal: await run.terminalEvent(), thread, messages };
    runs.push({ status, events, states, values, idle, result, ...more });
  }
  const tickets = [await runtime.tickets.list(), await runtime.tickets.list({ status: "decided" })];
  const { items } = await runtime.runs.list();
  return JSON.parse(JSON.stringify({ runs, tickets, items }));
}

const everyLabel = [
  ...["a merge", "after-model", "after-run", "after-step", "after-tool", "before-end", "before-model", "before-run"],
  ...["before-step", "before-tool", "buy", "context-ready", "create", "instructions", "look", "model", "needsApproval"],
  ...["on-cancel", "on-decision", "the schema of count", "tool-gate"],
];

onEveryStore((freshStore) => {
  test("replay calls no hook, tool, provider or state key, and says the same", async () => {
    const store = freshStore();
    const lived = new Set<string>();
    const world = replayWorld((label, code) => {
      lived.add(label);
      return code();
    });
    const live = await testRuntime({ agents: [world.agent], store });
    const ids = await playAll(live, world);
    const known = await readAll(live.runtime, world, ids);
    await live.close();
    expect([...lived].sort()).toEqual(everyLabel);

    const called: string[] = [];
    let isReady = false;
    const broken: Runner = (label, code) => {
      if (!isReady) return code(); // a definition checks its own initial value
      called.push(label);
      throw new Error(`${label} must not be called`);
    };
    const dumb = replayWorld(broken);
    isReady = true;
    await using replay = await testRuntime({ agents: [dumb.agent], store });
    await replay.advance("5m");
    expect(await readAll(replay.runtime, dumb, ids)).toEqual(known);
    expect(called).toEqual([]);
    await expectFolds(replay, store, ids);
  });
});

/** The journal alone says what the runtime says. */
async function expectFolds(t: TestRuntime, store: StoreDefinition, ids: readonly Run["id"][]): Promise<void> {
  const open = await store.open({ clock: t.clock, logger: silentLogger });
  for (const run of ids) {
    const state = foldAll(await open.readRun({ scope: defaultScope, run, after: 0, limit: 1_000 }));
    expect(viewRun(state)).toEqual(await t.runtime.runs.get(run).status());
    const { values } = await t.runtime.runs.get(run).state();
    const folded = Object.entries({ ...state.threadSlots, ...state.slots }).map(([name, { value }]) => [name, value]);
    expect(Object.fromEntries(folded)).toEqual(values);
  }
  await open.close();
}
