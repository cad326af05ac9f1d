/**
 * What the store tells about itself.
 *
 * F1 Due runs are counted through the index of claims, one seek for each agent and priority, and never more than
 *    `mostDue + 1` of them. The agents of a scope are found by jumping from one to the next in the same index.
 */
import { priorities } from "../../domain/run.ts";
import { type FiguresRequest, mostDue, type StoreFigures } from "../../ports/store-figures.ts";
import { type Access, storeTime } from "./access.ts";
import type { Queries } from "./database.ts";

const levels = `(VALUES ${priorities.map((priority) => `(${priority})`).join(", ")}) AS level (priority)`;

const nextAgent = (after: string): string =>
  `(SELECT agent FROM hf.runs WHERE scope = $1 AND due IS NOT NULL ${after} ORDER BY agent LIMIT 1)`;

const given = "SELECT DISTINCT unnest($3::text[])";
const all = `SELECT ${nextAgent("")} WHERE $3::text[] IS NULL
    UNION ALL SELECT ${nextAgent("AND agent > wanted.agent")} FROM wanted WHERE wanted.agent IS NOT NULL`;

/** A run that was given back has a `due` of 0, "at once": it is due since its wake. */
const countDue = (agents: string): string => `WITH RECURSIVE wanted (agent) AS (${agents}),
  time AS MATERIALIZED (SELECT ${storeTime("$2")} AS now),
  pairs AS MATERIALIZED (SELECT agent, priority FROM wanted CROSS JOIN ${levels} WHERE agent IS NOT NULL),
  counted AS MATERIALIZED (
    SELECT FROM pairs CROSS JOIN LATERAL (
      SELECT FROM hf.runs WHERE scope = $1 AND agent = pairs.agent AND priority = pairs.priority
        AND due <= (SELECT now FROM time) LIMIT ${mostDue + 1}) AS found
    LIMIT ${mostDue + 1}),
  firsts AS MATERIALIZED (
    SELECT since FROM pairs CROSS JOIN LATERAL (
      (SELECT due AS since FROM hf.runs WHERE scope = $1 AND agent = pairs.agent AND priority = pairs.priority
        AND due > 0 AND due <= (SELECT now FROM time) ORDER BY due LIMIT 1)
      UNION ALL
      (SELECT coalesce(wake, ready) FROM hf.runs WHERE scope = $1 AND agent = pairs.agent AND priority = pairs.priority
        AND due = 0 LIMIT ${mostDue})) AS found)
  SELECT (SELECT count(*) FROM counted)::integer AS due,
    greatest(0, (SELECT now FROM time) - (SELECT min(since) FROM firsts)) AS due_ms`;

const countDueOf = countDue(given);
const countDueOfAll = countDue(all);

export async function readDue(
  db: Queries,
  access: Access,
  { scope, agents }: FiguresRequest,
): Promise<Pick<StoreFigures, "due" | "dueMs">> {
  const sql = agents ? countDueOf : countDueOfAll;
  const row = await db.get<{ due: number; due_ms: number | null }>(sql, [scope, access.time(), agents ?? null]);
  return { due: row?.due ?? 0, dueMs: row?.due_ms ?? 0 };
}
