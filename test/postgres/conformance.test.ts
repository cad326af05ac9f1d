import { describe, test } from "vitest";
import { compareWithMemory } from "../../src/testing/conformance/store-comparison.ts";
import { storeConformance } from "../../src/testing/conformance/store-conformance.ts";
import { freshStore } from "./shared-server.ts";

const kinds = { "the postgres store": {}, "the postgres store without prepared statements": { prepare: false } };

for (const [name, options] of Object.entries(kinds)) {
  describe(name, () => {
    for (const [fact, check] of Object.entries(storeConformance)) {
      test(fact, async () => check((await freshStore(options)).definition.open));
    }
  });
}

const lists = Number(process.env.HOLDFAST_POSTGRES_LISTS ?? 300);

test(`postgres answers ${lists} random command lists as memory does`, { timeout: 600_000 }, async () => {
  const { definition } = await freshStore();
  await compareWithMemory(definition.open, { lists, length: 40, seed: 1 });
});
