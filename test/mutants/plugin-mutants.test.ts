/** Mutants about plugins: one promise of theirs broken in a port or in the engine; a named check must notice. */
import { describe, expect, test, vi } from "vitest";
import type { EntryBody } from "../../src/domain/entry.ts";
import type * as load from "../../src/engine/load.ts";
import type * as moments from "../../src/engine/moments.ts";
import { writeState } from "../../src/engine/write-state.ts";
import type { OpenPlugin, PluginRunner } from "../../src/ports/plugin-runner.ts";
import type { CommitAnswer, Store } from "../../src/ports/store.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import type { Wrap } from "../../src/testing/sim/wrap.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import { hunt, type Mutant } from "./mutant.ts";

type TakeRan = typeof moments.takeRan;
type LoadRest = typeof load.loadRest;

/** What the engine does instead, while a mutant is hunted. */
const instead = vi.hoisted(() => ({
  takeRan: undefined as ((real: TakeRan) => TakeRan) | undefined,
  loadRest: undefined as ((real: LoadRest) => LoadRest) | undefined,
}));
vi.mock("../../src/engine/moments.ts", async (original) => {
  const real = await original<typeof moments>();
  const takeRan: TakeRan = (...args) => (instead.takeRan?.(real.takeRan) ?? real.takeRan)(...args);
  return { ...real, takeRan };
});
vi.mock("../../src/engine/load.ts", async (original) => {
  const real = await original<typeof load>();
  const loadRest: LoadRest = (...args) => (instead.loadRest?.(real.loadRest) ?? real.loadRest)(...args);
  return { ...real, loadRest };
});

function withRunner(change: (runner: PluginRunner) => Partial<PluginRunner>): Wrap {
  return { agent: (agent) => ({ ...agent, plugins: { ...agent.plugins, ...change(agent.plugins) } }) };
}

function withStore(change: (store: Store) => Partial<Store>): Wrap {
  return {
    async store({ clock }) {
      const store = await memory().open({ clock, logger: silentLogger });
      return { ...store, ...change(store) };
    },
  };
}

/** The first run's instances serve every run of the agent, and every claim. */
const sharedInstances = withRunner((runner) => {
  let shared: readonly OpenPlugin[] | undefined;
  return {
    open: (run) => {
      shared ??= runner.open(run);
      return shared;
    },
  };
});

/** A hook that is waited for sees what the last one that was asked sees. */
const sharedViews = withRunner((runner) => {
  let latest: unknown;
  return {
    open: (run) =>
      runner.open(run).map((plugin) => ({
        ...plugin,
        hooks: new Map(
          [...plugin.hooks].map(([phase, hooks]) => [
            phase,
            hooks.map((hook) => (view: Parameters<typeof hook>[0]) => {
              latest = view.state;
              const state = { get: (key: never) => (latest as typeof view.state).get(key) };
              const get = (_view: object, name: PropertyKey): unknown =>
                name === "state" ? state : Reflect.get(view, name);
              return hook(new Proxy<typeof view>(view, { get }));
            }),
          ]),
        ),
      })),
  };
});

/** Of a commit that is behind, the writes of state are kept all the same. */
const writtenWhenBehind: Wrap = {
  ports: (ports) => ({
    ...ports,
    store: {
      ...ports.store,
      async commit(asked): Promise<CommitAnswer> {
        const answer = await ports.store.commit(asked);
        const entries = asked.entries.filter(isOfRun);
        if (answer.kind !== "behind" || entries.length === 0) return answer;
        const expectedSeq = asked.expectedSeq + answer.entries.length;
        const { deliveries: _deliveries, successor: _successor, ...bare } = asked;
        const kept = await ports.store.commit({ ...bare, expectedSeq, entries });
        if (kept.kind !== "committed") return answer;
        const { at } = kept;
        const more = entries.map((body, index) => ({ seq: expectedSeq + 1 + index, at, epoch: asked.epoch, ...body }));
        return { kind: "behind", entries: [...answer.entries, ...more] };
      },
    },
  }),
};

function isOfRun(entry: EntryBody): boolean {
  return entry.type === "state-changed" && entry.scope === "run";
}

/** M1, M2: what was said is written, and that it was said is only remembered. */
const markInMemory: typeof instead.takeRan = (real) => (draft, order, ran) => {
  if (ran.kind === "failed") return real(draft, order, ran);
  const writes = ran.commands.flatMap(({ plugin, command }) =>
    command.type === "set-state" ? [{ by: plugin, write: command }] : [],
  );
  writeState(draft, writes);
  draft.quiet.add(order.id);
};

/** M3: nobody looks whether another has written meanwhile. */
const noConflicts: typeof instead.takeRan = (real) => (draft, order, ran) =>
  real(draft, order, ran.kind === "failed" ? ran : { ...ran, seen: new Map() });

/** Whoever takes a run up has forgotten which moments are over. */
const forgetsMoments: typeof instead.loadRest = (real) => async (key, found, deps) => {
  const loaded = await real(key, found, deps);
  const { state } = loaded;
  return { ...loaded, state: { ...state, plugins: { ...state.plugins, passed: [] } } };
};

/** A thread is given the state of any thread. */
const anyThread = withStore((store) => {
  const threads = new Set<Parameters<Store["threadState"]>[0]["thread"]>();
  return {
    async threadState(key) {
      threads.add(key.thread);
      const all = await Promise.all([...threads].map((thread) => store.threadState({ ...key, thread })));
      return all.findLast((slots) => slots.length > 0) ?? [];
    },
  };
});

/** Of a thread's state one key is forgotten. */
const forgottenKey = withStore((store) => ({
  threadState: async (key) => (await store.threadState(key)).slice(1),
}));

interface PluginMutant extends Mutant {
  readonly engine?: Partial<typeof instead>;
}

const none: Wrap = {};

const mutants: readonly PluginMutant[] = [
  { name: "instances shared between runs", wrap: sharedInstances, caughtBy: "plugin-isolation", within: 200 },
  { name: "instances shared between claims", wrap: sharedInstances, caughtBy: "plugin-instance", within: 200 },
  { name: "views shared between hooks", wrap: sharedViews, caughtBy: "plugin-view", within: 200 },
  { name: "state written although behind", wrap: writtenWhenBehind, caughtBy: "moment-whole", within: 400 },
  {
    name: "moments marked in memory only",
    wrap: none,
    engine: { takeRan: markInMemory },
    caughtBy: "moment-passed",
    within: 50,
  },
  { name: "no conflicts", wrap: none, engine: { takeRan: noConflicts }, caughtBy: "state-exact", within: 200 },
  { name: "moments forgotten", wrap: none, engine: { loadRest: forgetsMoments }, caughtBy: "moment-once", within: 200 },
  { name: "any thread's state", wrap: anyThread, caughtBy: "plugin-isolation", within: 200 },
  { name: "a key of the thread forgotten", wrap: forgottenKey, caughtBy: "state-fold", within: 50 },
];

describe("a broken promise about plugins is caught", () => {
  test.each(mutants)("$name: $caughtBy", { timeout: 120_000 }, async ({ engine, ...mutant }) => {
    Object.assign(instead, engine);
    const healthy = (): void => void Object.assign(instead, { takeRan: undefined, loadRest: undefined });
    const caught = await hunt({ ...mutant, plugins: true }, healthy).finally(healthy);
    expect(caught, `${mutant.name} was not caught in ${mutant.within} schedules`).toBeDefined();
    console.log(`${mutant.name}: caught at seed ${caught?.seed} by ${caught?.checks.join(", ")}`);
    expect(caught?.healthy).toBeUndefined();
    expect(caught?.checks).toContain(mutant.caughtBy);
  });
});
