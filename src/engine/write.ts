/** The two ways in which the loop writes: what was decided, and a transactional call together with its settlement. */

import type { EntryBody } from "../domain/entry.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Family } from "./child-deliveries.ts";
import { commit, release } from "./commit.ts";
import { deliveriesOf } from "./deliveries.ts";
import type { Draft } from "./draft.ts";
import { persist } from "./retry.ts";
import { circumstances, type Running, takeEntries } from "./running.ts";
import { successorOf } from "./successor.ts";
import { mayApply, notApplied, transactionOf, undoneFact } from "./transact.ts";
import type { EffectOrder, Fact, PreparedFact } from "./work.ts";

/** What was decided, as it is written and started. */
export interface Next extends Pick<Draft, "abort" | "wakeAt" | "handOver" | "reopen"> {
  readonly entries: readonly EntryBody[];
  /** The state once the entries are committed. */
  readonly state: RunState;
  readonly start: readonly EffectOrder[];
}

/** Commits what was decided, or gives a claim back that found nothing to do. */
export async function write(running: Running, next: Next): Promise<"written" | "fenced" | "behind"> {
  const { state, claim, deps, held } = running;
  if (held.lost.aborted) return "fenced";
  const wakeAt = next.handOver ? deps.clock.now() : next.wakeAt;
  const wake = wakeAt === undefined ? {} : { wake: wakeAt };
  const key = { scope: claim.scope, run: claim.run, epoch: claim.epoch, expectedSeq: state.seq, ...wake };
  if (next.entries.length === 0) {
    if (state.status === "running" && !next.handOver) return "written";
    const released = await release(key, deps, held.lost);
    if (released.kind === "behind") takeEntries(running, released.entries);
    return released.kind === "committed" ? "written" : released.kind;
  }
  const started = state.startedAt !== undefined;
  const position = started ? state.position + state.appended : claim.threadPosition;
  const successor = await successorOf(next, { transcript: running.loaded.transcript, deps, signal: held.lost });
  const born = successor ? { successor } : {};
  const sent = await deliveriesOf(next, { ...key, now: deps.clock.now() }, familyOf(running));
  const answer = await commit({ ...key, entries: next.entries, position, ...born, ...sent }, deps, held.lost);
  if (answer.kind === "fenced") return "fenced";
  takeEntries(running, answer.entries);
  if (answer.kind === "behind") return "behind";
  tellKept(running.offered);
  running.offered = [];
  if (sent.deliveries) deps.nudgeOutbox();
  return "written";
}

/** Whoever saw a task goes on once it is durable. */
function tellKept(facts: readonly Fact[]): void {
  for (const fact of facts) if (fact.kind === "task-seen") fact.told(true);
}

function familyOf({ boundAgent, deps, claim, held }: Running): Family {
  const patience = { clock: deps.clock, logger: deps.logger, signal: held.lost };
  return {
    delegates: boundAgent.delegates,
    hash: deps.hash,
    async entryAt(seq) {
      const read = (): Promise<readonly EntryBody[]> => deps.store.readRun({ ...claim, after: seq - 1, limit: 1 });
      const [entry] = await persist(`Reading run ${claim.run}`, patience, read);
      return entry;
    },
  };
}

/** The settlement of a transactional call, together with what it does. `behind`: it is tried again, if it still may. */
export async function transact(running: Running, fact: PreparedFact): Promise<"taken" | "fenced"> {
  const { state, claim, deps, held } = running;
  if (held.lost.aborted) return "fenced";
  const moment = { state, at: circumstances(running) };
  if (!mayApply(fact, moment)) return settleAs(running, fact, notApplied(fact));
  const key = { scope: claim.scope, run: claim.run, epoch: claim.epoch, expectedSeq: state.seq };
  const position = state.position + state.appended;
  const transaction = transactionOf(fact, moment, deps.clock);
  try {
    const work = { transaction, transactionMs: fact.timeoutMs };
    const answer = await commit({ ...key, entries: [], position, ...work }, deps, held.lost);
    if (answer.kind === "fenced") return "fenced";
    takeEntries(running, answer.entries);
    if (answer.kind === "committed") drop(running, fact);
    return "taken";
  } catch (cause) {
    const undone = undoneFact(fact, cause);
    if (!undone) throw cause;
    return settleAs(running, fact, undone);
  }
}

function settleAs(running: Running, prepared: PreparedFact, fact: Fact): "taken" {
  drop(running, prepared);
  running.offered = [...running.offered, fact];
  return "taken";
}

function drop(running: Running, fact: PreparedFact): void {
  running.prepared = running.prepared.filter((each) => each !== fact);
}
