/**
 * A store that is opened again and again on one pool of connections, which is most of what opening costs.
 *
 * Every opened store begins without memory, as the store of another process would. The connections hold nothing between
 * two transactions (D1), so a process that has died may leave them to the next.
 */
import type { StoreDefinition } from "../../src/ports/store.ts";
import { openDatabase } from "../../src/stores/postgres/open-database.ts";
import { createPostgresStore } from "../../src/stores/postgres/store.ts";
import { deps, freshSchema, prepare } from "./shared-server.ts";

export interface PooledStore extends StoreDefinition {
  close(): Promise<void>;
}

export async function pooledStore(): Promise<PooledStore> {
  const options = { ...(await freshSchema()), connections: 8, prepare, time: "clock" } as const;
  const database = await openDatabase(options, deps);
  const kept = { ...database, close: async () => undefined };
  return {
    name: "postgres",
    open: async (opening) => createPostgresStore(kept, options, opening),
    close: () => database.close(),
  };
}
