/**
 * Prunes four runs and is dead at one statement: node prune-runs.ts <target as JSON> <cut as JSON>. Without a cut it prunes
 * until nothing is left.
 */
import { writeSync } from "node:fs";
import { nodeClock } from "../../../src/platform/node-clock.ts";
import { postgresWithProbe } from "../../../src/stores/postgres/postgres.ts";
import { sqliteWithProbe } from "../../../src/stores/sqlite/sqlite.ts";
import { scopeA } from "../../../src/testing/conformance/store-fixtures.ts";

export type PruneTarget = { readonly path: string } | { readonly url: string; readonly schema: string };

export interface PruneCut {
  /** Beginning of the statement, and which of those. */
  readonly sql: string;
  readonly nth: number;
  readonly when: "before" | "after";
}

const target = JSON.parse(process.argv[2] ?? "{}") as PruneTarget;
const cut = JSON.parse(process.argv[3] ?? "null") as PruneCut | null;
let isPruning = false;
const seen = { before: 0, after: 0 };

function dieAt(when: "before" | "after"): (sql: string) => void {
  return (sql) => {
    if (!isPruning || cut?.when !== when || !sql.startsWith(cut.sql)) return;
    seen[when] += 1;
    if (seen[when] === cut.nth) process.kill(process.pid, "SIGKILL");
    // The signal may take a moment; what comes after it must not happen.
    if (seen[when] >= cut.nth) for (;;);
  };
}

const probe = { before: dieAt("before"), after: dieAt("after") };
const definition =
  "path" in target ? sqliteWithProbe(target.path, probe) : postgresWithProbe({ ...target, connections: 3 }, probe);
const store = await definition.open({ clock: nodeClock, logger: { warn: () => undefined, note: () => undefined } });
isPruning = true;
for (let erased = 1; erased > 0; ) {
  erased = (await store.prune({ scope: scopeA, ended: { agoMs: 0 }, limit: 4 })).length;
  writeSync(1, `${erased}\n`);
}
await store.close();
