/** Cursors of lists that do not fit: refused by code, whatever is wrong with them. */
import { expect, test } from "vitest";
import type { MessageId } from "../../src/domain/ids.ts";
import type { Message } from "../../src/domain/message.ts";
import { agent } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { Page, PageOptions } from "../../src/runtime/pages.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { type TestRuntime, testRuntime } from "../../src/testing/test-runtime.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const talker = agent({ name: "talker", model: scripted(["Hi."]), instructions: "Talk." });

type Lists = Readonly<Record<string, (runtime: Runtime, page: PageOptions) => Promise<Page<unknown>>>>;

/** No two of these may take each other's cursors. */
const lists: Lists = {
  threads: ({ threads }, page) => threads.list(page),
  "threads, oldest first": ({ threads }, page) => threads.list({ ...page, order: "oldest" }),
  "threads without a parent": ({ threads }, page) => threads.list({ ...page, parent: null }),
  "children of t1": ({ threads }, page) => threads.list({ ...page, parent: "t1" }),
  "children of t2": ({ threads }, page) => threads.list({ ...page, parent: "t2" }),
  "messages of t1": ({ threads }, page) => threads.messages("t1", page),
  "messages of t1, oldest first": ({ threads }, page) => threads.messages("t1", { ...page, order: "oldest" }),
  "messages of t1 for all": ({ threads }, page) => threads.messages("t1", { ...page, visibility: "all" }),
  "messages of t2": ({ threads }, page) => threads.messages("t2", page),
  runs: ({ runs }, page) => runs.list(page),
  "runs, oldest first": ({ runs }, page) => runs.list({ ...page, order: "oldest" }),
  "runs of t1": ({ runs }, page) => runs.list({ ...page, thread: "t1" }),
  "runs of talker": ({ runs }, page) => runs.list({ ...page, agent: "talker" }),
  "runs that are done": ({ runs }, page) => runs.list({ ...page, status: "done" }),
  "runs of t1 that are done": ({ runs }, page) => runs.list({ ...page, thread: "t1", status: "done" }),
};

async function filled({ runtime }: TestRuntime): Promise<void> {
  for (const id of ["t1", "t2"]) {
    const messages = [1, 2, 3].map((n): Message => {
      return { id: `${id}.${n}` as MessageId, role: "user", parts: [], visibility: "all" };
    });
    await runtime.threads.create({ id, messages });
    for (const child of ["a", "b"]) await runtime.threads.create({ id: `${id}${child}`, parent: id });
    for (const text of ["one", "two"]) await runtime.run(talker, text, { thread: id });
  }
}

async function cursorOf(list: string, runtime: Runtime): Promise<string> {
  const { next } = (await lists[list]?.(runtime, { limit: 1 })) ?? {};
  if (next === undefined) throw new Error(`${list} has only one page`);
  return next;
}

onEveryStore((freshStore) => {
  test("a cursor is taken by the list that gave it, and by no other list, filter, order or scope", async () => {
    const store = freshStore();
    await using t = await testRuntime({ store, agents: [talker] });
    await using foreign = await testRuntime({ store, agents: [talker], settings: { scope: "foreign" } });
    await filled(t);
    await filled(foreign);
    for (const own of Object.keys(lists)) {
      const cursor = await cursorOf(own, t.runtime);
      for (const [name, list] of Object.entries(lists)) {
        const answer = list(t.runtime, { cursor, limit: 1 });
        if (name === own) expect((await answer).items, name).toHaveLength(1);
        else await expect(answer, `${own} > ${name}`).rejects.toMatchObject({ code: "invalid-cursor" });
      }
      const abroad = lists[own]?.(foreign.runtime, { cursor });
      await expect(abroad, `${own} in another scope`).rejects.toMatchObject({ code: "invalid-cursor" });
    }
  });

  test("a cursor that is truncated, changed or garbage is refused by every list", async () => {
    await using t = await testRuntime({ store: freshStore(), agents: [talker] });
    await filled(t);
    for (const [name, list] of Object.entries(lists)) {
      const cursor = await cursorOf(name, t.runtime);
      const [position, seq, tag = ""] = cursor.split(".");
      const wrong: unknown[] = ["", " ", "x", "..", "1.1.", cursor.slice(1, -1), cursor.slice(0, -1), `${cursor} `];
      wrong.push(
        `-1.${seq}.${tag}`,
        `1e3.${seq}.${tag}`,
        `${position}.${tag}`,
        `${position}.${seq}.${tag.toUpperCase()}g`,
      );
      wrong.push(
        "9".repeat(10_000),
        `${"9".repeat(17)}.0.${tag}`,
        null,
        7,
        {},
        [cursor],
        Number.NaN,
        cursor.repeat(1_000),
      );
      for (const each of wrong) {
        const answer = list(t.runtime, { cursor: each as string });
        await expect(answer, `${name}: ${String(each).slice(0, 40)}`).rejects.toMatchObject({ code: "invalid-cursor" });
      }
    }
  });

  test("a cursor to where nothing is any more goes on with what there is", async () => {
    await using t = await testRuntime({ store: freshStore(), agents: [talker] });
    await filled(t);
    const { runtime } = t;
    const { next } = await runtime.threads.list({ limit: 3, order: "oldest" });
    const left = await runtime.threads.delete("t1", { children: "cascade" });
    expect(left).toEqual({ threads: 3, runs: 3 });
    const rest = await runtime.threads.list({ order: "oldest", ...(next && { cursor: next }) });
    expect(rest.items.map(({ id }) => id)).toEqual(["t2", "t2a", "t2b"]);
    await expect(runtime.threads.messages("t1")).rejects.toMatchObject({ code: "thread-not-found" });
  });

  test("options that do not fit are all named, and nothing is listed", async () => {
    await using t = await testRuntime({ store: freshStore(), agents: [talker] });
    await filled(t);
    const { threads, runs } = t.runtime;
    const wrong = { limit: 0, order: "random", colour: "red" } as never;
    const listings = [() => threads.list(wrong), () => threads.messages("t1", wrong), () => runs.list(wrong)];
    for (const list of listings) {
      const refused = await list().catch((cause: unknown) => cause);
      expect(refused).toMatchObject({ code: "invalid-options" });
      const { problems } = refused as { readonly problems: readonly string[] };
      expect(problems.map((problem) => problem.split(":")[0])).toEqual(["colour", "limit", "order"]);
    }
    for (const limit of [1.5, -1, 1_001, Number.NaN, "10", null, Number.POSITIVE_INFINITY]) {
      await expect(threads.list({ limit: limit as never })).rejects.toMatchObject({ code: "invalid-options" });
    }
    for (const options of [null, "all", 7, []]) {
      await expect(threads.list(options as never)).rejects.toMatchObject({ code: "invalid-options" });
      await expect(threads.messages("t1", options as never)).rejects.toMatchObject({ code: "invalid-options" });
      await expect(runs.list(options as never)).rejects.toMatchObject({ code: "invalid-options" });
      await expect(runs.count(options as never)).rejects.toMatchObject({ code: "invalid-options" });
    }
    await expect(threads.messages("t1", { visibility: "internal" as never })).rejects.toMatchObject({
      code: "invalid-options",
    });
    await expect(runs.list({ status: "sleeping" as never })).rejects.toMatchObject({ code: "invalid-options" });
    await expect(runs.count({ agent: 7 as never })).rejects.toMatchObject({ code: "invalid-options" });
    await expect(runs.count({ limit: 7 } as never)).rejects.toMatchObject({ code: "invalid-options" });
    await expect(threads.list({ parent: "" })).rejects.toMatchObject({ code: "invalid-id" });
    await expect(runs.list({ thread: "a\nb" })).rejects.toMatchObject({ code: "invalid-id" });
  });

  test("unknown threads and runs are refused by name", async () => {
    await using t = await testRuntime({ store: freshStore(), agents: [talker] });
    const { threads, runs } = t.runtime;
    expect(await threads.get("nobody")).toBeUndefined();
    const refused = { code: "thread-not-found", details: { id: "nobody" } };
    await expect(threads.messages("nobody")).rejects.toMatchObject(refused);
    await expect(threads.change("nobody", { title: "x" })).rejects.toMatchObject(refused);
    await expect(threads.delete("nobody")).rejects.toMatchObject(refused);
    await expect(runs.erase("nobody")).rejects.toMatchObject({ code: "run-not-found", details: { run: "nobody" } });
    await expect(runs.fork("nobody", talker, { atStep: 1 })).rejects.toMatchObject({ code: "run-not-found" });
    for (const id of ["", "a\nb", "x".repeat(513), 7 as never]) {
      await expect(threads.get(id)).rejects.toMatchObject({ code: "invalid-id" });
      await expect(threads.delete(id)).rejects.toMatchObject({ code: "invalid-id" });
    }
  });
});
