/**
 * The loop: decide (pure) → commit → start effects → take facts. Durable or in memory, first start or tenth resume,
 * the same lines.
 *
 * R1 Effects start only after the commit of their intent.
 * R2 `fenced` ends the loop: everything is aborted, nothing more is written.
 * R3 `behind` loses nothing: what came in is folded, what has happened is offered again, what was planned is decided anew.
 * R4 The loop returns only when the run waits, is done, or is not ours: never with something of it in flight.
 */
import type { Entry, EntryBody } from "../domain/entry.ts";
import { foldVersion, type RunState } from "../domain/run-state.ts";
import type { HeldClaim } from "../ports/dispatcher.ts";
import type { Claim } from "../ports/store.ts";
import { observe } from "./ask.ts";
import { decide, proceed } from "./decide.ts";
import type { EngineDeps } from "./deps.ts";
import type { Draft } from "./draft.ts";
import { readAfter } from "./load.ts";
import { openRun } from "./open.ts";
import { phaseTable } from "./phases.ts";
import { persist } from "./retry.ts";
import { circumstances, type Running, takeEntries } from "./running.ts";
import { isOpen, withAnswers } from "./take-fact.ts";
import { type Fact, isQuestion } from "./work.ts";
import { type Next, transact, write } from "./write.ts";

export async function runLoop(held: HeldClaim, deps: EngineDeps): Promise<RunState> {
  let running = await open(held, deps);
  for (;;) {
    const [ready] = running.prepared;
    if (ready) {
      if ((await transact(running, ready)) === "fenced") return abandon(running); // R2
      continue;
    }
    const next = decideAll(running);
    const answer = await write(running, next);
    if (answer === "fenced") return abandon(running); // R2
    if (answer === "behind") continue; // R3
    noteFailures(running, next.entries);
    running.facts.abort(next.abort);
    running.facts.start(next.start, running.state); // R1
    await keepSnapshot(running);
    if (running.state.status !== "running" || hasLeft(next)) return leave(running);
    if (next.reopen) {
      closeAll(running);
      running = await open(held, deps); // HO2
      continue;
    }
    if (next.handOver) continue; // what it knew is written; now it is given back
    await take(running, next.wakeAt);
  }
}

/** Given back with nothing in flight: another process goes on at once. */
function hasLeft(next: Next): boolean {
  return next.handOver && next.entries.length === 0;
}

async function open(held: HeldClaim, deps: EngineDeps): Promise<Running> {
  const running = await openRun(held, deps, (fact) => keepAsEvidence(fact, held.claim, deps));
  held.onMoved((seq) => {
    running.moved = Math.max(running.moved, seq);
    if (seq > running.state.seq) running.facts.nudge();
  });
  held.lost.addEventListener("abort", () => running.facts.nudge(), { once: true });
  held.leaving.addEventListener("abort", () => running.facts.nudge(), { once: true });
  return running;
}

/** Decides, puts the questions that came up, and decides on with what was answered at once. */
function decideAll(running: Running): Next {
  const draft = decide(running.state, running.offered, circumstances(running));
  for (;;) {
    const facts = running.facts.ask(draft.start.filter(isQuestion), draft);
    if (facts.length === 0) break;
    proceed(draft, facts);
  }
  running.quiet = quietAfter(running, draft);
  return { ...draft, entries: withAnswers(draft), start: draft.start.filter((order) => !isQuestion(order)) };
}

/** Of an ended step nobody asks any more. */
function quietAfter({ quiet, state }: Running, draft: Draft): ReadonlySet<string> {
  const isSameStep = state.step?.step === draft.state.step?.step;
  if (draft.quiet.size === 0 && isSameStep) return quiet;
  return new Set([...(isSameStep ? quiet : []), ...draft.quiet]);
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
    else if ("effect" in fact && !isOpen(running, fact)) keepAsEvidence(fact, running.claim, running.deps);
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
  closeAll(running);
  return running.state;
}

/** R4: whatever a finished run left running (deaf calls) may only add evidence. */
async function leave(running: Running): Promise<RunState> {
  const { state, stage } = running;
  const { outcome } = state;
  if (outcome) await observe({ phase: "after-run", outcome }, { state, entries: [] }, stage);
  closeAll(running);
  return state;
}

function closeAll({ facts, plugins }: Running): void {
  facts.abandon();
  for (const plugin of plugins) plugin.close();
}

/** What neither ends the run nor refuses a call would be seen by nobody who does not read its journal. */
function noteFailures({ deps, claim }: Running, entries: readonly EntryBody[]): void {
  for (const entry of entries) {
    if (entry.type !== "command-applied" || !entry.failed || phaseTable[entry.phase].failure !== "noted") continue;
    const { code, message } = entry.failed.error;
    deps.logger.warn(message, { run: claim.run, moment: entry.phase, code });
  }
}

function keepAsEvidence(fact: Fact, claim: Claim, deps: EngineDeps): void {
  if (fact.kind === "task-seen") return fact.told(false);
  if (fact.kind !== "tool-settled" || fact.settled.kind === "not-made") return;
  const { call, effect, attempt, settled, result } = fact;
  const body = JSON.parse(JSON.stringify({ call, effect, attempt, settled, result: result ?? null }));
  deps.store.addEvidence({ scope: claim.scope, run: claim.run, kind: "late-result", body }).catch((cause: unknown) => {
    deps.logger.warn(`A late result of call ${call} was not kept`, { cause: String(cause) });
  });
}
