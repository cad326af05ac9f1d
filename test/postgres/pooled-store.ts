/**
 * A store that is opened again and again on one pool of connections, which is most of what opening costs.
 *
 * Every opened store begins without memory, as the store of another process would. The connections hold nothing between
 * two transactions (D1), so a process that has died may leave them to the next.
 */
import type { StoreDefinition } from "../../src/ports/store.ts";
import type { Database, Session } from "../../src/stores/postgres/database.ts";
import { openDatabase } from "../../src/stores/postgres/open-database.ts";
import { createPostgresStore } from "../../src/stores/postgres/store.ts";
import { deps, freshSchema, prepare } from "./shared-server.ts";

export interface PooledStore extends StoreDefinition {
  /** Every row is gone and numbers begin anew: cheaper than another schema. Nobody may be using it. */
  empty(): Promise<void>;
  readonly url: string;
  readonly schema: string;
  close(): Promise<void>;
}

export async function pooledStore(): Promise<PooledStore> {
  const options = { ...(await freshSchema()), connections: 8, prepare, time: "clock" } as const;
  const database = await openDatabase(options, deps);
  const atFirst = await session(database, (db) => db.all<Sequence>(findSequences, [options.schema]));
  const kept = { ...database, close: async () => undefined };
  return {
    name: "postgres",
    ...{ url: options.url, schema: options.schema },
    open: async (opening) => createPostgresStore(kept, options, opening),
    empty: () =>
      session(database, async (db) => {
        const tables = await db.all<{ name: string }>(findTables, [options.schema]);
        await db.script(tables.map(({ name }) => `DELETE FROM hf.${name}`).join(";"));
        for (const { name, value, used } of atFirst)
          await db.all("SELECT setval($1::regclass, $2, $3)", [name, value, used]);
      }),
    close: () => database.close(),
  };
}

async function session<T>(database: Database, work: (db: Session) => Promise<T>): Promise<T> {
  const db = await database.connect();
  const done = await work(db);
  db.release(false);
  return done;
}

interface Sequence {
  readonly name: string;
  readonly value: number;
  readonly used: boolean;
}

const findTables = "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'migrations'";

const findSequences = `SELECT format('%I.%I', schemaname, sequencename) AS name,
    coalesce(last_value, start_value) AS value, last_value IS NOT NULL AS used
  FROM pg_sequences WHERE schemaname = $1`;
