/** Where the stores of a bench live: every measurement gets an empty one, and it is gone afterwards. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Place } from "./setup.ts";

export interface StoreHost {
  /** Name, version and what it promises, for the reader of the figures. */
  readonly says: string;
  fresh(): Place;
  drop(place: Place): Promise<void>;
  close(): Promise<void>;
}

export function openHost(store: "sqlite" | "postgres"): Promise<StoreHost> {
  return store === "sqlite" ? Promise.resolve(openFolder()) : openServer();
}

function openFolder(): StoreHost {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  let files = 0;
  return {
    says: `SQLite ${process.versions.sqlite}, durability full`,
    fresh() {
      files += 1;
      return { path: join(folder, `runs-${files}.db`) };
    },
    async drop(place) {
      if (!("path" in place)) return;
      for (const end of ["", "-wal", "-shm"]) rmSync(`${place.path}${end}`, { force: true });
    },
    async close() {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function openServer(): Promise<StoreHost> {
  const { default: pg } = await import("pg");
  const server = await findServer();
  const { url } = server;
  const ask = async (sql: string): Promise<Record<string, unknown> | undefined> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows[0];
    } finally {
      await client.end();
    }
  };
  const { version, fsync, sync } =
    (await ask(
      "SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS sync",
    )) ?? {};
  const name = `bench_${process.pid}_${Date.now().toString(36)}`;
  let schemas = 0;
  return {
    says: `PostgreSQL ${version}, fsync ${fsync}, synchronous_commit ${sync}`,
    fresh() {
      schemas += 1;
      return { url, schema: `${name}_${schemas}` };
    },
    async drop(place) {
      if ("schema" in place) await ask(`DROP SCHEMA IF EXISTS "${place.schema}" CASCADE`);
    },
    close: () => server.remove(),
  };
}

async function findServer(): Promise<{ readonly url: string; remove(): Promise<void> }> {
  const given = process.env.HOLDFAST_TEST_POSTGRES_URL;
  if (given) return { url: given, remove: async () => undefined };
  const { createTestServer } = await import("../../test/postgres/embedded.ts");
  return createTestServer(["-c", "fsync=on"]); // tests need not wait for the disk; figures must
}
