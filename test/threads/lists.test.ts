/** Pages of every list: complete, without repeats, and stable while rows come and go. */
import { expect, test } from "vitest";
import type { MessageId } from "../../src/domain/ids.ts";
import type { Message } from "../../src/domain/message.ts";
import { agent } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { Page, PageOptions } from "../../src/runtime/pages.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { type TestRuntime, testRuntime } from "../../src/testing/test-runtime.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const talker = agent({ name: "talker", model: scripted(["Hi."]), instructions: "Talk." });
const other = agent({ name: "other", model: scripted(["Ho."]), instructions: "Talk." });

function message(id: string, visibility: Message["visibility"] = "all"): Message {
  return { id: id as MessageId, role: "user", parts: [{ type: "text", text: id }], visibility };
}

function start(store: StoreDefinition): Promise<TestRuntime> {
  return testRuntime({ store, agents: [talker, other] });
}

/** Ids of every item over all pages; `between` happens before each page but the first. */
async function walk<Item>(
  list: (options: PageOptions) => Promise<Page<Item>>,
  nameOf: (item: Item) => string | number,
  between: () => Promise<unknown> = async () => undefined,
): Promise<readonly (string | number)[]> {
  const seen: (string | number)[] = [];
  for (let page = await list({}); ; page = await list({ cursor: page.next })) {
    seen.push(...page.items.map(nameOf));
    if (page.next === undefined) return seen;
    await between();
  }
}

async function someThreads({ threads }: Runtime, count: number, prefix = "t"): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
  for (const id of ids) await threads.create({ id });
  return ids;
}

onEveryStore((freshStore) => {
  test("pages of threads are complete in both orders, while threads are created", async () => {
    await using t = await start(freshStore());
    const ids = await someThreads(t.runtime, 23);
    let made = 0;
    const insert = async (): Promise<void> => {
      made += 1;
      await t.runtime.threads.create({ id: `late${made}` });
    };
    const newest = await walk(
      (page) => t.runtime.threads.list({ ...page, limit: 5 }),
      ({ id }) => id,
      insert,
    );
    expect(newest).toEqual(ids.toReversed());
    const oldest = await walk(
      (page) => t.runtime.threads.list({ ...page, limit: 5, order: "oldest" }),
      ({ id }) => id,
      insert,
    );
    expect(oldest.slice(0, 23)).toEqual(ids);
    expect(oldest.slice(23)).toEqual(Array.from({ length: made }, (_, index) => `late${index + 1}`));
  });

  test("pages of threads go on where they were when what was shown, or the next, is deleted", async () => {
    await using t = await start(freshStore());
    const ids = await someThreads(t.runtime, 12);
    for (const order of ["newest", "oldest"] as const) {
      const before = order === "newest" ? ids.toReversed() : ids.filter((id) => !["t7", "t6"].includes(id));
      const doomed = order === "newest" ? ["t7", "t6"] : ["t4", "t5"];
      const first = await t.runtime.threads.list({ limit: before.indexOf(doomed[0] as string) + 1, order });
      for (const id of doomed) await t.runtime.threads.delete(id);
      const second = await t.runtime.threads.list({ limit: 50, order, ...(first.next && { cursor: first.next }) });
      const seen = [...first.items, ...second.items].map(({ id }) => id);
      expect(seen).toEqual(before.filter((id) => id !== doomed[1]));
    }
  });

  test("threads are listed by parent, and those without one by null", async () => {
    await using t = await start(freshStore());
    const { threads } = t.runtime;
    const roots = await someThreads(t.runtime, 3);
    for (const id of ["c1", "c2", "c3", "c4"]) await threads.create({ id, parent: "t2" });
    const named = (parent?: string | null) =>
      walk(
        (page) => threads.list({ ...page, limit: 2, order: "oldest", ...(parent === undefined ? {} : { parent }) }),
        ({ id }) => id,
      );
    expect(await named("t2")).toEqual(["c1", "c2", "c3", "c4"]);
    expect(await named(null)).toEqual(roots);
    expect(await named("t1")).toEqual([]);
    expect(await named("nobody")).toEqual([]);
    expect(await named()).toEqual([...roots, "c1", "c2", "c3", "c4"]);
  });

  test("pages of messages are complete in both orders, while a run adds more", async () => {
    await using t = await start(freshStore());
    const { runtime } = t;
    const said = Array.from({ length: 17 }, (_, index) =>
      message(`m${index + 1}`, index % 3 === 0 ? "internal" : "all"),
    );
    await runtime.threads.create({ id: "t", messages: said });
    let added = 0;
    const add = (): Promise<unknown> => {
      added += 1;
      return runtime.run(talker, [message(`q${added}`)], { thread: "t" });
    };
    const list = (more: PageOptions & { visibility?: "all" }) => (page: PageOptions) =>
      runtime.threads.messages("t", { ...page, ...more, limit: 4 });
    const idOf = (placed: { message: Message }): string => placed.message.id;
    expect(await walk(list({}), idOf, add)).toEqual(said.map(({ id }) => id).toReversed());
    const shown = said.filter(({ visibility }) => visibility === "all").map(({ id }) => id);
    const newest = await walk(list({ visibility: "all" }), idOf, add);
    expect(newest.slice(-shown.length)).toEqual(shown.toReversed());
    const oldest = await walk(list({ order: "oldest" }), idOf);
    expect(oldest.slice(0, 17)).toEqual(said.map(({ id }) => id));
    const positions = await walk(list({ order: "oldest" }), ({ position }) => position);
    expect(positions).toEqual(positions.map((_, index) => index + 1));
    expect(positions).toHaveLength((await runtime.threads.get("t"))?.messages ?? 0);
  });

  test("messages keep their places when a run before them is erased", async () => {
    await using t = await start(freshStore());
    const { runtime } = t;
    const runs = [];
    for (const id of ["a", "b", "c"]) runs.push(await runtime.run(talker, [message(id)], { thread: "t" }));
    const places = async () =>
      walk(
        (page) => runtime.threads.messages("t", { ...page, limit: 2, order: "oldest" }),
        ({ position, message: { id } }) => `${position} ${id}`,
      );
    const before = await places();
    expect(before).toHaveLength(6);
    const first = await runtime.threads.messages("t", { limit: 3, order: "oldest" });
    await runtime.runs.erase(runs[1]?.run ?? "");
    const rest = await runtime.threads.messages("t", { limit: 9, order: "oldest", cursor: first.next ?? "" });
    expect(rest.items.map(({ position }) => position)).toEqual([5, 6]);
    expect(await places()).toEqual([...before.slice(0, 2), ...before.slice(4)]);
    await runtime.run(talker, [message("d")], { thread: "t" });
    const after = await places();
    expect(after.slice(-2)).toEqual([`7 d`, expect.stringMatching(/^8 /)]);
    expect((await runtime.threads.get("t"))?.messages).toBe(6);
  });

  test("pages and counts of runs are complete by thread, agent and status, while runs are started", async () => {
    await using t = await start(freshStore());
    const { runtime } = t;
    const runs: string[] = [];
    for (let index = 0; index < 14; index += 1) {
      const { run } = await runtime.run(index % 2 === 0 ? talker : other, "Hello", { thread: `t${index % 3}` });
      runs.push(run);
    }
    const add = (): Promise<unknown> => runtime.run(talker, "More", { thread: "t0" });
    const all = await walk(
      (page) => runtime.runs.list({ ...page, limit: 3 }),
      ({ run }) => run,
      add,
    );
    expect(all).toEqual(runs.toReversed());
    const by = async (filter: Parameters<Runtime["runs"]["list"]>[0]) =>
      walk(
        (page) => runtime.runs.list({ ...page, ...filter, limit: 3, order: "oldest" }),
        ({ run }) => run,
      );
    for (const filter of [
      { thread: "t1" },
      { agent: "other" },
      { thread: "t1", agent: "other", status: "done" },
    ] as const) {
      const expected = runs.filter((_, index) => {
        const inThread = !("thread" in filter) || index % 3 === 1;
        return inThread && (!("agent" in filter) || index % 2 === 1);
      });
      expect(await by(filter)).toEqual(expected);
      expect(await runtime.runs.count(filter)).toBe(expected.length);
    }
    expect(await by({ status: "waiting" })).toEqual([]);
    expect(await runtime.runs.count({ status: "waiting" })).toBe(0);
    expect(await runtime.runs.count()).toBe((await by({})).length);
  });

  test("a run in a list is the run: its thread, agent, status, head and whether it is queued", async () => {
    await using t = await start(freshStore());
    const { runtime } = t;
    const { run } = await runtime.run(talker, "Hello", { thread: "t" });
    const { items } = await runtime.runs.list();
    const { head } = items[0] ?? {};
    expect(items).toMatchObject([{ run, thread: "t", agent: "talker", status: "done", queued: false }]);
    expect((await runtime.runs.get(run).terminalEvent())?.seq).toBe(head);
  });
});
