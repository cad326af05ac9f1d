/** A real runtime with one transactional tool on either store, and the table that the tool writes in. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import type { Entry } from "../../src/domain/entry.ts";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import type { CallResult } from "../../src/domain/message.ts";
import { readAfter } from "../../src/engine/load.ts";
import { type Agent, agent, createRuntime, type Runtime, type Tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { transactionalTool as postgresTool } from "../../src/postgres.ts";
import { sqlite, transactionalTool as sqliteTool } from "../../src/sqlite.ts";
import type { PostgresStoreOptions } from "../../src/stores/postgres/postgres.ts";
import { scripted } from "../../src/testing.ts";
import { deps, freshStore, query } from "../postgres/shared-server.ts";

export const input = z.object({ n: z.number() });
export type PostgresApply = Parameters<typeof postgresTool<typeof input, unknown>>[0]["apply"];
export type SqliteApply = Parameters<typeof sqliteTool<typeof input, unknown>>[0]["apply"];

export interface Place {
  readonly definition: StoreDefinition;
  /** The table, as statements name it. */
  readonly bookings: string;
  ask<Row>(sql: string): Promise<readonly Row[]>;
  /** Call ids of all rows, sorted. */
  rows(): Promise<readonly string[]>;
  /** What every call of every run came to. */
  results(): Promise<readonly Result[]>;
}

export interface Result {
  readonly call: string;
  readonly result: CallResult;
}

export interface PostgresPlace extends Place {
  readonly url: string;
  readonly schema: string;
}

/** Without a key: a second row of a call would be seen. */
const table = "bookings (call text, n integer)";

export async function aSqlitePlace(): Promise<Place & { readonly file: string }> {
  const file = join(mkdtempSync(join(tmpdir(), "holdfast-bookings-")), "runs.db");
  const definition = sqlite(file, { durability: "normal" });
  await definition.open(deps).then((store) => store.close());
  const db = new DatabaseSync(file);
  onTestFinished(() => db.close());
  db.exec(`CREATE TABLE ${table}`);
  const ask = async <Row>(sql: string): Promise<readonly Row[]> =>
    db.prepare(sql).all() as readonly unknown[] as readonly Row[];
  const reads = readsOf(definition, { ask, bookings: "bookings", runs: "runs" });
  return { file, definition, bookings: "bookings", ask, ...reads };
}

export async function aPostgresPlace(options: Partial<PostgresStoreOptions> = {}): Promise<PostgresPlace> {
  const { url, schema, definition } = await freshStore({ time: "database", ...options });
  await definition.open(deps).then((store) => store.close());
  await query(url, `CREATE TABLE ${schema}.${table}`);
  const ask = <Row>(sql: string): Promise<readonly Row[]> => query<Row>(url, sql);
  const bookings = `${schema}.bookings`;
  return { url, schema, definition, bookings, ask, ...readsOf(definition, { ask, bookings, runs: `${schema}.runs` }) };
}

interface Tables {
  readonly ask: Place["ask"];
  readonly bookings: string;
  readonly runs: string;
}

function readsOf(definition: StoreDefinition, { ask, bookings, runs }: Tables): Pick<Place, "rows" | "results"> {
  return {
    rows: async () => {
      const rows = await ask<{ call: string }>(`SELECT call FROM ${bookings}`);
      return rows.map(({ call }) => call).sort();
    },
    results: async () => {
      const store = await definition.open(deps);
      const found: Result[] = [];
      for (const { scope, id } of await ask<{ scope: Scope; id: RunId }>(`SELECT scope, id FROM ${runs}`)) {
        for (const entry of await readAfter({ scope, run: id }, 0, store)) found.push(...resultsIn(entry));
      }
      await store.close();
      return found;
    },
  };
}

export function resultsIn(entry: Entry): readonly Result[] {
  if (entry.type !== "message-appended" || entry.body.kind !== "here") return [];
  const { parts } = entry.body.message;
  return parts.flatMap((part) => (part.type === "tool-result" ? [{ call: part.call, result: part.result }] : []));
}

/** X1: the calls that have succeeded are those that have a row. */
export async function expectKeptTogether(place: Place): Promise<readonly Result[]> {
  const results = await place.results();
  const done = results.filter(({ result }) => result.kind === "value").map(({ call }) => call);
  expect(await place.rows()).toEqual(done.sort());
  return results;
}

export interface Booker {
  readonly runtime: Runtime;
  readonly clerk: Agent;
}

/** Calls `book` so many times at once, then says "Done.". */
export async function aClerk(
  place: Place,
  book: Tool,
  { calls = 1, leaseMs = 30_000, thinksMs = 0 } = {},
): Promise<Booker> {
  const asked = Array.from({ length: calls }, (_, n) => ({ tool: "book", input: { n } }));
  const model = scripted([{ calls: asked }, { text: "Done.", delayMs: thinksMs }]);
  const clerk = agent({ name: "clerk", instructions: "Book.", tools: [book], model });
  const runtime = await createRuntime({ agents: [clerk], store: place.definition, logger: quiet, leaseMs });
  onTestFinished(() => runtime.close());
  return { runtime, clerk };
}

export const quiet = { warn: () => undefined, note: () => undefined };
const named = { name: "book", description: "Books", input };

export function bookOnPostgres(apply: PostgresApply, timeoutMs = 20_000): Tool {
  return postgresTool({ ...named, timeoutMs, apply });
}

export function bookOnSqlite(apply: SqliteApply): Tool {
  return sqliteTool({ ...named, apply });
}

/** A run that hangs says so, instead of running into the framework's limit. */
export function patience(ms = 20_000): { readonly signal: AbortSignal } {
  return { signal: AbortSignal.timeout(ms) };
}
