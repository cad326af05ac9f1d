/**
 * Code that does not fit the runs it finds: a plugin that cannot be created, state that it cannot read. The run is set aside with
 * agent, plugin or key named; nothing of it is lost, and a version that fits goes on with it.
 */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type ConfiguredPlugin, type PluginInstance, plugin } from "../../src/domain/plugin.ts";
import { type Agent, agent, memory, type StateKey, stateKey, tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import type { Run, Ticket } from "../../src/runtime/runtime.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";
import { aModelThat, callsTool } from "../../src/testing/story.ts";
import { countingIds, startProcess, type TestProcess } from "../../src/testing/test-process.ts";
import { freshFiles } from "../scenarios/stores.ts";

interface Service {
  /** The process that was there is closed; this one has the same store. */
  deploy(code: Agent<string>): Promise<void>;
  start(thread?: string): Promise<Run>;
  ticket<Kind extends Ticket["kind"]>(run: Run, kind: Kind): Promise<Extract<Ticket, { kind: Kind }>>;
  result(run: Run): ReturnType<Run["result"]>;
  [Symbol.asyncDispose](): Promise<void>;
}

function service(store: StoreDefinition): Service {
  const clock = createFakeClock();
  const ids = countingIds();
  let process: TestProcess | undefined;
  let code: Agent<string> | undefined;
  const current = ({ id }: Run): Run => (process as TestProcess).runtime.runs.get(id, code as Agent<string>);
  const patience = (): { signal: AbortSignal } => ({ signal: AbortSignal.timeout(5_000) });
  return {
    async deploy(next) {
      await process?.runtime.close();
      code = next;
      process = await startProcess({ store, agents: [next], clock, ids, settings: { pollMs: 60_000 } });
    },
    start: (thread) =>
      (process as TestProcess).runtime.start(code as Agent<string>, "go", thread === undefined ? {} : { thread }),
    async ticket(run, kind) {
      const idle = await current(run).idle(patience());
      if (idle.status === "done") throw new Error(`It is done: ${JSON.stringify(idle.result)}`);
      const found = idle.tickets.find((each) => each.kind === kind);
      if (!found) throw new Error(`It waits for ${idle.tickets.map((each) => `${each.kind}: ${each.prompt}`)}`);
      return found as never;
    },
    result: (run) => current(run).result(patience()),
    [Symbol.asyncDispose]: async () => process?.runtime.close(),
  };
}

let executed = 0;
const pay = tool({
  name: "pay",
  description: "Pay",
  input: z.object({}),
  needsApproval: true,
  execute: () => {
    executed += 1;
    return "paid";
  },
});

function teller(...plugins: readonly ConfiguredPlugin[]): Agent<string> {
  executed = 0;
  const { model } = aModelThat(callsTool("pay"), "Done.");
  return agent({ name: "teller", instructions: "Tell.", model, tools: [pay], plugins });
}

const trap = (): never => {
  throw new Error("trapped");
};
const hook = (): undefined => undefined;
const sly = new Proxy({}, { get: trap, ownKeys: trap, has: trap, getPrototypeOf: trap });

function guard(create: () => unknown): ConfiguredPlugin {
  return plugin({ name: "guard", create: create as () => PluginInstance })();
}

const broken: Readonly<Record<string, readonly [() => unknown, RegExp]>> = {
  throws: [trap, /could not be created: trapped/],
  "throws nothing": [() => Promise.reject.call(undefined), /could not be created: /],
  "answers nothing": [() => undefined, /could not be created: options must be an object/],
  "answers null": [() => null, /could not be created: options must be an object/],
  "answers a number": [() => 7, /could not be created: options must be an object/],
  "answers a list": [() => [], /could not be created: options must be an object/],
  "answers a promise": [async () => ({ hooks: { "before-run": hook } }), /could not be created: .*promise/],
  "answers a promise that rejects": [async () => trap(), /could not be created: .*promise/],
  "answers what it should not": [() => ({ hook }), /hook: unknown option; known are hooks, policy, transform, close/],
  "answers a proxy that throws": [() => sly, /could not be created: /],
  "has an unknown phase": [
    () => ({ hooks: { "before-lunch": hook } }),
    /hooks\.before-lunch: unknown option; known are before-run, /,
  ],
  "has hooks that are null": [() => ({ hooks: null }), /hooks/],
  "has hooks that are a list": [() => ({ hooks: [hook] }), /hooks\.options must be an object|hooks\.0: unknown/],
  "has hooks that throw": [
    () => ({
      get hooks(): never {
        return trap();
      },
    }),
    /could not be created: .*trapped/,
  ],
  "has a hook that is none": [() => ({ hooks: { "before-run": {} } }), /hooks\.before-run: must be a function/],
  "has a hook that is null": [() => ({ hooks: { "before-run": null } }), /hooks\.before-run: must be a function/],
  "has a list of hooks with something else": [
    () => ({ hooks: { "before-run": [hook, 7] } }),
    /hooks\.before-run: must be a function/,
  ],
  "has an unknown policy": [() => ({ policy: { "tool-gate": hook } }), /policy\.tool-gate: unknown option/],
  "has a policy that is none": [() => ({ policy: { "tool-call": true } }), /policy\.tool-call: must be a function/],
  "has a policy that is null": [() => ({ policy: null }), /policy/],
  "has a transform that is none": [() => ({ transform: {} }), /transform: must be a function/],
  "has a close that is none": [() => ({ close: 7 }), /close: must be a function/],
};

describe.each(Object.entries(broken))("a plugin that %s when it is created", (_what, [create, says]) => {
  test("sets the run aside with agent and plugin named; another version goes on with it", async () => {
    await using t = service(memory());
    await t.deploy(teller(guard(create)));
    const run = await t.start();
    const first = await t.ticket(run, "quarantined");
    expect(first.prompt).toMatch(/^Agent teller: Plugin guard could not be created: /);
    expect(first.prompt).toMatch(says);
    expect(first.prompt.length).toBeLessThan(2_000);
    await first.release();
    const second = await t.ticket(run, "quarantined"); // released, and not mended
    expect(second.id).not.toBe(first.id);
    await t.deploy(teller(guard(() => ({}))));
    await (await t.ticket(run, "quarantined")).release();
    await (await t.ticket(run, "approval")).approve();
    expect(await t.result(run)).toMatchObject({ outcome: "completed", output: "Done." });
    expect(executed).toBe(1);
  });
});

test("a run that is set aside can be cancelled, and those of other agents go on", async () => {
  await using t = service(memory());
  await t.deploy(teller(guard(trap)));
  const run = await t.start();
  await (await t.ticket(run, "quarantined")).cancelRun();
  expect(await t.result(run)).toMatchObject({ outcome: "cancelled" });
});

test("one whose second plugin cannot be created has closed its first one", async () => {
  await using t = service(memory());
  const closed: string[] = [];
  const first = plugin({ name: "first", create: () => ({ close: () => void closed.push("first") }) })();
  await t.deploy(teller(first, guard(trap)));
  await t.ticket(await t.start(), "quarantined");
  expect(closed).toEqual(["first"]);
});

type Tally = { readonly n: number };
type Options = Partial<{
  version: number;
  scope: "run" | "thread";
  schema: z.ZodType<Tally>;
  migrate: (value: unknown) => Tally;
}>;
const any = z.object({ n: z.number() });
const old = z.object({ count: z.number() });

/** Writes in its first step, and reads before its end. */
function tallying(
  options: Options,
  written: unknown,
): { readonly code: Agent<string>; readonly read: readonly unknown[] } {
  const initial = (options.schema ?? any) === any ? { n: 0 } : written;
  const key = stateKey({ name: "tally", schema: any, initial, ...options } as never) as unknown as StateKey<unknown>;
  const read: unknown[] = [];
  const tally = plugin({
    name: "tally",
    state: [key],
    create: () => ({
      hooks: {
        "before-run": () => key.set(written),
        "before-end": (view) => void read.push(view.state.get(key)),
      },
    }),
  })();
  return { code: teller(tally), read };
}

const was = (scope: "run" | "thread"): Options => ({ schema: old as never, scope });
const migrate = ((value: { count: number }) => ({ n: value.count })) as unknown as (value: unknown) => Tally;

const upgrades: Readonly<Record<string, readonly [Options, RegExp]>> = {
  "a version without a migrate": [{ version: 2 }, /it holds version 1 and has no migrate/],
  "a migrate that throws": [{ version: 2, migrate: trap }, /migrating it from version 1 threw: trapped/],
  "a migrate that gives what does not fit": [
    { version: 2, migrate: () => ({ n: "7" }) as never },
    /migrated from version 1: \$\.n/,
  ],
  "another schema and the same version": [{}, /\$\.n: /],
};

const stores: Readonly<Record<string, () => StoreDefinition>> = { memory: () => memory(), sqlite: freshFiles() };

describe.each(Object.entries(stores))("on %s", (_name, freshStore) => {
  describe.each(["run", "thread"] as const)("state of a %s", (scope) => {
    test.each(Object.entries(upgrades))("that finds %s", async (_what, [options, says]) => {
      await using t = service(freshStore());
      await t.deploy(tallying(was(scope), { count: 7 }).code);
      const run = await t.start("thread-1");
      const approval = await t.ticket(run, "approval");
      await t.deploy(tallying({ ...options, scope }, { n: 0 }).code);
      await (await t.ticket(run, "approval")).approve();
      expect((await t.ticket(run, "quarantined")).prompt).toMatch(/^Agent teller .*state key tally \((run|thread)\): /);
      expect((await t.ticket(run, "quarantined")).prompt).toMatch(says);
      expect(approval.id).toContain("approval");
      const mended = tallying({ version: 2, scope, migrate }, { n: 0 });
      await t.deploy(mended.code);
      await (await t.ticket(run, "quarantined")).release();
      expect(await t.result(run)).toMatchObject({ outcome: "completed" });
      expect(mended.read).toEqual([{ n: 7 }]);
      expect(executed).toBe(1);
    });

    test("that a newer version has written is not read by the older one", async () => {
      await using t = service(freshStore());
      const newer = tallying({ version: 3, scope }, { n: 7 });
      await t.deploy(newer.code);
      const run = await t.start("thread-1");
      await t.ticket(run, "approval");
      await t.deploy(tallying({ version: 2, scope, migrate: trap }, { n: 0 }).code);
      await (await t.ticket(run, "approval")).approve();
      const { prompt } = await t.ticket(run, "quarantined");
      expect(prompt).toContain(`state key tally (${scope}): it holds version 3, newer than this process's 2`);
      const again = tallying({ version: 3, scope }, { n: 0 });
      await t.deploy(again.code);
      await (await t.ticket(run, "quarantined")).release();
      expect(await t.result(run)).toMatchObject({ outcome: "completed" });
      expect(again.read).toEqual([{ n: 7 }]);
    });

    test("whose plugin is gone is kept, and disturbs nobody", async () => {
      await using t = service(freshStore());
      await t.deploy(tallying({ scope }, { n: 7 }).code);
      const run = await t.start("thread-1");
      await t.ticket(run, "approval");
      await t.deploy(teller());
      await t.ticket(run, "approval");
      const back = tallying({ scope }, { n: 0 });
      await t.deploy(back.code);
      await (await t.ticket(run, "approval")).approve();
      expect(await t.result(run)).toMatchObject({ outcome: "completed" });
      expect(back.read).toEqual([{ n: 7 }]);
    });
  });

  test("state of a thread sets the next run of the thread aside, before it has begun", async () => {
    await using t = service(freshStore());
    await t.deploy(tallying(was("thread"), { count: 7 }).code);
    const first = await t.start("thread-1");
    await (await t.ticket(first, "approval")).approve();
    await t.result(first);
    await t.deploy(tallying({ scope: "thread", version: 2 }, { n: 0 }).code);
    const second = await t.start("thread-1");
    expect((await t.ticket(second, "quarantined")).prompt).toContain("state key tally (thread)");
    const elsewhere = await t.start("thread-2");
    await (await t.ticket(elsewhere, "approval")).approve();
    expect(await t.result(elsewhere)).toMatchObject({ outcome: "completed" });
  });
});
