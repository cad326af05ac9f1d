/** D1–D3 on whole runs: a sink that is down for an hour, over restarts; what is given up is read, and told again. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, type RunId, type Sink, SinkRefusal } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { freshPath } from "../stores/watched-store.ts";

const clerk = agent({
  name: "clerk",
  model: scripted(['{"note":"done"}']),
  instructions: "Help.",
  output: z.object({ note: z.string() }),
  sinks: ["crm", "log"],
});

interface Heard {
  readonly run: RunId;
  readonly type: string;
  readonly key: string;
  readonly attempt: number;
}

interface Receiver extends Sink {
  readonly taken: Heard[];
  /** Of every attempt. */
  readonly keys: Set<string>;
}

/** Takes messages only while it is up. */
function receiver(isUp: () => boolean, fail: () => Error = () => new Error("503")): Receiver {
  const [taken, keys] = [[] as Heard[], new Set<string>()];
  return {
    taken,
    keys,
    deliver: ({ run, type }, { key, attempt }) => {
      keys.add(key);
      if (!isUp()) throw fail();
      taken.push({ run, type, key, attempt });
    },
  };
}

function told(taken: readonly Heard[]): readonly string[] {
  return taken.map(({ run, type }) => `${type} of ${run}`).sort();
}

test("D1 a sink that is down for an hour, with a worker that dies meanwhile: nothing is lost, nothing that completed is sent again", async () => {
  let isUp = false;
  const crm = receiver(() => isUp);
  const log = receiver(() => true);
  await using t = await testRuntime({
    agents: [clerk],
    store: sqlite(freshPath()),
    settings: { sinks: { crm, log }, pollMs: 20_000 },
  });
  const runs: RunId[] = [];
  for (let n = 0; n < 12; n += 1) {
    const run = await t.runtime.start(clerk, "Go");
    await run.result();
    runs.push(run.id);
    await t.advance("5m"); // an hour in all
    if (n % 4 === 3) await t.restart();
  }
  expect(crm.taken).toEqual([]);
  const all = runs.flatMap((run) => [`output of ${run}`, `run-ended of ${run}`]).sort();
  expect(told(log.taken)).toEqual(all);
  isUp = true;
  await t.advance("6m"); // the longest pause
  await t.restart();
  await t.advance("1h");
  expect(told(crm.taken)).toEqual(all);
  expect(told(log.taken)).toEqual(all);
  expect(new Set(crm.taken.map(({ key }) => key)).size).toBe(24);
  for (const id of runs) expect(await t.runtime.runs.get(id).evidence()).toEqual([]);
});

test("D3 a dead letter can be read and told again, once, under its own key; who asked for it is kept", async () => {
  let isUp = false;
  const crm = receiver(
    () => isUp,
    () => new SinkRefusal("no such customer"),
  );
  const log = receiver(() => true);
  await using t = await testRuntime({
    agents: [clerk],
    store: sqlite(freshPath()),
    settings: { sinks: { crm, log }, pollMs: 20_000 },
  });
  const { id } = await t.runtime.start(clerk, "Go");
  await t.advance("1m");
  const run = t.runtime.runs.get(id);
  const dead = (await run.evidence()).map(({ kind, body }) => [kind, body]);
  expect(dead).toMatchObject([
    ["dead-delivery", { error: "no such customer", delivery: { body: { type: "output", output: { note: "done" } } } }],
    ["dead-delivery", { error: "no such customer", delivery: { body: { type: "run-ended" } } }],
  ]);
  expect(await run.retell({ sink: "log" })).toBe(0); // it took everything
  expect(await run.retell({ by: "ana" })).toBe(2);
  await t.advance("1m"); // and is refused once more: two more dead letters
  isUp = true;
  await t.restart();
  const asked = await Promise.all([1, 2, 3].map(() => t.runtime.runs.get(id).retell({ by: "bea", sink: "crm" })));
  expect(asked.toSorted()).toEqual([0, 0, 2]);
  await t.advance("1m");
  expect(told(crm.taken)).toEqual([`output of ${id}`, `run-ended of ${id}`]);
  expect([crm.keys.size, new Set(crm.taken.map(({ key }) => key)).size]).toEqual([2, 2]);
  expect(await t.runtime.runs.get(id).retell()).toBe(0);
  await t.advance("1h");
  expect([crm.taken.length, log.taken.length]).toEqual([2, 2]);
  const kinds = (await t.runtime.runs.get(id).evidence()).map(({ kind, body }) => [kind, (body as { by?: string }).by]);
  expect(kinds.filter(([kind]) => kind === "delivery-revived")).toEqual([
    ["delivery-revived", "ana"],
    ["delivery-revived", "ana"],
    ["delivery-revived", "bea"],
    ["delivery-revived", "bea"],
  ]);
});

test("L8 what cannot be told again is refused by name", async () => {
  await using t = await testRuntime({
    agents: [clerk],
    settings: { sinks: { crm: receiver(() => true), log: receiver(() => true) } },
  });
  const run = await t.runtime.start(clerk, "Go");
  await expect(run.retell({ sinks: ["crm"] } as never)).rejects.toThrow(/sinks: unknown option; known are sink, by/);
  await expect(run.retell({ sink: "" })).rejects.toThrow(/sink: must be a non-empty string/);
  await expect(run.retell({ sink: "crn" })).rejects.toMatchObject({
    code: "invalid-options",
    problems: [`sink: run ${run.id} does not tell "crn"; it tells crm, log`],
  });
  await expect(t.runtime.runs.get("nobody").retell()).rejects.toMatchObject({ code: "run-not-found" });
});
