/** J5, from the workers' own logs: independent of what the store thinks of an epoch. */
import type { WorkerLine } from "./evidence.ts";

type Claimed = Extract<WorkerLine, { kind: "claimed" }>;
type Asked = Extract<WorkerLine, { kind: "asked" }>;

export interface Stale {
  readonly attempts: number;
  readonly accepted: readonly string[];
}

export function staleRequests(workers: readonly (readonly WorkerLine[])[]): Stale {
  const claims = workers.flat().filter((line) => line.kind === "claimed");
  const byRun = Map.groupBy(claims, ({ run }) => run);
  const found = workers.map((lines) => staleOf(lines, byRun));
  return {
    attempts: found.reduce((sum, { attempts }) => sum + attempts, 0),
    accepted: found.flatMap(({ accepted }) => accepted),
  };
}

function staleOf(lines: readonly WorkerLine[], claims: ReadonlyMap<string, readonly Claimed[]>): Stale {
  const answers = new Map(lines.flatMap((line) => (line.kind === "answered" ? [[line.id, line.answer] as const] : [])));
  const stale = lines.filter((line) => line.kind === "asked").filter((asked) => isStale(asked, claims));
  const accepted = stale.filter(({ id }) => ["committed", "renewed"].includes(answers.get(id) ?? ""));
  return {
    attempts: stale.length,
    accepted: accepted.map(
      ({ method, run, epoch }) => `run ${run}: ${method} under epoch ${epoch} was accepted too late`,
    ),
  };
}

/** A higher epoch had been handed out before it was asked. */
function isStale({ run, epoch, at }: Asked, claims: ReadonlyMap<string, readonly Claimed[]>): boolean {
  return (claims.get(run) ?? []).some((claim) => claim.epoch > epoch && claim.at < at);
}
