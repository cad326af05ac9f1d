/**
 * Numbered migrations, each with a checksum in the schema.
 *
 * N1 A schema of a newer version, with a changed migration, or with tables of another program is refused before anything
 *    is written.
 * N2 Missing migrations are applied in one transaction, under an advisory lock, after looking again at what is there:
 *    another process may have been first.
 */
import { createHash } from "node:crypto";
import { HoldfastError } from "../../domain/errors.ts";
import type { Database, Session } from "./database.ts";
import { quoted } from "./database.ts";
import { migration1 } from "./migration-1.ts";

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

const migrations: readonly Migration[] = [{ number: 1, name: "first layout", sql: migration1 }];

/** Every table and sequence that the migrations make. */
export const relations: readonly string[] = migrations.flatMap(({ sql }) =>
  [...sql.matchAll(/^CREATE (?:TABLE|SEQUENCE) hf\.(\w+)/gm)].map(([, name = ""]) => name),
);

interface Applied {
  readonly number: number;
  readonly checksum: string;
}

const createTable = `CREATE TABLE hf.migrations (
  number integer PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  time timestamptz NOT NULL DEFAULT now()
)`;

export async function migrate(db: Database, session: Session): Promise<void> {
  if ((await countApplied(db, session)) === migrations.length) return;
  await session.script("BEGIN");
  try {
    await session.get("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`holdfast:${db.schema}`]);
    const applied = await countApplied(db, session);
    if (applied === 0) await session.script(`CREATE SCHEMA IF NOT EXISTS ${quoted(db.schema)}; ${createTable}`);
    for (const { number, name, sql } of migrations.slice(applied)) {
      await session.script(sql);
      const values = [number, name, checksumOf(sql)];
      await session.run("INSERT INTO hf.migrations (number, name, checksum) VALUES ($1, $2, $3)", values);
    }
    await session.script("COMMIT");
  } catch (cause) {
    await session.script("ROLLBACK").catch(() => undefined);
    throw cause;
  }
}

/** Reads only. Throws when this schema must not be touched. */
async function countApplied(db: Database, session: Session): Promise<number> {
  const applied = await appliedTo(db, session);
  for (const [index, row] of applied?.entries() ?? []) checkMigration(row, { db, expected: index + 1 });
  if (applied?.length === 0) throw unrecorded(db, 1);
  return applied?.length ?? 0;
}

const findTables = `SELECT count(*) FILTER (WHERE relname = 'migrations') AS ours, count(*) AS tables
  FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`;

/** Undefined: a new schema. */
async function appliedTo(db: Database, session: Session): Promise<readonly Applied[] | undefined> {
  const found = await session.get<{ ours: number; tables: number }>(findTables, [db.schema]);
  if (found?.ours === 1)
    return session.all<Applied>("SELECT number, checksum FROM hf.migrations ORDER BY number LIMIT 1000");
  if ((found?.tables ?? 0) === 0) return undefined;
  const message = `${db.name}: schema ${db.schema} holds tables of another program: choose another schema`;
  throw new HoldfastError("store-unusable", message);
}

interface Place {
  readonly db: Database;
  readonly expected: number;
}

function checkMigration({ number, checksum }: Applied, { db, expected }: Place): void {
  const { name, schema } = db;
  const known = migrations.find((migration) => migration.number === number);
  if (!known) {
    const message = `${name}: schema ${schema} is of version ${number}; this version knows up to ${migrations.length}`;
    throw new HoldfastError("store-newer", message, { details: { schema, version: number } });
  }
  if (number !== expected) throw unrecorded(db, expected);
  if (checksumOf(known.sql) !== checksum) {
    const message = `${name}: migration ${number} of schema ${schema} is not the one that this version has`;
    throw new HoldfastError("store-unusable", message);
  }
}

/** A schema gets its tables and their record in one transaction: someone else has taken the record away. */
function unrecorded({ name, schema }: Database, number: number): HoldfastError {
  const advice = "restore it from a backup, or choose another schema";
  const message = `${name}: schema ${schema} has no record of migration ${number}: ${advice}`;
  return new HoldfastError("store-unusable", message);
}

function checksumOf(sql: string): string {
  return createHash("sha256").update(sql).digest("hex");
}
