/**
 * What the store tells about itself.
 *
 * F1 Due runs are counted through the index of claims, one seek for each agent and priority, and never more than
 *    `mostDue + 1` of them. The agents of a scope are found by jumping from one to the next in the same index.
 */
import type { Scope } from "../../domain/ids.ts";
import { priorities } from "../../domain/run.ts";
import { type FiguresRequest, mostDue, type StoreFigures } from "../../ports/store-figures.ts";
import type { Access } from "./access.ts";
import type { Connection } from "./database.ts";

export const countDue = `SELECT count(*) AS due FROM (SELECT 1 FROM runs INDEXED BY runs_due
  WHERE scope = ? AND agent = ? AND priority = ? AND due <= ? LIMIT ?)`;

export const findFirst = `SELECT due AS since FROM runs INDEXED BY runs_due
  WHERE scope = ? AND agent = ? AND priority = ? AND due > 0 AND due <= ? ORDER BY due LIMIT 1`;

/** A run that was given back has a `due` of 0, "at once": it is due since its wake. */
export const findGivenBack = `SELECT min(since) AS since FROM (SELECT coalesce(wake, ready) AS since
  FROM runs INDEXED BY runs_due WHERE scope = ? AND agent = ? AND priority = ? AND due = 0 LIMIT ${mostDue})`;

export const findNextAgent = `SELECT agent FROM runs INDEXED BY runs_due
  WHERE scope = ? AND due IS NOT NULL AND agent > ? ORDER BY agent LIMIT 1`;

interface Since {
  readonly since: number | null;
}

export function readDue(access: Access, request: FiguresRequest): Pick<StoreFigures, "due" | "dueMs"> {
  const { db, now } = access;
  const { scope } = request;
  const agents = new Set(request.agents ?? agentsOf(db, scope));
  const time = now();
  let [due, since] = [0, time];
  for (const agent of agents) {
    for (const priority of priorities) {
      const key = [scope, agent, priority, time] as const;
      due += db.get<{ due: number }>(countDue, ...key, mostDue + 1 - due)?.due ?? 0;
      const first = db.get<Since>(findFirst, ...key)?.since ?? time;
      const given = db.get<Since>(findGivenBack, scope, agent, priority)?.since ?? time;
      since = Math.min(since, first, given);
    }
  }
  return { due, dueMs: time - since };
}

function* agentsOf(db: Connection, scope: Scope): Iterable<string> {
  let last = "";
  for (;;) {
    const agent = db.get<{ agent: string }>(findNextAgent, scope, last)?.agent;
    if (agent === undefined) return;
    yield agent;
    last = agent;
  }
}
