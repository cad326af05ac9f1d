/** Announcements of workers (K1, K2). */
import { type Announcement, allScopes, announcedScopes, type UnservedRequest } from "../../ports/worker-store.ts";
import { dueOf, type MemoryData, type ScopeData } from "./data.ts";

export function announce({ workers }: MemoryData, announcement: Announcement, now: number): void {
  for (const [name, { until }] of workers) if (until <= now) workers.delete(name);
  const { worker, agents, ttlMs } = announcement;
  workers.set(worker, { agents, scopes: announcedScopes(announcement), until: now + ttlMs });
}

export function unserved(
  data: MemoryData,
  scope: ScopeData,
  asked: UnservedRequest & { now: number },
): readonly string[] {
  const late = asked.now - asked.dueForMs;
  const waiting = [...scope.claimable].filter((run) => (dueOf(run) ?? Number.POSITIVE_INFINITY) <= late);
  const names = [...new Set(waiting.map((run) => run.agent))].sort();
  const served = [...data.workers.values()].filter(
    ({ until, scopes }) => until > asked.now && (scopes.includes(allScopes) || scopes.includes(asked.scope)),
  );
  return names.filter((name) => !served.some(({ agents }) => agents.includes(name))).slice(0, asked.limit);
}
