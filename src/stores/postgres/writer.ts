/**
 * Everything that changes the store goes through here. Jobs are collected until the event loop's next turn and share a
 * transaction (group commit, see group.ts); several groups are under way at once, each on its own connection.
 *
 * W4 Jobs that share a key are done in the order they were asked for: a job waits while one of its keys is under way.
 * W7 Two connections are left to readers.
 * W8 Transactions of tools leave one group to everyone else, where there is more than one: however slow they are, leases
 *    are renewed.
 */
import type { Access } from "./access.ts";
import type { Database } from "./database.ts";
import type { Member } from "./group.ts";
import type { Job } from "./jobs.ts";
import { createSettle } from "./settle.ts";

export interface Writer {
  submit<T>(job: Job<T>): Promise<T>;
  /** Resolves when nothing is queued any more. */
  drain(): Promise<void>;
}

const maxGroupRows = 256;
const maxGroupBytes = 1024 * 1024;
const readers = 2;
export function createWriter(db: Database, access: Access, connections: number): Writer {
  const settle = createSettle(db, access);
  const maxGroups = Math.max(1, connections - readers);
  const underWay = new Set<readonly Member[]>();
  let queue: Member[] = [];
  let isTurnAwaited = false;
  let drained: (() => void)[] = [];

  function pump(): void {
    isTurnAwaited = false;
    while (underWay.size < maxGroups) {
      const lone = [...underWay].filter(([first]) => first?.job.isLone).length;
      const group = takeGroup(queue, underWay, lone < Math.max(1, maxGroups - 1));
      if (group.length === 0) break;
      const taken = new Set(group);
      queue = queue.filter((member) => !taken.has(member));
      underWay.add(group);
      work(group).catch((cause: unknown) => {
        for (const member of group) member.reject(cause);
      });
    }
    if (queue.length > 0 || underWay.size > 0) return;
    for (const resolve of drained) resolve();
    drained = [];
  }

  function awaitTurn(): void {
    if (isTurnAwaited) return;
    isTurnAwaited = true;
    setImmediate(pump);
  }

  async function work(group: readonly Member[]): Promise<void> {
    try {
      await settle(group);
    } finally {
      underWay.delete(group);
      awaitTurn();
    }
  }

  return {
    submit: <T>(job: Job<T>) =>
      new Promise<T>((resolve, reject) => {
        queue.push({ job, resolve: resolve as (answer: unknown) => void, reject });
        awaitTurn();
      }),
    drain: () =>
      new Promise((resolve) => {
        drained.push(resolve);
        awaitTurn();
      }),
  };
}

/** The oldest jobs that disturb neither what is under way nor each other's order (W4). */
function takeGroup(
  queue: readonly Member[],
  underWay: ReadonlySet<readonly Member[]>,
  mayBeLone: boolean,
): readonly Member[] {
  const waiting = createBlocked([...underWay].flat());
  const group: Member[] = [];
  let bytes = 0;
  for (const member of queue) {
    const { job } = member;
    const isFull = group.length >= maxGroupRows || (group.length > 0 && bytes + job.bytes > maxGroupBytes);
    if (isFull) break;
    const hasRoom = job.isLone ? mayBeLone && group.length === 0 : !isShutOut(job, group);
    if (!hasRoom || waiting.holds(job)) {
      waiting.add(job);
      continue;
    }
    if ((job.isExclusive || job.isLone) && group.length === 0) return [member];
    if (job.isExclusive) waiting.add(job);
    else {
      group.push(member);
      bytes += job.bytes;
    }
  }
  return group;
}

function isShutOut({ isExclusive, scope }: Job<unknown>, group: readonly Member[]): boolean {
  return isExclusive === true && group.some((other) => other.job.scope === scope);
}

interface Blocked {
  holds(job: Job<unknown>): boolean;
  add(job: Job<unknown>): void;
}

function createBlocked(members: readonly Member[]): Blocked {
  const keys = new Set<string>();
  const scopes = new Set<string>();
  const shut = new Set<string>();
  const blocked: Blocked = {
    holds: ({ scope, keys: wanted, isExclusive }) =>
      shut.has(scope) || (isExclusive === true && scopes.has(scope)) || wanted.some((key) => keys.has(key)),
    add: (job) => {
      for (const key of job.keys) keys.add(key);
      if (!job.isLone) scopes.add(job.scope); // W8: else all of the scope would wait behind a deletion that waits for a tool
      if (job.isExclusive) shut.add(job.scope);
    },
  };
  for (const { job } of members) blocked.add(job);
  return blocked;
}
