/** Cursors and filters of watches that do not fit, and cursors into history that was erased. */
import { expect, test } from "vitest";
import { agent } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { WatchEvent } from "../../src/runtime/runtime.ts";
import { type TestRuntime, testRuntime } from "../../src/testing/test-runtime.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const talker = agent({ name: "talker", model: scripted(["Hi."]), instructions: "Talk." });

function start(store: StoreDefinition, scope = "default"): Promise<TestRuntime> {
  return testRuntime({ store, agents: [talker], settings: { scope } });
}

type Durable = Extract<WatchEvent, { readonly seq: number }>;

function isDurable(event: WatchEvent): event is Durable {
  return "seq" in event;
}

async function durable(events: AsyncIterable<WatchEvent>): Promise<readonly Durable[]> {
  const seen: WatchEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen.filter(isDurable);
}

/** The first so many events that match, then the watch is left. */
async function some(events: AsyncIterable<WatchEvent>, count: number): Promise<readonly WatchEvent[]> {
  const seen: WatchEvent[] = [];
  for await (const event of events) {
    if (isDurable(event) || event.type === "resync") seen.push(event);
    if (seen.length >= count) break;
  }
  return seen;
}

function first(events: AsyncIterable<WatchEvent>): Promise<unknown> {
  return events[Symbol.asyncIterator]().next();
}

onEveryStore((freshStore) => {
  test("a cursor of a watch is taken by the same watch, and by no other run, filter or scope", async () => {
    const store = freshStore();
    await using t = await start(store);
    await using foreign = await start(store, "foreign");
    const { runtime } = t;
    const one = await runtime.run(talker, "one", { thread: "t1" });
    const two = await runtime.run(talker, "two", { thread: "t2" });
    const abroad = await foreign.runtime.run(talker, "three", { thread: "t1" });
    const watches: Record<string, (after?: string) => AsyncIterable<WatchEvent>> = {
      "run one": (after) => runtime.runs.get(one.run).watch(after === undefined ? {} : { after }),
      "run two": (after) => runtime.runs.get(two.run).watch(after === undefined ? {} : { after }),
      all: (after) => runtime.watch({}, after === undefined ? {} : { after }),
      "thread t1": (after) => runtime.watch({ threads: ["t1"] }, after === undefined ? {} : { after }),
      "threads t1 and t2": (after) => runtime.watch({ threads: ["t1", "t2"] }, after === undefined ? {} : { after }),
      talker: (after) => runtime.watch({ agents: ["talker"] }, after === undefined ? {} : { after }),
      ends: (after) => runtime.watch({ types: ["run-ended", "run-created"] }, after === undefined ? {} : { after }),
      "run one among many": (after) => runtime.watch({ runs: [one.run] }, after === undefined ? {} : { after }),
      "abroad, its run": (after) => foreign.runtime.runs.get(abroad.run).watch(after === undefined ? {} : { after }),
      "abroad, all": (after) => foreign.runtime.watch({}, after === undefined ? {} : { after }),
    };
    for (const [own, watch] of Object.entries(watches)) {
      const [event, following] = (await some(watch(), 2)) as readonly Durable[];
      for (const [name, other] of Object.entries(watches)) {
        const answer = first(other(event?.cursor ?? ""));
        if (name === own) expect(await answer, name).toMatchObject({ value: { seq: following?.seq } });
        else await expect(answer, `${own} > ${name}`).rejects.toMatchObject({ code: "invalid-cursor" });
      }
    }
    const reordered = await some(runtime.watch({ threads: ["t2", "t1"] }), 1);
    const [same] = await some(runtime.watch({ threads: ["t1", "t2", "t1"] }), 1);
    expect(same).toEqual(reordered[0]);
  });

  test("a cursor that is truncated, changed, ahead of everything or garbage is refused", async () => {
    await using t = await start(freshStore());
    const { runtime } = t;
    const { run } = await runtime.run(talker, "one");
    for (const watch of [
      (after: unknown) => runtime.runs.get(run).watch({ after: after as string }),
      (after: unknown) => runtime.watch({}, { after: after as string }),
    ]) {
      const [event] = (await some(watch(undefined), 1)) as readonly Durable[];
      const cursor = event?.cursor ?? "";
      const [position, seq, tag] = cursor.split(".");
      const wrong: unknown[] = [
        "",
        "x",
        "..",
        cursor.slice(1),
        cursor.slice(0, -1),
        `${cursor}0`,
        `${position}.${tag}`,
      ];
      wrong.push(`-1.${seq}.${tag}`, `999999.999999.${tag}`, null, 7, {}, [], "9".repeat(100_000), "\u0000");
      for (const each of wrong) {
        await expect(first(watch(each)), String(each).slice(0, 40)).rejects.toMatchObject({ code: "invalid-cursor" });
      }
    }
  });

  test("filters with too many terms, or none, or of another shape are refused, and 1,000 terms are taken", async () => {
    await using t = await start(freshStore());
    const { runtime } = t;
    await runtime.run(talker, "one", { thread: "t999" });
    const terms = (count: number): string[] => Array.from({ length: count }, (_, index) => `t${index}`);
    for (const name of ["runs", "threads", "agents", "types"]) {
      for (const value of [terms(10_000), terms(1_001), [], "t1", null, 7, [7], [null], {}]) {
        const watch = runtime.watch({ [name]: value } as never);
        const what = `${name}: ${String(value).slice(0, 20)}`;
        await expect(first(watch), what).rejects.toMatchObject({ code: "invalid-options" });
      }
    }
    for (const filter of [null, "all", [], { run: ["x"] }]) {
      await expect(first(runtime.watch(filter as never))).rejects.toMatchObject({ code: "invalid-options" });
    }
    const [event] = await some(runtime.watch({ threads: terms(1_000) }), 1);
    expect(event).toMatchObject({ type: "run-created", thread: "t999" });
  });

  test("a watch of an unknown run is refused by name", async () => {
    await using t = await start(freshStore());
    const nobody = t.runtime.runs.get("nobody").watch();
    await expect(first(nobody)).rejects.toMatchObject({ code: "run-not-found", details: { run: "nobody" } });
  });

  test("a watch of a run that was erased is refused by name", async () => {
    await using t = await start(freshStore());
    const { runtime } = t;
    const { run } = await runtime.run(talker, "one");
    const [event] = await durable(runtime.runs.get(run).watch());
    await runtime.runs.erase(run);
    for (const options of [{}, { after: event?.cursor ?? "" }]) {
      const watch = first(runtime.runs.get(run).watch({ ...options, signal: AbortSignal.timeout(200) }));
      await expect(watch).rejects.toMatchObject({ code: "run-not-found", details: { run } });
    }
  });

  test("a cursor into erased history gets one resync, then everything that is left and what comes", async () => {
    await using t = await start(freshStore());
    const { runtime } = t;
    const one = await runtime.run(talker, "one");
    const two = await runtime.run(talker, "two");
    const three = await runtime.run(talker, "three");
    const [early] = (await some(runtime.watch(), 1)) as readonly Durable[];
    const ends = async (after: string, count: number) =>
      some(runtime.watch({}, { after, signal: AbortSignal.timeout(5_000) }), count);
    const whole = await ends(early?.cursor ?? "", 5);
    expect(whole.map(({ type }) => type)).not.toContain("resync");
    await runtime.runs.erase(two.run);
    const left = await upToEndOf(three.run, runtime.watch());
    const [resync, ...seen] = await upToEndOf(three.run, runtime.watch({}, { after: early?.cursor ?? "" }));
    expect(resync).toMatchObject({ type: "resync", reason: "erased", cursor: early?.cursor });
    expect(seen).toEqual(left.slice(1));
    expect(new Set(seen.filter(isDurable).map(({ run }) => run))).toEqual(new Set([one.run, three.run]));
    const last = left.findLast(isDurable);
    const [next] = await Promise.all([ends(last?.cursor ?? "", 1), runtime.run(talker, "four")]);
    expect(next).toMatchObject([{ type: "run-created" }]);
  });
});

async function upToEndOf(run: string, events: AsyncIterable<WatchEvent>): Promise<readonly WatchEvent[]> {
  const seen: WatchEvent[] = [];
  for await (const event of events) {
    if (isDurable(event) || event.type === "resync") seen.push(event);
    if (isDurable(event) && event.run === run && event.type === "run-ended") break;
  }
  return seen;
}
