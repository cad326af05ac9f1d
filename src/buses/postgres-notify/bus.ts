/**
 * Hints and live pieces between processes over LISTEN and NOTIFY, on one connection of their own, outside every commit.
 *
 * N1 Local listeners are served at once, with entries. Other processes get ids and seqs only, and read the journal.
 * N2 Hints are gathered: at most one NOTIFY in 20 ms, with the newest seq of each run. The first one goes at once.
 * N3 Everything here may be lost: while the connection is away, and when a queue is full. Then watchers and workers find
 *    out by polling. The connection is tried again for ever, ever more slowly.
 * N4 Live pieces go to other processes only, and only while one of them asks (outbox.ts has the rest).
 */
import { randomUUID } from "node:crypto";
import type { Bus, Hint } from "../../ports/bus.ts";
import type { StoreDeps } from "../../ports/store.ts";
import { createLine, type NotifyOptions } from "./line.ts";
import { hintPayloads } from "./payloads.ts";
import { createPieces } from "./pieces.ts";
import { saidIn } from "./said.ts";

const gatherMs = 20;
/** Runs whose hints wait for the connection; more are dropped. */
const mostPending = 10_000;

export function createPostgresNotifyBus(options: NotifyOptions, deps: StoreDeps): Bus {
  const { logger } = deps;
  const origin = randomUUID();
  const listeners = new Set<(hint: Hint) => void>();
  const pending = new Map<string, Hint>();
  const line = createLine(options, { logger, hear, ready });
  const pieces = createPieces(origin, line, deps);
  let timer: NodeJS.Timeout | undefined;
  let lastFlush = 0;

  function hear(payload: string): void {
    const said = saidIn(payload, origin);
    if (said?.kind === "hints") said.hints.forEach(tell);
    else if (said) pieces.said(said);
  }

  function ready(): void {
    flush();
    pieces.ready();
  }

  function tell(hint: Hint): void {
    for (const listener of listeners) {
      try {
        listener(hint);
      } catch (cause) {
        logger.warn(`A listener threw on run ${hint.run}`, { cause: String(cause) });
      }
    }
  }

  function flush(): void {
    timer = undefined;
    if (pending.size === 0 || !line.isReady()) return;
    lastFlush = performance.now();
    const payloads = hintPayloads([...pending.values()], origin);
    pending.clear();
    void line.send(payloads);
  }

  function gather(hint: Hint): void {
    const key = `${hint.scope}\n${hint.run}`;
    const known = pending.get(key);
    if (!known && pending.size >= mostPending) return;
    pending.set(key, { scope: hint.scope, run: hint.run, seq: Math.max(hint.seq, known?.seq ?? 0) });
    timer ??= setTimeout(flush, Math.max(0, lastFlush + gatherMs - performance.now()));
  }

  return {
    async publish(hint) {
      tell(hint);
      gather(hint);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    pieces,
    async close() {
      clearTimeout(timer);
      flush();
      listeners.clear();
      pieces.close();
      await line.close();
    },
  };
}
