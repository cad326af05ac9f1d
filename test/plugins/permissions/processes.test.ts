/** Rules and remembered answers over restarts, and in processes whose config is another one. */
import { describe, expect, test } from "vitest";
import { foldAll } from "../../../src/domain/apply.ts";
import type { Agent } from "../../../src/index.ts";
import { agent, memory } from "../../../src/index.ts";
import { type PermissionsOptions, permissions, type RememberWish } from "../../../src/plugins.ts";
import type { Run, Runtime } from "../../../src/runtime/runtime.ts";
import { aModelThat, callsTool, callsTools, given, says } from "../../../src/testing/story.ts";
import { countingIds, startProcess } from "../../../src/testing/test-process.ts";
import { createFakeClock, type FakeClock, scripted } from "../../../src/testing.ts";
import { freshFiles } from "../../scenarios/stores.ts";
import { ada, approveWith, bob, guarded, pay, questionsIn } from "./setting.ts";

const inThread: PermissionsOptions = { remember: { scopes: ["run", "thread"] } };
const sqliteFile = freshFiles();

test.each([
  ["memory", () => memory()],
  ["sqlite", sqliteFile],
])("on %s an open question, an answer and its memory outlive the process", async (_name, store) => {
  const paid = callsTool("pay", ada);
  const model = aModelThat(paid, paid, callsTool("wipe", { disk: "a" }), paid, says("Done."));
  await using story = await given(guarded(inThread), model, { store: store() });
  const run = await story.userSays("go", { thread: "t-1" });
  await story.expectWaitingFor(run, "pay");
  await story.restart();
  await approveWith(story, run, { remember: "thread" });
  await story.expectWaitingFor(run, "wipe");
  await story.restart();
  await approveWith(story, run);
  await story.expectReply(run, "Done.");
  expect(await questionsIn(story, run)).toHaveLength(2);
  expect(story.effects(pay)).toHaveLength(3);
});

/** Pays ada in two steps. */
function teller(options: PermissionsOptions, name = "teller"): Agent {
  const paid = { calls: [{ tool: "pay", input: ada }] };
  const model = scripted([paid, paid, "Done."]);
  return agent({ name, onUpgrade: "move", instructions: "", model, tools: [pay], plugins: [permissions(options)] });
}

interface Process {
  readonly runtime: Runtime;
  /** A new run of the thread, as far as it comes without an answer. */
  begins(name?: string): Promise<Run<unknown>>;
  approves(run: Pick<Run, "id">, value?: RememberWish): Promise<void>;
  /** Whether a new run has to ask before it pays ada. */
  asks(name?: string): Promise<boolean>;
}

/** Processes on one store, one after the other, with one clock. */
function aWorld(): {
  clock: FakeClock;
  within: <T>(options: PermissionsOptions | undefined, act: (process: Process) => Promise<T>) => Promise<T>;
} {
  const clock = createFakeClock();
  const ids = countingIds();
  const store = memory();
  async function within<T>(options: PermissionsOptions | undefined, act: (process: Process) => Promise<T>): Promise<T> {
    const agents = options ? [teller(options), teller(options, "other")] : [];
    const { runtime } = await startProcess({ store, agents, clock, ids });
    async function begins(name = "teller"): Promise<Run<unknown>> {
      const run = await runtime.start(teller(options ?? {}, name), "go", { thread: "t-1" });
      await run.idle();
      return run;
    }
    async function approves({ id }: Pick<Run, "id">, value?: RememberWish): Promise<void> {
      const [ticket] = await runtime.tickets.list({ run: id, status: "open", kind: "approval" });
      if (!ticket) throw new Error("nothing was asked");
      await ticket.approve(value ? { value } : {});
      await runtime.runs.get(id).idle();
    }
    try {
      return await act({
        runtime,
        begins,
        approves,
        asks: async (name) => (await (await begins(name)).status()).status === "waiting",
      });
    } finally {
      await runtime.close();
    }
  }
  return { clock, within };
}

const ask = { ...inThread, rules: [{ tool: "pay", behavior: "ask" }] } as const;
const wish: RememberWish = { remember: "thread", what: "tool", forMs: 10_000 };

describe("P2: in a process with another config", () => {
  const rows: readonly (readonly [what: string, after: PermissionsOptions, asks: boolean])[] = [
    ["the same config does not ask again", ask, false],
    ["a rule that was removed has no effect on old threads", { ...inThread, default: "allow" }, false],
    ["a removed rule's answer is none to the default", inThread, true],
    ["another rule asks on its own", { ...inThread, rules: [{ tool: "p*", behavior: "ask" }] }, true],
    ["without remember, no answer counts", { rules: ask.rules }, true],
    ["without the scope, its answers do not count", { ...ask, remember: { scopes: ["run"] } }, true],
    ["without the thing, its answers do not count", { ...ask, remember: { ...ask.remember, what: ["input"] } }, true],
    ["another reason is the same rule", { ...ask, rules: [{ ...ask.rules[0], reason: "!" }] }, false],
  ];

  test.each(rows)("%s", async (_what, after, asks) => {
    const { within } = aWorld();
    await within(ask, async ({ begins, approves }) => approves(await begins(), wish));
    expect(await within(after, (process) => process.asks())).toBe(asks);
  });

  test("a rule that denied and was removed has no effect on old threads", async () => {
    const { within } = aWorld();
    const deny = { rules: [{ tool: "pay", behavior: "deny" }] } as const;
    const resultsIn = (options: PermissionsOptions): Promise<string> =>
      within(options, async ({ begins, runtime }) => {
        const run = await begins();
        const { items } = await runtime.threads.messages("t-1");
        return JSON.stringify(items.filter(({ message }) => message.producer?.run === run.id));
      });
    expect(await resultsIn(deny)).not.toContain("paid ada");
    expect(await resultsIn({ default: "allow" })).toContain("paid ada");
  });

  test("a shorter longest time holds for answers that were given before", async () => {
    const { clock, within } = aWorld();
    await within(ask, async ({ begins, approves }) => approves(await begins(), wish));
    await within({ ...ask, remember: { scopes: ["thread"], maxMs: 2_000 } }, async ({ asks }) => {
      await clock.advance(1_999);
      expect(await asks()).toBe(false);
      await clock.advance(1);
      expect(await asks()).toBe(true);
    });
  });

  test("an answer for one agent is none for another one in the thread", async () => {
    const { within } = aWorld();
    await within(ask, async ({ begins, approves, asks }) => {
      await approves(await begins(), wish);
      expect(await asks()).toBe(false);
      expect(await asks("other")).toBe(true);
    });
  });

  test.each<[string, PermissionsOptions, string]>([
    ["denied by now does not run", { ...inThread, rules: [{ tool: "pay", behavior: "deny" }] }, "denied"],
    ["asked about by no rule any more runs", { ...inThread, default: "allow" }, "paid ada 5"],
  ])("a call that is %s, and its approval is not remembered", async (_what, after, result) => {
    const { within } = aWorld();
    const { id } = await within(ask, ({ begins }) => begins());
    await within(after, async ({ approves, runtime }) => {
      await approves({ id }, wish);
      expect(await runtime.runs.get(id).result()).toMatchObject({ outcome: "completed" });
      expect(JSON.stringify((await runtime.threads.messages("t-1")).items)).toContain(result);
      expect((await runtime.runs.get(id).state()).values).toEqual({});
    });
  });
});

test("an answer given in a process without agents is heard by the one that works next", async () => {
  const { within } = aWorld();
  const { id } = await within(ask, ({ begins }) => begins());
  await within(undefined, async ({ runtime }) => {
    const [ticket] = await runtime.tickets.list({ run: id, status: "open", kind: "approval" });
    await ticket?.approve({ value: wish });
    expect((await runtime.runs.get(id).state()).values).toEqual({});
  });
  await within(ask, async ({ runtime, asks }) => {
    expect(await runtime.runs.get(id).result()).toMatchObject({ outcome: "completed" });
    expect(await asks()).toBe(false);
  });
});

test("replay: the journal alone gives the same state at every entry", async () => {
  const twice = callsTools(["pay", ada], ["pay", bob]);
  await using story = await given(guarded(inThread), aModelThat(twice, twice, says("Done.")));
  const run = await story.userSays("go");
  await approveWith(story, run, { remember: "run" });
  await approveWith(story, run, { remember: "thread", what: "tool" });
  await story.expectReply(run, "Done.");
  const journal = await story.journal(run);
  const remembered = journal.map((_entry, index) => {
    const { slots, threadSlots } = foldAll(journal.slice(0, index + 1));
    return `${count(slots["permissions.run"]?.value)}+${count(threadSlots["permissions.thread"]?.value)}`;
  });
  expect([...new Set(remembered)]).toEqual(["0+0", "1+0", "1+1"]);
  const { values } = await story.t.runtime.runs.get(run.id).state();
  expect(values["permissions.run"]).toEqual(foldAll(journal).slots["permissions.run"]?.value);
});

function count(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

test("a fork is a run of its own: what was remembered for the run it came from is asked again", async () => {
  const { within } = aWorld();
  await within(ask, async ({ begins, approves, runtime }) => {
    const run = await begins();
    await approves(run, { ...wish, remember: "run" });
    expect((await run.status()).status).toBe("done");
    const fork = await runtime.runs.fork(run.id, teller(ask), { atStep: 2 });
    expect((await fork.idle()).status).toBe("waiting");
  });
});
