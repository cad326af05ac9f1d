/**
 * Background tasks and handoffs cut anywhere. Some cuts of each are drawn; HOLDFAST_CRASH_DELEGATION=all plays every one.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "../../src/sqlite.ts";
import { matrixOn } from "./matrix.ts";
import { besides } from "./scenarios/background.ts";

const isWhole = process.env.HOLDFAST_CRASH_DELEGATION === "all";
const some = (cuts: number) => (isWhole ? {} : { sample: { cuts, seed: "background" } });

matrixOn("memory", () => some(60), besides);

const file = (): string => join(mkdtempSync(join(tmpdir(), "holdfast-background-")), "runs.db");
matrixOn("sqlite", () => ({ store: sqlite(file()), ...some(12) }), besides);
