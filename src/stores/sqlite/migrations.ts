/**
 * Numbered migrations, each with a checksum in the file.
 *
 * N1 A file of a newer schema, with a changed migration, or of another program is refused before a byte is written.
 * N2 Missing migrations are applied in one transaction, which looks again at what the file has: another process may
 *    have been first.
 */
import { createHash } from "node:crypto";
import { HoldfastError } from "../../domain/errors.ts";
import type { Connection } from "./database.ts";
import { migration1 } from "./migration-1.ts";

/** "Hold", in the file's header: this file is ours. */
const applicationId = 0x48_6f_6c_64;

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

const createTable = `CREATE TABLE migrations (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  time INTEGER NOT NULL
) STRICT`;

/** Reads only. Throws when this file must not be touched; answers whether something is still to be applied. */
export function checkSchema(db: Connection, path: string): boolean {
  const applied = appliedTo(db, path);
  for (const row of applied) checkMigration(row, path);
  return applied.length < migrations.length;
}

export function migrate(db: Connection, path: string, now: number): void {
  if (!checkSchema(db, path)) return;
  db.run("BEGIN IMMEDIATE");
  try {
    const applied = appliedTo(db, path);
    if (applied.length === 0) db.script(`PRAGMA application_id = ${applicationId}; ${createTable};`);
    for (const migration of migrations.slice(applied.length)) {
      db.script(migration.sql);
      const { number, name } = migration;
      const values = [number, name, checksumOf(migration), now] as const;
      db.run("INSERT INTO migrations (number, name, checksum, time) VALUES (?, ?, ?, ?)", ...values);
    }
    db.run("COMMIT");
  } finally {
    if (db.isInTransaction()) db.run("ROLLBACK");
  }
}

function appliedTo(db: Connection, path: string): readonly Applied[] {
  const owner = db.get<{ application_id: number }>("PRAGMA application_id")?.application_id;
  if (owner === applicationId)
    return db.all<Applied>("SELECT number, checksum FROM migrations ORDER BY number LIMIT 1000");
  const tables = db.get<{ count: number }>("SELECT count(*) AS count FROM sqlite_schema")?.count;
  if (owner === 0 && tables === 0) return [];
  throw new HoldfastError("store-unusable", `${path} is a SQLite file of another program`);
}

function checkMigration({ number, checksum }: Applied, path: string): void {
  const known = migrations.find((migration) => migration.number === number);
  if (!known) {
    const message = `${path} has schema ${number}; this version knows up to ${migrations.length}`;
    throw new HoldfastError("store-newer", message, { details: { path, schema: number } });
  }
  if (checksumOf(known) !== checksum) {
    throw new HoldfastError("store-unusable", `${path}: migration ${number} is not the one that this version has`);
  }
}

function checksumOf(migration: Migration): string {
  return createHash("sha256").update(migration.sql).digest("hex");
}
