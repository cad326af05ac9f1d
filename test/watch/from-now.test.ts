import { expect, test } from "vitest";
import { agent } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

const quick = agent({ name: "quick", model: scripted(["Done."]), instructions: "-" });

test("a watch from now on leaves out what has happened and misses nothing after", async () => {
  await using t = await testRuntime({ agents: [quick] });
  const old = await t.runtime.run(quick, "before");
  const seen: string[] = [];
  const stop = new AbortController();
  const events = t.runtime.watch({}, { from: "now", signal: stop.signal })[Symbol.asyncIterator]();
  const first = events.next(); // the watch begins with the first look
  await t.settle();
  const fresh = await t.runtime.start(quick, "after");
  for (let item = await first; !item.done; item = await events.next()) {
    if ("seq" in item.value) seen.push(`${item.value.run} ${item.value.seq}`);
    if (item.value.type === "run-ended") stop.abort();
  }
  expect(seen.filter((each) => each.startsWith(`${old.run} `))).toEqual([]);
  expect(seen).toEqual(seen.map((_, index) => `${fresh.id} ${index + 1}`));
});

test("a watch from now on of a run that has ended is over at once", async () => {
  await using t = await testRuntime({ agents: [quick] });
  const { run } = await t.runtime.run(quick, "before");
  const seen = [];
  for await (const event of t.runtime.runs.get(run).watch({ from: "now" })) seen.push(event);
  expect(seen).toEqual([]);
});

test("from now on does not go with a cursor", async () => {
  await using t = await testRuntime({ agents: [quick] });
  const { run } = await t.runtime.run(quick, "before");
  const watch = t.runtime.runs.get(run).watch({ from: "now", after: "1.1.0000000000000000" });
  await expect(watch[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "invalid-options" });
});
