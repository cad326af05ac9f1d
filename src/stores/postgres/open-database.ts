/**
 * Connects, or says in one sentence why the database cannot be used.
 *
 * O1 Everything is checked before anything is written: version, encoding, that it is no standby, the schema.
 * O2 Settings that weaken what a commit promises are told to the operator; the server's owner may want them.
 */
import type { Pool, PoolConfig } from "pg";
import { HoldfastError, isHoldfastError } from "../../domain/errors.ts";
import type { StoreDeps } from "../../ports/store.ts";
import { createDatabase, type Database, type Probe, type Session } from "./database.ts";
import { reasonOf, sqlState } from "./failures.ts";
import { migrate } from "./migrations.ts";

export interface OpenOptions {
  readonly url: string;
  readonly schema: string;
  readonly connections: number;
  readonly prepare: boolean;
  readonly time: "database" | "clock";
  readonly probe?: Probe;
}

const leastVersion = 150_000;
const connectPatienceMs = 10_000;
/** A connection on which nothing has come back for so long is taken for dead. */
const silenceMs = 30_000;
const muchSkewMs = 1_000;

export async function openDatabase(options: OpenOptions, deps: StoreDeps): Promise<Database> {
  const { url, schema, prepare, probe } = options;
  const name = nameOf(url);
  const pool = await createPool(options, name);
  const db = createDatabase(pool, { name, schema, prepare, ...(probe ? { probe } : {}) });
  let session: Session | undefined;
  try {
    session = await db.connect();
    await check(db, session, { ...deps, time: options.time });
    await migrate(db, session);
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

interface Facts {
  readonly version: number;
  readonly encoding: string;
  readonly synchronous: string;
  readonly is_standby: boolean;
  readonly now: number;
}

const askFacts = `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding,
  current_setting('synchronous_commit') AS synchronous, pg_is_in_recovery() AS is_standby,
  floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

async function check(db: Database, session: Session, deps: StoreDeps & Pick<OpenOptions, "time">): Promise<void> {
  const { clock, logger, time } = deps;
  const asked = clock.now();
  const facts = await session.get<Facts>(askFacts);
  if (!facts) throw new HoldfastError("store-unusable", `${db.name}: the server did not say what it is`);
  const { version, encoding, synchronous, is_standby: isStandby, now } = facts;
  const refuse = (why: string): never => {
    throw new HoldfastError("store-unusable", `${db.name}: ${why}`);
  };
  if (version < leastVersion) refuse(`PostgreSQL ${Math.floor(version / 10_000)} is too old: 15 or newer is needed`);
  if (encoding !== "UTF8") refuse(`the database is encoded in ${encoding}, not in UTF8`);
  if (isStandby) refuse("the server is a standby, which takes no writes");
  if (synchronous === "off") {
    logger.warn(`${db.name}: synchronous_commit is off: after a crash of the server the newest commits may be missing`);
  }
  const skewMs = Math.max(asked - now, now - clock.now());
  if (time === "database" && skewMs > muchSkewMs) {
    logger.warn(`${db.name}: this machine's clock and the server's differ by ${skewMs} ms; leases go by the server's`);
  }
}

/** Wrong names, passwords and rights are the operator's to put right; what cannot be reached may come back. */
function problemOf(cause: unknown, db: Database): HoldfastError {
  if (isHoldfastError(cause) && cause.code !== "store-unavailable") return cause;
  const reason = isHoldfastError(cause) ? cause.cause : cause;
  const code = sqlState(reason) ?? "";
  if (code === "42501") {
    const message = `${db.name}: the role may not create or use schema ${db.schema} (${reasonOf(reason)})`;
    return new HoldfastError("store-unusable", message, { cause: reason });
  }
  if (["28", "3D", "42", "3F"].some((group) => code.startsWith(group))) {
    return new HoldfastError("store-unusable", `${db.name}: refused (${reasonOf(reason)})`, { cause: reason });
  }
  if (isHoldfastError(cause)) return cause;
  return new HoldfastError("store-unavailable", `${db.name}: cannot be opened (${reasonOf(reason)})`, {
    cause: reason,
  });
}
