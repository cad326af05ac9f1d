/**
 * Births of delegates' runs, and threads that are dropped after them.
 *
 * F1 A birth is carried until the store has the run; its start key makes that once (S6), and so it stays after the run was
 *    dropped (S14).
 * F2 A birth that is given up is told to the parent as the end of its child: nobody waits for a run that never comes. A
 *    run that is there after all, because only the answer to its birth was lost, tells of its end itself.
 * F3 A thread is dropped only when everything in it and below it has ended; until then it is put off.
 */
import type { TicketDecided } from "../../domain/entry.ts";
import type { Birth } from "../../ports/birth.ts";
import type { Bus, Hint } from "../../ports/bus.ts";
import type { Logger } from "../../ports/logger.ts";
import type { DeliveryEnd } from "../../ports/outbox-store.ts";
import type { Post, Store } from "../../ports/store.ts";
import { later, type Place } from "./lane.ts";

export interface Carrying {
  readonly store: Store;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly mostAttempts: number;
}

/** F1. */
export async function carryBirth(birth: Birth, place: Place, by: Carrying): Promise<DeliveryEnd> {
  const answer = await by.store.create(birth);
  switch (answer.kind) {
    case "created":
      publish({ scope: place.scope, run: birth.entry.identity.run, seq: 1 }, by);
      return { ...place, how: "delivered" };
    case "existing":
    case "unwanted":
      return { ...place, how: "delivered" };
    case "conflict":
    case "run-exists":
      return { ...place, how: "dead", error: `another run has its ${answer.kind === "conflict" ? "start key" : "id"}` };
    case "busy":
      return later(place, "its thread is busy", by.mostAttempts);
    default:
      return answer satisfies never;
  }
}

/** F2. Throws when the parent cannot be told now: then the birth is not given up yet. */
export async function tellUnborn(
  birth: Birth,
  end: DeliveryEnd & { readonly how: "dead" },
  by: Carrying,
): Promise<void> {
  const { identity, delegated } = birth.entry;
  const { run, agent, scope, parentRun } = identity;
  if (!delegated || parentRun === undefined || (await isBorn(birth, by))) return;
  const error = { code: "delegate-unborn", message: `its run could not be started: ${end.error}` };
  const fact: TicketDecided = {
    type: "ticket-decided",
    ticket: delegated.ticket,
    decision: {
      kind: "child-ended",
      run,
      agent,
      outcome: { kind: "failed", error, retry: "never" },
      steps: 0,
      usage: { inputTokens: 0, outputTokens: 0 },
    },
    by: run,
    key: `${delegated.ticket}.unborn`,
  };
  const post: Post = { scope, run: parentRun, key: fact.key, fact, hash: delegated.hash };
  const answer = await by.store.post(post);
  if (answer.kind === "posted") publish({ scope, run: parentRun, seq: answer.seq }, by);
}

/** For this ticket: another run that has the id is not the child. */
async function isBorn({ entry }: Birth, { store }: Carrying): Promise<boolean> {
  const { scope, run } = entry.identity;
  const [first] = await store.readRun({ scope, run, after: 0, limit: 1 });
  return first?.type === "run-created" && first.delegated?.ticket === entry.delegated?.ticket;
}

/** F3. */
export async function carryDrop(
  thread: Birth["entry"]["identity"]["thread"],
  place: Place,
  by: Carrying,
): Promise<DeliveryEnd> {
  const answer = await by.store.deleteThread({ scope: place.scope, thread, children: "cascade" });
  if (answer.kind === "busy") return later(place, `run ${answer.run} of it has not ended`, by.mostAttempts);
  return { ...place, how: "delivered" };
}

export function publish(hint: Hint, { bus, logger }: Pick<Carrying, "bus" | "logger">): void {
  bus.publish(hint).catch((cause: unknown) => {
    logger.warn(`The bus did not take a hint for run ${hint.run}`, { cause: String(cause) });
  });
}
