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
  if (!(await isMissingSome(db, session))) return;
  await session.script("BEGIN");
  try {
    await session.get("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`holdfast:${db.schema}`]);
    const applied = await appliedTo(db, session);
    if (applied.length === 0) await session.script(`CREATE SCHEMA IF NOT EXISTS ${quoted(db.schema)}; ${createTable}`);
    for (const { number, name, sql } of migrations.slice(applied.length)) {
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
async function isMissingSome(db: Database, session: Session): Promise<boolean> {
  const applied = await appliedTo(db, session);
  for (const row of applied) checkMigration(row, db);
  return applied.length < migrations.length;
}

const findTables = `SELECT count(*) FILTER (WHERE relname = 'migrations') AS ours, count(*) AS tables
  FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`;

async function appliedTo(db: Database, session: Session): Promise<readonly Applied[]> {
  const found = await session.get<{ ours: number; tables: number }>(findTables, [db.schema]);
  if (found?.ours === 1)
    return session.all<Applied>("SELECT number, checksum FROM hf.migrations ORDER BY number LIMIT 1000");
  if ((found?.tables ?? 0) === 0) return [];
  throw new HoldfastError("store-unusable", `${db.name}: schema ${db.schema} holds tables of another program`);
}

function checkMigration({ number, checksum }: Applied, { name, schema }: Database): void {
  const known = migrations.find((migration) => migration.number === number);
  if (!known) {
    const message = `${name}: schema ${schema} is of version ${number}; this version knows up to ${migrations.length}`;
    throw new HoldfastError("store-newer", message, { details: { schema, version: number } });
  }
  if (checksumOf(known.sql) !== checksum) {
    const message = `${name}: migration ${number} of schema ${schema} is not the one that this version has`;
    throw new HoldfastError("store-unusable", message);
  }
}

function checksumOf(sql: string): string {
  return createHash("sha256").update(sql).digest("hex");
}
