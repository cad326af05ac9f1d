/** A worker with one sink, a file that it appends to; dead at one moment of its first delivery: node teller.ts <target as JSON>. */
import { appendFileSync } from "node:fs";
import { createWorker } from "../../../src/create-worker.ts";
import { postgres } from "../../../src/postgres.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { teller } from "./agent.ts";

export interface TellerTarget {
  readonly store: { readonly path: string } | { readonly url: string; readonly schema: string };
  /** What the sink was told, a line each: key and attempt. */
  readonly file: string;
  readonly die?: "before" | "after";
}

const { store, file, die } = JSON.parse(process.argv[2] ?? "{}") as TellerTarget;

function dieAt(moment: TellerTarget["die"]): void {
  if (die !== moment) return;
  process.kill(process.pid, "SIGKILL");
  for (;;); // the signal may take a moment; what comes after it must not happen
}

await createWorker({
  agents: [teller],
  store: "path" in store ? sqlite(store.path) : postgres(store),
  logger: { warn: () => undefined, note: () => undefined },
  leaseMs: 500,
  pollMs: 20,
  sinks: {
    log: {
      timeoutMs: 500,
      deliver: (_message, { key, attempt }) => {
        dieAt("before");
        appendFileSync(file, `${key} ${attempt}\n`);
        dieAt("after");
      },
    },
  },
});
