import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import { compareWithMemory } from "../../src/testing/conformance/store-comparison.ts";
import { storeConformance } from "../../src/testing/conformance/store-conformance.ts";

const directory = mkdtempSync(join(tmpdir(), "holdfast-stores-"));
let files = 0;

function freshFile(): string {
  files += 1;
  return join(directory, `${files}.db`);
}

const stores: Record<string, () => StoreDefinition> = {
  memory: () => memory(),
  sqlite: () => sqlite(freshFile()),
  "sqlite (normal durability)": () => sqlite(freshFile(), { durability: "normal" }),
};

afterAll(() => rmSync(directory, { recursive: true }));

for (const [name, fresh] of Object.entries(stores)) {
  describe(`the ${name} store`, () => {
    for (const [fact, check] of Object.entries(storeConformance)) {
      test(fact, () => check(fresh().open));
    }
  });
}

const lists = Number(process.env.HOLDFAST_SQLITE_LISTS ?? 500);

test(`sqlite answers ${lists} random command lists as memory does`, { timeout: 1_200_000 }, async () => {
  const { open } = sqlite(freshFile(), { durability: "normal" });
  await compareWithMemory(open, { lists, length: 40, seed: 1 });
});
