/**
 * Sees to runs whose agent no worker has, so that none waits unseen.
 *
 * U1 Each worker announces its agents again and again; who is silent for three rounds is taken for gone.
 * U2 A run that was claimable for `unservedMs` while nobody had its agent is claimed, only to say so in a ticket (or to
 *    end, when it is to end).
 * U3 A worker that has what is missing answers such tickets, and the run goes on by itself. One that has the agent and
 *    not all that the run needs leaves them alone.
 * U4 Nothing rests on this: without it such runs wait as long, and unseen.
 */
import type { Scope } from "../../domain/ids.ts";
import { engine, type TicketRecord } from "../../domain/ticket.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Advance } from "../../ports/dispatcher.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Store } from "../../ports/store.ts";
import { grip } from "./in-hand.ts";

export interface CaretakerOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly scopes: readonly Scope[] | "all";
  readonly agents: () => readonly string[];
  readonly leaseMs: number;
  readonly unservedMs: number;
  /** This process has what the ticket's run waits for. */
  readonly mayTake: (ticket: TicketRecord, scope: Scope) => Promise<boolean>;
}

export interface Caretaker {
  close(): Promise<void>;
}

const longestRoundMs = 10_000;
const batch = 32;
/** In one round. */
const mostAnswers = 1_024;

export function startCaretaker(options: CaretakerOptions, advance: Advance): Caretaker {
  const stop = new AbortController();
  const worker = options.ids.next();
  const roundMs = Math.max(1, Math.min(longestRoundMs, Math.floor(options.unservedMs / 3)));
  const rounds = goRound({ ...options, advance, worker, roundMs, stop: stop.signal, useless: new Set() });
  return {
    close: async () => {
      stop.abort("closing");
      await rounds;
    },
  };
}

interface Round extends CaretakerOptions {
  readonly advance: Advance;
  readonly worker: string;
  readonly roundMs: number;
  readonly stop: AbortSignal;
  /** Tickets that this process has looked at in vain: its code does not change while it lives. */
  readonly useless: Set<string>;
}

async function goRound(round: Round): Promise<void> {
  while (!round.stop.aborted) {
    await announce(round, round.agents());
    for (const scope of round.scopes === "all" ? [] : round.scopes) await lookAfter(round, scope);
    await round.clock.sleep(round.roundMs, round.stop);
  }
  await announce(round, []);
}

/** U1. */
async function announce(round: Round, agents: readonly string[]): Promise<void> {
  const { store, worker, scopes, roundMs } = round;
  await quietly(round, () => store.announce({ worker, agents, scopes, ttlMs: roundMs * 3 }));
}

async function lookAfter(round: Round, scope: Scope): Promise<void> {
  if (round.stop.aborted) return;
  await quietly(round, () => answerFound(round, scope));
  await quietly(round, () => setAside(round, scope));
}

/** U3. */
async function answerFound(round: Round, scope: Scope): Promise<void> {
  const { store, bus, useless } = round;
  const agents = round.agents();
  const open = await store.tickets({ scope, kind: "missing-capability", agents, status: "open", limit: mostAnswers });
  for (const { ticket } of open) {
    const { id, run, hash } = ticket;
    if (useless.has(id)) continue;
    if (!(await round.mayTake(ticket, scope))) {
      useless.add(id);
      continue;
    }
    const key = `found:${id}`;
    const fact = { type: "ticket-decided", ticket: id, decision: { kind: "release" }, by: engine, key } as const;
    const posted = await store.post({ scope, run, key, fact, hash });
    if (posted.kind === "posted") await bus.publish({ scope, run, seq: posted.seq });
  }
}

/** U2. */
async function setAside(round: Round, scope: Scope): Promise<void> {
  const { store, clock, ids, leaseMs } = round;
  const agents = await missingIn(round, scope);
  if (agents.length === 0) return;
  for (let taken = batch; taken === batch && !round.stop.aborted; ) {
    const asked = clock.monotonic();
    const claims = await store.claim({ scope, agents, leaseMs, limit: batch, claimId: ids.next() });
    for (const claim of claims) {
      const { holding } = grip({ claim, asked }, { clock, leaseMs });
      await quietly(round, () => round.advance(holding)); // one that nothing can read keeps no other from its ticket
    }
    taken = claims.length;
  }
}

/** Agents that were missed for long enough, and those whose runs say so already: one that is asked to end should end. */
async function missingIn(round: Round, scope: Scope): Promise<readonly string[]> {
  const { store, logger, unservedMs } = round;
  const due = await store.unserved({ scope, dueForMs: 0, limit: batch });
  const own = round.agents();
  const others = due.filter((name) => !own.includes(name));
  if (others.length === 0) return [];
  const open = await store.tickets({ scope, kind: "missing-capability", agents: others, status: "open", limit: batch });
  const known = new Set(open.map(({ ticket }) => ticket.agent));
  const late = await store.unserved({ scope, dueForMs: unservedMs, limit: batch });
  const fresh = late.filter((name) => others.includes(name) && !known.has(name));
  if (fresh.length > 0)
    logger.warn("Runs wait for agents that no worker has; they say so in a ticket", { scope, agents: fresh });
  return [...others.filter((name) => known.has(name)), ...fresh];
}

/** U4. */
async function quietly({ logger, stop }: Round, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (cause) {
    if (!stop.aborted)
      logger.note("Looking after runs without a worker failed; it is tried again", { cause: String(cause) });
  }
}
