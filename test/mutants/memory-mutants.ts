/** Mutants that need the memory store's own records, because the Store interface gives no way to do such a thing. */
import type { RunId, Scope } from "../../src/domain/ids.ts";
import type { Store } from "../../src/ports/store.ts";
import {
  append,
  type MemoryData,
  type MemoryRun,
  reschedule,
  type ScopeData,
  scopeOf,
} from "../../src/stores/memory/data.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import { commit } from "../../src/stores/memory/writes.ts";
import type { Turn } from "../../src/testing/sim/wrap.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import type { Mutant } from "./mutant.ts";

interface Opened {
  readonly store: Store;
  readonly turn: Turn;
  readonly now: () => number;
  readonly scope: (name: Scope) => ScopeData;
  readonly run: (key: { readonly scope: Scope; readonly run: RunId }) => MemoryRun | undefined;
}

type Change = (opened: Opened) => Partial<Store>;

/** `lastData` gives the records of the memory store that was opened last. */
export function memoryMutants(lastData: () => MemoryData): readonly Mutant[] {
  const inside = (change: Change): Mutant["wrap"] => ({
    async store({ clock, turn }) {
      const store = await memory().open({ clock, logger: silentLogger });
      const data = lastData();
      const scope = (name: Scope): ScopeData => scopeOf(data, name);
      const run = (key: { readonly scope: Scope; readonly run: RunId }): MemoryRun | undefined =>
        scope(key.scope).runs.get(key.run);
      return { ...store, ...change({ store, turn, now: () => clock.now(), scope, run }) };
    },
  });
  return [
    { name: "check-then-write decision", wrap: inside(checkThenWrite), caughtBy: "ticket-once", within: 600 },
    { name: "seq outside the transaction", wrap: inside(seqOutside), caughtBy: "seq-gapless", within: 1_000 },
    { name: "claim clears the wake", wrap: inside(claimClearsWake), caughtBy: "wake-left-by-claim", within: 50 },
    { name: "re-intent resets the crash count", wrap: inside(reIntentResets), caughtBy: "crash-count", within: 50 },
  ];
}

/** The ticket is read in one transaction and decided in another. */
const checkThenWrite: Change = ({ store, turn, now, scope, run }) => ({
  async post(asked) {
    const { fact } = asked;
    const subject = run(asked);
    if (fact.type !== "ticket-decided" || !subject || subject.posts.has(asked.key)) return store.post(asked);
    const row = scope(asked.scope).tickets.get(fact.ticket);
    const open = row && !row.settlement && row.ticket.hash === asked.hash && subject.status !== "done";
    const early = (row?.ticket.decidableFrom ?? 0) > now() || (row?.ticket.expiresAt ?? now() + 1) <= now();
    if (!open || early) return store.post(asked);
    await turn("the ticket was open");
    const at = now();
    const seq = append(scope(asked.scope), subject, { bodies: [fact], at, epoch: null });
    const settlement = { ticket: fact.ticket, decision: fact.decision, by: fact.by, at, key: fact.key, seq };
    row.settlement = settlement;
    scope(asked.scope).openTickets.delete(row);
    subject.wake = at;
    reschedule(scope(asked.scope), subject);
    return { kind: "posted", seq, at, settlement };
  },
});

/** The seq is given before the transaction that writes it. */
const seqOutside: Change = ({ turn, now, scope, run, store }) => ({
  async commit(asked) {
    const subject = run(asked);
    if (!subject || subject.head !== asked.expectedSeq || subject.epoch !== asked.epoch) return store.commit(asked);
    await turn("the seq was given");
    const { head } = subject;
    subject.head = asked.expectedSeq;
    const answer = commit(scope(asked.scope), asked, now());
    subject.head = Math.max(head, subject.head);
    return answer;
  },
});

const claimClearsWake: Change = ({ store, scope, run }) => ({
  async claim(asked) {
    const claims = await store.claim(asked);
    for (const claim of claims) {
      const subject = run(claim);
      if (!subject) continue;
      subject.wake = undefined;
      reschedule(scope(asked.scope), subject);
    }
    return claims;
  },
});

const reIntentResets: Change = ({ store, run }) => ({
  async commit(asked) {
    const answer = await store.commit(asked);
    const subject = run(asked);
    const intends = asked.entries.some((entry) => entry.type === "effect-intended");
    if (answer.kind === "committed" && subject && intends) subject.crashes = 0;
    return answer;
  },
});
