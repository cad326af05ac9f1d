/** Few connections: everything is slower, nothing waits for itself. */
import { expect, onTestFinished, test } from "vitest";
import { createRuntime } from "../../src/create-runtime.ts";
import { postgres } from "../../src/postgres.ts";
import { birthOf, keyOf } from "../../src/testing/conformance/store-fixtures.ts";
import { workThrough } from "./clerks.ts";
import { freshStore, opened } from "./shared-server.ts";

const quiet = { warn: () => undefined, note: () => undefined };

test("one connection is enough for fifty births and reads at once", async () => {
  const store = await opened((await freshStore({ connections: 1 })).definition);
  const births = Array.from({ length: 50 }, (_, n) => store.create(birthOf(`r${n}`)));
  const reads = Array.from({ length: 50 }, (_, n) => store.run(keyOf(`r${n}`)));
  expect((await Promise.all(births)).map(({ kind }) => kind)).toEqual(births.map(() => "created"));
  await Promise.all(reads);
});

test.each([1, 2])(
  "with %i connections 200 runs end and every watcher sees all of them",
  { timeout: 60_000 },
  async (connections) => {
    const { url, schema } = await freshStore();
    const store = postgres({ url, schema, connections });
    const desk = await createRuntime({ store, logger: quiet });
    onTestFinished(() => desk.close());
    const stop = new AbortController();
    const runs = 200;
    const watchers = Array.from({ length: 20 }, async () => {
      const seen = new Set<string>();
      for await (const event of desk.watch({}, { signal: stop.signal })) {
        if (event.type === "run-ended") seen.add(event.run);
        if (seen.size === runs) return seen.size;
      }
      return seen.size;
    });
    await workThrough({ store, runs, steps: 2 });
    const late = setTimeout(() => stop.abort(), 20_000);
    expect(await Promise.all(watchers)).toEqual(watchers.map(() => runs));
    clearTimeout(late);
  },
);
