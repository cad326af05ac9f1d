/** Writers in two processes, readers that reconnect at random: every reader sees its order exactly. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createRuntime } from "../../src/create-runtime.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { postgres } from "../../src/postgres.ts";
import type { Run, Runtime } from "../../src/runtime/runtime.ts";
import { inSchema } from "../../src/stores/postgres/database.ts";
import { entriesIn, type JournalRow } from "../../src/stores/postgres/journal.ts";
import { postgresStore } from "../../src/stores/postgres/postgres.ts";
import { createDraw } from "../../src/testing/conformance/store-commands.ts";
import { entriesPerStep, laneClerk, quiet } from "./lanes.ts";
import { type Crowd, nameOf, type Reader, readThrough } from "./readers.ts";
import { freshStore, query } from "./shared-server.ts";

const lanes = 8;
const processes = 2;
const runsPerLane = 4;
/** The figures are 200 and 20,000. */
const readerCount = Number(process.env.HOLDFAST_READERS ?? 40);
const events = Number(process.env.HOLDFAST_READERS_EVENTS ?? 1_200);
const steps = Math.ceil(events / (lanes * runsPerLane * entriesPerStep));
const seed = Number(process.env.HOLDFAST_READERS_SEED ?? 1);

interface Schema {
  readonly url: string;
  readonly schema: string;
}

async function startWorker({ url, schema }: Schema, n: number): Promise<ChildProcess> {
  const path = new URL("children/work-lanes.ts", import.meta.url).pathname;
  const args = [path, url, schema, `worker-${n}`, String(lanes / processes), String(steps)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

async function desk(store: StoreDefinition): Promise<Runtime> {
  const runtime = await createRuntime({ store, logger: quiet });
  onTestFinished(() => runtime.close());
  return runtime;
}

/** Of three kinds: everything, one thread after all its runs, and one run after the other. */
function follow(
  n: number,
  runs: readonly (readonly Run<string>[])[],
  crowd: Crowd,
): Reader & { over: Promise<unknown> } {
  const lane = n % lanes;
  const kind = (["all", "thread", "runs"] as const)[n % 3]!;
  const reader: Reader = { name: `${kind} ${lane}`, seen: [], most: 0, wrong: [], reconnects: 0 };
  const filter = kind === "all" ? {} : { threads: [`lane-${lane}`] };
  const read = async (): Promise<void> => {
    if (kind !== "runs") await readThrough(reader, (runtime, options) => runtime.watch(filter, options), crowd);
    for (const { id } of kind === "runs" ? (runs[lane] ?? []) : []) {
      await readThrough(reader, (runtime, options) => runtime.runs.get(id).watch(options), crowd);
    }
  };
  const over = read().catch((cause: unknown) => void reader.wrong.push(String(cause)));
  return Object.assign(reader, { over });
}

interface Found extends JournalRow {
  readonly id: string;
  readonly thread_id: string;
}

interface Fact {
  readonly run: string;
  readonly thread: string;
  readonly name: string;
}

/** The journal as it lies there, asked without the store. */
async function journalOf({ url, schema }: Schema): Promise<readonly Fact[]> {
  const sql = `SELECT runs.id, runs.thread_id, seq::int, journal.epoch::int, time, format, body
    FROM hf.journal JOIN hf.runs ON runs.no = journal.run ORDER BY at`;
  const rows = await query<Found>(url, inSchema(sql, schema));
  return rows.flatMap((row) =>
    entriesIn(row).map(({ seq, type }) => ({
      run: row.id,
      thread: row.thread_id,
      name: nameOf({ run: row.id, seq, type }),
    })),
  );
}

/** Over many runs in the order of the journal; run by run, one run after the other. */
function wantedBy(
  reader: string,
  journal: readonly Fact[],
  runs: readonly (readonly Run<string>[])[],
): readonly string[] {
  const [kind, lane] = reader.split(" ");
  if (kind === "all") return journal.map(({ name }) => name);
  if (kind === "thread") return journal.filter(({ thread }) => thread === `lane-${lane}`).map(({ name }) => name);
  const mine = runs[Number(lane)] ?? [];
  return mine.flatMap(({ id }) => journal.filter(({ run }) => run === id).map(({ name }) => name));
}

/** What never becomes so is found by what is expected afterwards. */
async function until(isSo: () => boolean, patienceMs: number): Promise<void> {
  for (const end = Date.now() + patienceMs; !isSo() && Date.now() < end; ) await delay(20);
}

/** One commit in ten takes its time between its position and its end: others with later positions end before it. */
const linger = `CREATE FUNCTION hf.linger() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN IF random() < 0.1 THEN PERFORM pg_sleep(0.1); END IF; RETURN NULL; END';
  CREATE TRIGGER linger AFTER INSERT ON hf.journal FOR EACH STATEMENT EXECUTE FUNCTION hf.linger()`;

/** The first place where they differ. */
function difference(seen: readonly string[], wanted: readonly string[]): string | undefined {
  const at = wanted.findIndex((fact, index) => fact !== seen[index]);
  if (at === -1 && seen.length === wanted.length) return undefined;
  const place = at === -1 ? wanted.length : at;
  return `event ${place + 1} of ${wanted.length} is ${seen[place]}, not ${wanted[place]}`;
}

test(`${lanes} writers append ${events} events: ${readerCount} readers that reconnect at random each see their order exactly`, {
  timeout: 900_000,
}, async () => {
  const fresh = await freshStore({ time: "database" });
  const where = { url: fresh.url, schema: fresh.schema };
  // One is told of what is written, the other only asks.
  const runtimes = await Promise.all([desk(postgres(where)), desk(postgresStore(where))]);
  const [first] = runtimes as [Runtime, Runtime];
  await query(where.url, inSchema(linger, where.schema));
  const clerk = laneClerk(steps);
  const runs = await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const mine: Run<string>[] = [];
      for (let n = 0; n < runsPerLane; n += 1) mine.push(await first.start(clerk, "Go", { thread: `lane-${lane}` }));
      return mine;
    }),
  );
  const workers = await Promise.all(Array.from({ length: processes }, (_, n) => startWorker(where, n)));
  const [calm, stop] = [new AbortController(), new AbortController()];
  onTestFinished(() => stop.abort());
  const crowd: Crowd = {
    runtimes,
    draw: createDraw(seed),
    calm: calm.signal,
    stop: stop.signal,
    known: new Map(),
    patience: Math.min(300, events / 20),
  };
  const readers = Array.from({ length: readerCount }, (_, n) => follow(n, runs, crowd));

  const results = await Promise.all(runs.flat().map((run) => run.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => "completed"));
  for (const worker of workers) worker.stdin?.write("go\n");
  const journal = await journalOf(where);
  expect(journal.length).toBeGreaterThanOrEqual(events);

  const orders = new Map(readers.map(({ name }) => [name, wantedBy(name, journal, runs)]));
  const isThere = ({ name, most, wrong }: Reader): boolean => wrong.length > 0 || most >= orders.get(name)!.length;
  await until(() => readers.every(isThere), 40_000 + 20 * events);
  calm.abort(); // who has forgotten something reads it again and stays
  await until(
    () => readers.every((reader) => reader.wrong.length > 0 || reader.seen.length >= orders.get(reader.name)!.length),
    20_000,
  );
  await delay(200); // whoever is shown something twice has the time to be
  stop.abort();
  await Promise.all(readers.map(({ over }) => over));

  const wrong = readers.flatMap((reader) => {
    const found = difference(reader.seen, orders.get(reader.name)!);
    return [...reader.wrong, ...(found === undefined ? [] : [found])].map((what) => `${reader.name}: ${what}`);
  });
  expect(wrong.slice(0, 10)).toEqual([]);
  const reconnects = readers.reduce((sum, reader) => sum + reader.reconnects, 0);
  expect(reconnects).toBeGreaterThan(3 * readerCount);
});
