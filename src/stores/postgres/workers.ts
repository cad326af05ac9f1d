/** Announcements of workers (K1, K2): a small table of its own, written every few seconds by each worker. */
import { priorities } from "../../domain/run.ts";
import { type Announcement, announcedScopes, type UnservedRequest } from "../../ports/worker-store.ts";
import { type Access, storeTime } from "./access.ts";
import type { Queries } from "./database.ts";
import type { Job } from "./jobs.ts";

/** Rows that someone else is writing are left to him: nobody waits, and two workers cannot block each other. */
const forget = `DELETE FROM hf.workers WHERE (scope, agent, worker) IN (
    SELECT scope, agent, worker FROM hf.workers
    WHERE worker = $1 OR until <= ${storeTime("$2")} FOR UPDATE SKIP LOCKED)`;
const add = `INSERT INTO hf.workers (scope, agent, worker, until)
  SELECT scope, agent, $1, ${storeTime("$2")} + $3::bigint
  FROM unnest($4::text[]) AS scopes (scope) CROSS JOIN unnest($5::text[]) AS agents (agent)
  ON CONFLICT (scope, agent, worker) DO UPDATE SET until = excluded.until`;

export function announceJob(access: Access, announcement: Announcement): Job<undefined> {
  const { worker, agents, ttlMs } = announcement;
  return {
    ...{ scope: "" as Job<undefined>["scope"], keys: [`worker\n${worker}`], bytes: 0, needs: {} },
    write: async (tx) => {
      await tx.run(forget, [worker, access.time()]);
      await tx.run(add, [worker, access.time(), ttlMs, announcedScopes(announcement), agents]);
      return undefined;
    },
  };
}

const levels = `(VALUES ${priorities.map((priority) => `(${priority})`).join(", ")}) AS level (priority)`;

/** Jumps from agent to agent; the work grows with the agents, not with their runs. */
export const findUnserved = `WITH RECURSIVE found (agent) AS (
    (SELECT agent FROM hf.runs WHERE scope = $1 AND due IS NOT NULL ORDER BY agent LIMIT 1)
    UNION ALL
    SELECT (SELECT agent FROM hf.runs WHERE scope = $1 AND due IS NOT NULL AND agent > found.agent ORDER BY agent LIMIT 1)
    FROM found WHERE found.agent IS NOT NULL
  )
  SELECT agent FROM found WHERE agent IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM hf.workers
      WHERE workers.scope IN ($1, '') AND workers.agent = found.agent AND until > ${storeTime("$2")})
    AND EXISTS (SELECT 1 FROM ${levels} CROSS JOIN LATERAL (
      SELECT 1 FROM hf.runs WHERE scope = $1 AND agent = found.agent AND priority = level.priority
        AND due <= ${storeTime("$2")} - $3::bigint LIMIT 1) AS late)
  ORDER BY agent LIMIT $4`;

export async function unserved(db: Queries, access: Access, request: UnservedRequest): Promise<readonly string[]> {
  const { scope, dueForMs, limit } = request;
  const rows = await db.all<{ agent: string }>(findUnserved, [scope, access.time(), dueForMs, limit]);
  return rows.map(({ agent }) => agent);
}
