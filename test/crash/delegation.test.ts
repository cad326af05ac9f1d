/**
 * Delegation cut anywhere, on both sides of it: in one process, and so whoever of the two it is that dies. Some cuts of each
 * scenario are drawn; HOLDFAST_CRASH_DELEGATION=all plays every one.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "../../src/sqlite.ts";
import { matrixOn } from "./matrix.ts";
import { delegations } from "./scenarios/delegation.ts";

const isWhole = process.env.HOLDFAST_CRASH_DELEGATION === "all";
const some = (cuts: number) => (isWhole ? {} : { sample: { cuts, seed: "delegation" } });

matrixOn("memory", () => some(60), delegations);

const file = (): string => join(mkdtempSync(join(tmpdir(), "holdfast-delegation-")), "runs.db");
matrixOn("sqlite", () => ({ store: sqlite(file()), ...some(12) }), delegations);
