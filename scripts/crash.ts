/**
 * The crash campaign: real processes on one store are killed and frozen while 32 runs are in flight, then a separate
 * process counts what was lost, doubled, left out or written too late. The last line is JSON.
 *
 *   npm run crash -- --kills 200                                             two workers on a SQLite file
 *   npm run crash -- --store postgres --workers 4 --kills 50 --pauses 20     HOLDFAST_TEST_POSTGRES_URL, or a server of its own
 *   npm run crash -- --kills 20 --keep somewhere                             leaves the logs and the store in that folder
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runCampaign } from "./crash/campaign.ts";
import type { Place } from "./crash/place.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    workers: { type: "string", default: "2" },
    kills: { type: "string", default: "200" },
    pauses: { type: "string", default: "0" },
    runs: { type: "string", default: "32" },
    keep: { type: "string" },
  },
});

function wholeNumber(name: "workers" | "kills" | "pauses" | "runs", least: number): number {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= least) return number;
  console.error(`--${name} must be a whole number from ${least} on, not ${JSON.stringify(values[name])}`);
  process.exit(2);
}

/** A server of our own is removed with the campaign. */
async function openPlace(): Promise<{ store: Place["store"]; remove: () => Promise<void> }> {
  if (values.store === "sqlite") return { store: "sqlite", remove: async () => undefined };
  if (values.store !== "postgres") {
    console.error(`--store must be sqlite or postgres, not ${JSON.stringify(values.store)}`);
    process.exit(2);
  }
  const schema = `crash_${Date.now().toString(36)}`;
  const given = process.env.HOLDFAST_TEST_POSTGRES_URL;
  if (given) return { store: { url: given, schema }, remove: async () => undefined };
  const { createTestServer } = await import("../test/postgres/embedded.ts");
  const server = await createTestServer();
  return { store: { url: server.url, schema }, remove: () => server.remove() };
}

const folder = values.keep ? resolve(values.keep) : mkdtempSync(join(tmpdir(), "holdfast-crash-"));
process.once("exit", () => {
  if (!values.keep) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
const numbers = {
  workers: wholeNumber("workers", 1),
  kills: wholeNumber("kills", 0),
  pauses: wholeNumber("pauses", 0),
  runsInFlight: wholeNumber("runs", 1),
};
const place = await openPlace();
try {
  process.exitCode = await runCampaign({ folder, store: place.store, ...numbers, say: (line) => console.log(line) });
} finally {
  await place.remove();
}
