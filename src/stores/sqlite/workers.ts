/** Announcements of workers (K1, K2): a small table of its own, written every few seconds by each worker. */
import { priorities } from "../../domain/run.ts";
import { type Announcement, announcedScopes, type UnservedRequest } from "../../ports/worker-store.ts";
import type { Access } from "./access.ts";
import type { Job } from "./group.ts";

const forget = "DELETE FROM workers WHERE worker = ? OR until <= ?";
const add = "INSERT OR REPLACE INTO workers (scope, agent, worker, until) VALUES (?, ?, ?, ?)";

export function announceJob({ db, now }: Access, announcement: Announcement): Job<undefined> {
  const write = (): undefined => {
    const { worker, agents, ttlMs } = announcement;
    db.run(forget, worker, now());
    for (const scope of announcedScopes(announcement)) {
      for (const agent of agents) db.run(add, scope, agent, worker, now() + ttlMs);
    }
    return undefined;
  };
  return { bytes: 0, write };
}

/** Jumps from agent to agent; the work grows with the agents, not with their runs. */
const findUnserved = `WITH RECURSIVE found (agent) AS (
    SELECT (SELECT agent FROM runs INDEXED BY runs_due WHERE scope = ?1 AND due IS NOT NULL ORDER BY agent LIMIT 1)
    UNION ALL
    SELECT (SELECT agent FROM runs INDEXED BY runs_due
      WHERE scope = ?1 AND due IS NOT NULL AND agent > found.agent ORDER BY agent LIMIT 1)
    FROM found WHERE found.agent IS NOT NULL
  )
  SELECT agent FROM found WHERE agent IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM workers
      WHERE workers.scope IN (?1, '') AND workers.agent = found.agent AND until > ?2)
    AND EXISTS (SELECT 1 FROM (VALUES ${priorities.map((priority) => `(${priority})`).join(", ")}) AS level
      WHERE EXISTS (SELECT 1 FROM runs INDEXED BY runs_due
        WHERE scope = ?1 AND agent = found.agent AND priority = level.column1 AND due <= ?3))
  ORDER BY agent LIMIT ?4`;

export function unserved({ db, now }: Access, { scope, dueForMs, limit }: UnservedRequest): readonly string[] {
  const rows = db.all<{ agent: string }>(findUnserved, scope, now(), now() - dueForMs, limit);
  return rows.map(({ agent }) => agent);
}
