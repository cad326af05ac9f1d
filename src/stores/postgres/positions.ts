/**
 * The global order of commits: numbers of one sequence, drawn while the run's row is locked.
 *
 * A transaction that drew an early number may commit late, so a reader must not pass a number that can still appear.
 *
 * P1 A transaction that will draw announces, before it draws, how far the sequence was: it holds a shared advisory lock
 *    (nobody ever waits for it) whose key carries that number. All it draws is higher.
 * P2 A reader asks the sequence, then the announcements, and then, in a statement of its own, for rows up to the lowest
 *    of these numbers. Whoever is not announced by then draws above it; whoever is announced no longer has committed,
 *    and a statement that begins now sees what he wrote.
 * P3 Within a run positions rise with seq, because both are given under the row's lock. (Transaction ids do not have
 *    this: one that was given an id early may be the second to lock a row.)
 * P4 Only transactions of this schema hold back the horizon, and each for as long as its own writes last. Someone else's
 *    open transaction stalls nothing; reads of one run never ask for the horizon.
 *    Whether anything was committed at all, for those who watch single runs, is told by the numbers and by the
 *    announcements that have ended; the horizon would keep it from them.
 * P5 A restored or copied database goes on counting: nothing here depends on the server's transaction ids.
 */
import { createHash } from "node:crypto";
import type { Queries } from "./database.ts";

/** 43 bits for the number: enough for 10,000 commits per second over 27 years. */
const numberBits = 43;

/** The upper 20 bits of the announcements of one schema. */
function familyOf(schema: string): bigint {
  const digest = createHash("sha256").update(`holdfast:${schema}`).digest();
  return BigInt(digest.readUInt32BE(0) >>> 12);
}

/** An expression that announces and answers nothing; to be evaluated before the first number is drawn. */
export function announcement(schema: string): string {
  const base = familyOf(schema) << BigInt(numberBits);
  return `pg_advisory_xact_lock_shared(${base} + (SELECT last_value FROM hf.positions))`;
}

const key = "((classid::bigint << 32) | objid::bigint)";
const announced = `${key} & ${(1n << BigInt(numberBits)) - 1n}`;

/** The reference to `newest` makes the server look at the sequence first. */
function announcements(schema: string): string {
  return `pg_locks WHERE newest.at >= 0 AND locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND ${key} >> ${numberBits} = ${familyOf(schema)}`;
}

function findHorizon(schema: string): string {
  return `WITH newest AS MATERIALIZED (SELECT last_value AS at FROM hf.positions)
    SELECT newest.at AS newest, least(newest.at, held.first) AS horizon, held.open FROM newest CROSS JOIN LATERAL (
      SELECT min(${announced}) AS first, count(*) || ' ' || coalesce(sum(${announced}), 0) AS open
      FROM ${announcements(schema)}) AS held`;
}

/** How long the transaction lasts that holds readers back most; NULL where the role may not see it. */
export function findHolder(schema: string): string {
  return `WITH newest AS MATERIALIZED (SELECT last_value AS at FROM hf.positions), holder AS MATERIALIZED (
      SELECT held.* FROM newest CROSS JOIN LATERAL (
        SELECT pid, ${announced} AS at FROM ${announcements(schema)}) AS held
      ORDER BY held.at LIMIT 1)
    SELECT newest.at AS newest, least(newest.at, holder.at) AS horizon, (
      SELECT floor(extract(epoch FROM clock_timestamp() - xact_start) * 1000)::bigint FROM pg_stat_activity
      WHERE pg_stat_activity.pid = holder.pid) AS ms
    FROM newest LEFT JOIN holder ON true`;
}

export interface Horizon {
  /** No row at or below it can appear any more. */
  readonly horizon: number;
  /** The last number that was drawn. */
  readonly newest: number;
  /** Of the announcements: another text when one of them has ended. */
  readonly open: string;
}

type FindHorizon = (db: Queries) => Promise<Horizon>;

export function createFindHorizon(schema: string): FindHorizon {
  const sql = findHorizon(schema);
  return async (db) => (await db.get<Horizon>(sql)) ?? { horizon: 0, newest: 0, open: "" };
}
