import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { sqlite } from "../../src/sqlite.ts";
import { matrixOn } from "./matrix.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-crash-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;

// A cut here is the death of a process, not of the machine: "normal" survives it, and is faster.
matrixOn("sqlite", () => {
  files += 1;
  return { store: sqlite(join(folder, `${files}.db`), { durability: "normal" }) };
});
