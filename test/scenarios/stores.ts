/** Every scenario runs on every store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { memory } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";

export function onEveryStore(scenarios: (freshStore: () => StoreDefinition) => void): void {
  describe("on memory", () => scenarios(() => memory()));
  describe("on sqlite", () => scenarios(freshFiles()));
}

/** A file of its own for each call, all of them gone after the tests. */
export function freshFiles(): () => StoreDefinition {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-scenarios-"));
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => {
    count += 1;
    return sqlite(join(folder, `${count}.db`));
  };
}
