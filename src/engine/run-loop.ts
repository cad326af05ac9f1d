/**
 * The loop: decide (pure) → commit → start effects → take facts. Durable or in memory, first start or tenth resume,
 * the same lines.
 *
 * R1 Effects start only after the commit of their intent.
 * R2 `fenced` ends the loop: everything is aborted, nothing more is written.
 * R3 `behind` loses nothing: what came in is folded, what has happened is offered again, what was planned is decided anew.
 * R4 The loop returns only when the run waits, is done, or is not ours: never with something of it in flight.
 */
import type { Entry } from "../domain/entry.ts";
import { foldVersion, type RunState } from "../domain/run-state.ts";
import type { HeldClaim } from "../ports/dispatcher.ts";
import type { Claim } from "../ports/store.ts";
import { decide, type Next } from "./decide.ts";
import type { EngineDeps } from "./deps.ts";
import { openFacts } from "./facts.ts";
import { load, readAfter } from "./load.ts";
import { nobody } from "./nobody.ts";
import { persist } from "./retry.ts";
import { circumstances, type Running, takeEntries } from "./running.ts";
import { isOpen } from "./take-fact.ts";
import type { Fact } from "./work.ts";
import { transact, write } from "./write.ts";

export async function runLoop(held: HeldClaim, deps: EngineDeps): Promise<RunState> {
  const running = await open(held, deps);
  for (;;) {
    const [ready] = running.prepared;
    if (ready) {
      if ((await transact(running, ready)) === "fenced") return abandon(running); // R2
      continue;
    }
    const next = decide(running.state, running.offered, circumstances(running));
    const answer = await write(running, next);
    if (answer === "fenced") return abandon(running); // R2
    if (answer === "behind") continue; // R3
    running.facts.abort(next.abort);
    running.facts.start(next.start, running.state); // R1
    await keepSnapshot(running);
    if (running.state.status !== "running" || hasLeft(next)) return leave(running);
    if (next.handOver) continue; // what it knew is written; now it is given back
    await take(running, next.wakeAt);
  }
}

/** Given back with nothing in flight: another process goes on at once. */
function hasLeft(next: Next): boolean {
  return next.handOver && next.entries.length === 0;
}

async function open(held: HeldClaim, deps: EngineDeps): Promise<Running> {
  const { claim } = held;
  const boundAgent = deps.agent(claim.agent) ?? nobody(claim.agent);
  const patience = { clock: deps.clock, logger: deps.logger, signal: held.lost };
  const loaded = await persist(`Loading run ${claim.run}`, patience, () =>
    load(claim, { store: deps.store, window: deps.limits.window }),
  );
  const late = (fact: Fact): void => keepAsEvidence(fact, claim, deps);
  const { transcript } = loaded;
  const facts = openFacts({ ...deps, boundAgent, transcript, epoch: claim.epoch, storeNow: held.storeNow, late });
  const running: Running = {
    held,
    claim,
    deps,
    facts,
    loaded,
    state: loaded.state,
    offered: [],
    prepared: [],
    moved: 0,
    snapshotSeq: loaded.snapshotSeq,
    knowsLeaving: false,
  };
  held.onMoved((seq) => {
    running.moved = Math.max(running.moved, seq);
    if (seq > running.state.seq) facts.nudge();
  });
  held.lost.addEventListener("abort", () => facts.nudge(), { once: true });
  held.leaving.addEventListener("abort", () => facts.nudge(), { once: true });
  return running;
}

async function take(running: Running, wakeAt: number | undefined): Promise<void> {
  const { deps, claim, held } = running;
  const isBehind = (): boolean => running.moved > running.state.seq;
  const facts = await running.facts.take(wakeAt, () => held.lost.aborted || isBehind() || isToldToLeave(running));
  if (isBehind() && !held.lost.aborted) {
    const patience = { clock: deps.clock, logger: deps.logger, signal: held.lost };
    const read = (): Promise<readonly Entry[]> => readAfter(claim, running.state.seq, deps.store);
    takeEntries(running, await persist(`Reading run ${claim.run}`, patience, read));
    running.moved = running.state.seq;
  }
  for (const fact of facts) {
    if (fact.kind === "tool-prepared") running.prepared = [...running.prepared, fact];
    else if (fact.kind !== "judged" && !isOpen(running, fact)) keepAsEvidence(fact, running.claim, running.deps);
    else running.offered = [...running.offered, fact];
  }
}

function isToldToLeave({ held, knowsLeaving }: Running): boolean {
  return held.leaving.aborted && !knowsLeaving;
}

async function keepSnapshot(running: Running): Promise<void> {
  const { deps, claim, state } = running;
  if (state.seq - running.snapshotSeq < deps.limits.snapshotEvery || state.status === "done") return;
  running.snapshotSeq = state.seq;
  try {
    await deps.store.saveSnapshot(claim, { seq: state.seq, foldVersion, state: JSON.stringify(state) });
  } catch (cause) {
    deps.logger.warn(`Run ${claim.run}: its snapshot was not kept; resuming folds more`, { cause: String(cause) });
  }
}

function abandon(running: Running): RunState {
  running.deps.counts.leasesLost += 1;
  for (const fact of running.offered) keepAsEvidence(fact, running.claim, running.deps);
  running.facts.abandon();
  return running.state;
}

/** R4: whatever a finished run left running (deaf calls) may only add evidence. */
function leave(running: Running): RunState {
  running.facts.abandon();
  return running.state;
}

function keepAsEvidence(fact: Fact, claim: Claim, deps: EngineDeps): void {
  if (fact.kind !== "tool-settled" || fact.settled.kind === "not-made") return;
  const { call, effect, attempt, settled, result } = fact;
  const body = JSON.parse(JSON.stringify({ call, effect, attempt, settled, result: result ?? null }));
  deps.store.addEvidence({ scope: claim.scope, run: claim.run, kind: "late-result", body }).catch((cause: unknown) => {
    deps.logger.warn(`A late result of call ${call} was not kept`, { cause: String(cause) });
  });
}
