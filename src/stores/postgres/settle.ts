/**
 * A group of writes, until every member has its answer.
 *
 * W5 A group that was undone by a deadlock or a serialization failure is done again as a whole. After a throw each member
 *    is tried alone, so that only the culprit fails.
 * W6 When the outcome of a COMMIT is open, every member throws commit-unknown, and none is tried again here. When there
 *    is no connection, no member is tried alone, or no further one: the next one would wait for nothing, too.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { HoldfastError } from "../../domain/errors.ts";
import type { Access } from "./access.ts";
import type { Database } from "./database.ts";
import { type Failure, storeBusy } from "./failures.ts";
import { type Group, type Member, writeGroup } from "./group.ts";

const mostRepeats = 20;
/** A foreign transaction that holds a row is waited for so long, by a group and by a member that is tried alone. */
const lockPatienceMs = 2_000;
const shortPatienceMs = 500;

export type Settle = (members: readonly Member[]) => Promise<void>;

export function createSettle(db: Database, access: Access): Settle {
  async function attempt(group: Group): Promise<Failed | undefined> {
    let { left, failure } = await writeGroup(db, access, group);
    for (let repeat = 1; failure && mayRepeat(failure, repeat); repeat += 1) {
      await delay(Math.random() * 2 ** Math.min(repeat, 6));
      ({ left, failure } = await writeGroup(db, access, { ...group, members: left }));
    }
    return failure && { left, ...failed(failure, db) };
  }

  async function settleEach(members: readonly Member[]): Promise<void> {
    const met = createMet();
    for (const member of members) {
      const known = met.by(member);
      const end = known ?? (await attempt({ members: [member], lockPatienceMs: shortPatienceMs }));
      if (!end) continue;
      member.reject(end.error);
      met.add(member, end);
    }
  }

  return async (members) => {
    const end = await attempt({ members, lockPatienceMs });
    if (!end) return;
    if (end.isShared && end.left.length > 1) return settleEach(end.left);
    for (const member of end.left) member.reject(end.error);
  };
}

interface Failed {
  readonly left: readonly Member[];
  readonly error: HoldfastError;
  /** One member may be to blame for all. */
  readonly isShared: boolean;
  /** There is no connection. */
  readonly isAway: boolean;
}

/** What members have met that were tried alone. Who would meet the same is not tried: no connection (W6), a held row. */
function createMet(): { by(member: Member): Failed | undefined; add(member: Member, end: Failed): void } {
  const stuck = new Map<string, Failed>();
  let away: Failed | undefined;
  return {
    by: ({ job }) => away ?? job.keys.map((key) => stuck.get(key)).find(Boolean),
    add: ({ job }, end) => {
      if (end.isAway) away = end;
      if (end.error.code === "store-busy") for (const key of job.keys) stuck.set(key, end);
    },
  };
}

function failed(failure: Failure, { name }: Database): Omit<Failed, "left"> {
  const error = failure.kind === "again" ? storeBusy(name, failure.cause) : failure.error;
  const isAway = failure.kind === "lost";
  return { error, isAway, isShared: !isAway && error.code !== "commit-unknown" };
}

/** A pooled connection may have died long ago, unnoticed: another one is tried once. */
function mayRepeat(failure: Failure, repeat: number): boolean {
  return failure.kind === "again" ? repeat < mostRepeats : failure.kind === "lost" && repeat === 1;
}
