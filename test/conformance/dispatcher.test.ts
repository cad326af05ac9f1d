import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import { dispatcherConformance } from "../../src/testing/conformance/dispatcher-conformance.ts";

const directory = mkdtempSync(join(tmpdir(), "holdfast-dispatcher-"));
let files = 0;
afterAll(() => rmSync(directory, { recursive: true }));

const stores: Record<string, () => StoreDefinition> = {
  memory: () => memory(),
  sqlite: () => {
    files += 1;
    return sqlite(join(directory, `${files}.db`));
  },
};

for (const [name, fresh] of Object.entries(stores)) {
  describe(`the dispatcher on ${name}`, () => {
    for (const [fact, check] of Object.entries(dispatcherConformance)) test(fact, () => check(fresh().open));
  });
}
