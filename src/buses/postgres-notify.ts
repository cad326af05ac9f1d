/**
 * Hints between processes over LISTEN and NOTIFY, on one connection of their own, outside every commit.
 *
 * N1 Local listeners are served at once, with entries. Other processes get ids and seqs only, and read the journal.
 * N2 Hints are gathered: at most one NOTIFY in 20 ms, with the newest seq of each run. The first one goes at once.
 * N3 Everything here may be lost: while the connection is away, and when a queue is full. Then watchers and workers find
 *    out by polling. The connection is tried again for ever, ever more slowly.
 */
import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import type { RunId, Scope } from "../domain/ids.ts";
import type { Bus, Hint } from "../ports/bus.ts";
import type { Logger } from "../ports/logger.ts";

export interface NotifyOptions {
  /** A direct connection: a pooler in transaction mode does not pass notifications on. */
  readonly url: string;
  readonly schema: string;
}

const gatherMs = 20;
/** NOTIFY takes less than 8,000 bytes. */
const mostBytes = 7_500;
/** Runs whose hints wait for the connection; more are dropped. */
const mostPending = 10_000;
const firstBackoffMs = 100;
const longestBackoffMs = 10_000;
const pingMs = 15_000;
const silenceMs = 10_000;

export function createPostgresNotifyBus(options: NotifyOptions, logger: Logger): Bus {
  const origin = randomUUID();
  const listeners = new Set<(hint: Hint) => void>();
  const pending = new Map<string, Hint>();
  const line = createLine(options, { logger, hear: (payload) => hintsIn(payload, origin).forEach(tell), ready: flush });
  let timer: NodeJS.Timeout | undefined;
  let lastFlush = 0;

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
    const payloads = payloadsOf([...pending.values()], origin);
    pending.clear();
    line.send(payloads);
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
    async close() {
      clearTimeout(timer);
      flush();
      listeners.clear();
      await line.close();
    },
  };
}

/** [origin, [scope, run, seq], …] as JSON, as many hints as fit. */
function payloadsOf(hints: readonly Hint[], origin: string): readonly string[] {
  const payloads: string[] = [];
  let open: string[] = [JSON.stringify(origin)];
  let bytes = 0;
  for (const { scope, run, seq } of hints) {
    const part = JSON.stringify([scope, run, seq]);
    const size = Buffer.byteLength(part) + 1;
    if (bytes + size > mostBytes && open.length > 1) {
      payloads.push(`[${open.join(",")}]`);
      open = [JSON.stringify(origin)];
      bytes = 0;
    }
    open.push(part);
    bytes += size;
  }
  return [...payloads, `[${open.join(",")}]`];
}

/** What others wrote; nothing of what is not ours or not readable. */
function hintsIn(payload: string, origin: string): readonly Hint[] {
  try {
    const [from, ...parts] = JSON.parse(payload) as readonly unknown[];
    if (from === origin) return [];
    return parts.flatMap((part) => {
      const [scope, run, seq] = part as readonly unknown[];
      const isHint = typeof scope === "string" && typeof run === "string" && typeof seq === "number";
      return isHint ? [{ scope: scope as Scope, run: run as RunId, seq }] : [];
    });
  } catch {
    return [];
  }
}

interface Line {
  isReady(): boolean;
  send(payloads: readonly string[]): void;
  close(): Promise<void>;
}

interface LineListeners {
  readonly logger: Logger;
  readonly hear: (payload: string) => void;
  readonly ready: () => void;
}

/** One connection that comes back by itself (N3). */
function createLine(options: NotifyOptions, { logger, hear, ready }: LineListeners): Line {
  const channel = `holdfast_${options.schema}`;
  const stop = new AbortController();
  let client: Client | undefined;
  let sending: Promise<unknown> = Promise.resolve();

  async function keep(): Promise<void> {
    for (let failures = 0; !stop.signal.aborted; ) {
      const since = performance.now();
      const cause = await hold();
      if (stop.signal.aborted) return;
      failures = performance.now() - since > longestBackoffMs ? 1 : failures + 1;
      if (failures === 1)
        logger.warn("The line for hints was lost; until it is back, polling finds what is new", { cause });
      await wait(Math.min(longestBackoffMs, firstBackoffMs * 2 ** failures), stop.signal);
    }
  }

  /** Connects, listens, and resolves with the reason when the connection is no more. */
  async function hold(): Promise<string> {
    let opened: Client | undefined;
    try {
      opened = await connect(options.url);
      const gone = new Promise<string>((resolve) => {
        opened?.on("error", (cause) => resolve(String(cause)));
        opened?.on("end", () => resolve("the connection was closed"));
      });
      opened.on("notification", ({ payload }) => hear(payload ?? ""));
      await opened.query(`LISTEN ${opened.escapeIdentifier(channel)}`);
      client = opened;
      ready();
      const pinging = new AbortController();
      const silent = ping(opened, pinging.signal);
      const cause = await Promise.race([gone, silent]);
      pinging.abort();
      return cause;
    } catch (cause) {
      return String(cause);
    } finally {
      client = undefined;
      opened?.end().catch(() => undefined);
    }
  }

  const keeping = keep();
  return {
    isReady: () => client !== undefined,
    send: (payloads) => {
      const sql = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload";
      sending = Promise.resolve(client?.query(sql, [channel, payloads])).catch((cause: unknown) =>
        logger.note("Hints were lost; polling finds what is new", { cause: String(cause) }),
      );
    },
    close: async () => {
      await sending;
      stop.abort();
      await client?.end().catch(() => undefined);
      await keeping;
    },
  };
}

async function connect(url: string): Promise<Client> {
  const { default: pg } = await import("pg");
  const settings = { connectionTimeoutMillis: silenceMs, query_timeout: silenceMs, keepAlive: true };
  const client = new pg.Client({ connectionString: url, ...settings });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** A line that nobody hangs up is asked from time to time whether it is still there. Resolves when it is not. */
async function ping(client: Client, signal: AbortSignal): Promise<string> {
  for (;;) {
    await wait(pingMs, signal);
    if (signal.aborted) return "closed";
    try {
      await client.query("SELECT 1");
    } catch (cause) {
      return String(cause);
    }
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
