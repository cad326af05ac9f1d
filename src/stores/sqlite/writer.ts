/**
 * The one writer: everything that changes the file goes through here, in the order it was asked for. Jobs are
 * collected until the event loop's next turn and share a transaction (group commit, see group.ts).
 *
 * W4 After a throw each member of the group is tried alone, so that only the culprit fails.
 * W5 A busy file is waited for with a timer, never in the call: the group is kept, and what has come meanwhile joins it.
 * W6 When COMMIT fails and the outcome is open, every member throws commit-unknown, and none is tried again here.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "./database.ts";
import { storeBusy } from "./failures.ts";
import { type GroupOptions, type Job, type Member, writeGroup } from "./group.ts";

export interface Writer {
  submit<T>(job: Job<T>): Promise<T>;
  /** Resolves when nothing is queued any more. */
  drain(): Promise<void>;
}

/** 1,000 rows would hold the event loop for 12 to 20 ms. */
const maxGroupRows = 256;
const maxGroupBytes = 1024 * 1024;
/** Flat: a growing pause starves one process among several. */
const busyRetryMs = 1;
/** After this long a busy file is the caller's matter. */
export const busyPatienceMs = 30_000;

export function createWriter(db: Connection, options: GroupOptions): Writer {
  let queue: Member[] = [];
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    await nextTurn();
    while (queue.length > 0) {
      const group = takeGroup(queue);
      queue = queue.slice(group.length);
      const waiting = settle(group);
      queue = [...waiting, ...queue];
      if (queue.length > 0) await (waiting.length > 0 ? delay(busyRetryMs) : nextTurn());
    }
    working = undefined;
  }

  /** Answers the members that must wait because the file is busy. */
  function settle(group: readonly Member[]): readonly Member[] {
    const failure = writeGroup(db, group, options);
    if (!failure) return [];
    if (failure.kind === "busy") return group.filter((member) => isPatient(member, failure.cause));
    if (group.length > 1 && failure.error.code !== "commit-unknown") return settleEach(group);
    for (const member of group) member.reject(failure.error);
    return [];
  }

  function settleEach(group: readonly Member[]): readonly Member[] {
    for (const [index, member] of group.entries()) {
      if (settle([member]).length > 0) return group.slice(index);
    }
    return [];
  }

  function isPatient(member: Member, cause: unknown): boolean {
    if (performance.now() - member.since < busyPatienceMs) return true;
    member.reject(storeBusy(options.path, cause));
    return false;
  }

  return {
    submit: <T>(job: Job<T>) =>
      new Promise<T>((resolve, reject) => {
        const answer = resolve as (value: unknown) => void;
        queue.push({ job, since: performance.now(), resolve: answer, reject });
        working ??= work();
      }),
    drain: async () => {
      while (working !== undefined) await working;
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function takeGroup(queue: readonly Member[]): readonly Member[] {
  let bytes = 0;
  let rows = 0;
  for (const { job } of queue) {
    if (rows > 0 && (job.isLone || rows >= maxGroupRows || bytes + job.bytes > maxGroupBytes)) break;
    bytes += job.bytes;
    rows += 1;
    if (job.isLone) break;
  }
  return queue.slice(0, rows);
}
