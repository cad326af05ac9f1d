/** Connects, or says in one sentence why the database cannot be used, and what to do about it. */
import type { Pool, PoolConfig } from "pg";
import { HoldfastError, isHoldfastError } from "../../domain/errors.ts";
import type { StoreDeps } from "../../ports/store.ts";
import { checkSchema, checkServer } from "./checks.ts";
import { createDatabase, type Database, type Probe, type Session } from "./database.ts";
import { keepsNoStatements, reasonOf, sqlState } from "./failures.ts";
import { migrate, relations } from "./migrations.ts";

export interface OpenOptions {
  readonly url: string;
  readonly schema: string;
  readonly connections: number;
  readonly prepare: boolean;
  readonly time: "database" | "clock";
  readonly probe?: Probe;
}

const connectPatienceMs = 10_000;
/** A connection on which nothing has come back for so long is taken for dead. */
const silenceMs = 30_000;

export async function openDatabase(options: OpenOptions, deps: StoreDeps): Promise<Database> {
  const { url, schema, prepare, probe } = options;
  const name = nameOf(url);
  const pool = await createPool(options, name);
  const db = createDatabase(pool, { name, schema, prepare, ...(probe ? { probe } : {}) });
  let session: Session | undefined;
  try {
    session = await db.connect();
    await checkServer(db, session, { ...deps, time: options.time });
    await migrate(db, session);
    await checkSchema(db, session, relations);
    session.release(false);
    return db;
  } catch (cause) {
    session?.release(true);
    await db.close();
    throw problemOf(cause, db);
  }
}

/** `pg` is an optional peer: only who opens this store needs it. */
async function createPool({ url, connections }: OpenOptions, name: string): Promise<Pool> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new HoldfastError("store-unusable", "The package pg is missing: npm install pg", { cause });
  });
  const bigint = 20;
  const types = {
    getTypeParser: (oid: number, format?: "text" | "binary") =>
      oid === bigint ? Number : (pg.types.getTypeParser(oid, format as "text") as (value: string) => unknown),
  } as NonNullable<PoolConfig["types"]>;
  const config: PoolConfig = {
    ...{ connectionString: url, max: connections, types, keepAlive: true, query_timeout: silenceMs },
    ...{ connectionTimeoutMillis: connectPatienceMs, idleTimeoutMillis: 30_000, allowExitOnIdle: false },
  };
  try {
    return new pg.Pool(config);
  } catch (cause) {
    throw new HoldfastError("store-unusable", `${name}: the URL cannot be used (${reasonOf(cause)})`, { cause });
  }
}

/** Host and database of a URL, without user or password. */
export function nameOf(url: string): string {
  try {
    const { host, pathname, searchParams } = new URL(url);
    return `postgres://${host || searchParams.get("host") || "localhost"}${pathname}`;
  } catch {
    return "postgres";
  }
}

/** Wrong names, passwords and rights are the operator's to put right; what cannot be reached may come back. */
function problemOf(cause: unknown, db: Database): HoldfastError {
  if (isHoldfastError(cause) && cause.code !== "store-unavailable") return cause;
  const reason = isHoldfastError(cause) ? cause.cause : cause;
  const advice = adviceOn(reason, db);
  if (advice !== undefined) {
    return new HoldfastError("store-unusable", `${db.name}: ${advice} (${reasonOf(reason)})`, { cause: reason });
  }
  if (isHoldfastError(cause)) return cause;
  const message = `${db.name}: cannot be opened (${reasonOf(reason)}); try again later`;
  return new HoldfastError("store-unavailable", message, { cause: reason });
}

/** What the operator has to change, when it is his to change. */
function adviceOn(reason: unknown, { schema }: Database): string | undefined {
  const code = sqlState(reason) ?? "";
  if (code === "26000" || code === "42P05") return keepsNoStatements;
  if (code === "42501")
    return `the role may not create or use schema ${schema}: grant it CREATE on the database, or USAGE on the schema`;
  if (code === "25006") return "the server takes no writes: use the primary's address, and a role that may write";
  if (code === "3D000") return "there is no such database: create it, or check the URL";
  if (code.startsWith("28")) return "the server did not let us in: check user, password and pg_hba.conf";
  if (code.startsWith("42") || code.startsWith("3F")) return `schema ${schema} cannot be used`;
  // Thrown before anything was sent: the URL does not decode, or asks for what the server does not have.
  if (reason instanceof URIError) return "the URL cannot be used: encode special characters of the password, as %25";
  if (/SSL connections/.test(reasonOf(reason))) return "the URL asks for TLS, which the server does not offer";
  return undefined;
}
