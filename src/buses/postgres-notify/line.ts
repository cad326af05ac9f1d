/** One connection that listens and notifies, and comes back by itself (N3). */
import { createHash } from "node:crypto";
import type { Client } from "pg";
import type { Logger } from "../../ports/logger.ts";

export interface NotifyOptions {
  /** A direct connection: a pooler in transaction mode does not pass notifications on. */
  readonly url: string;
  readonly schema: string;
}

const firstBackoffMs = 100;
const longestBackoffMs = 10_000;
const pingMs = 15_000;
const silenceMs = 10_000;

export interface Line {
  isReady(): boolean;
  /** Whether they were sent; what was not is lost. Never rejects. */
  send(payloads: readonly string[]): Promise<boolean>;
  close(): Promise<void>;
}

interface LineListeners {
  readonly logger: Logger;
  readonly hear: (payload: string) => void;
  readonly ready: () => void;
}

export function createLine(options: NotifyOptions, { logger, hear, ready }: LineListeners): Line {
  const channel = channelOf(options.schema);
  const stop = new AbortController();
  let client: Client | undefined;
  let sending: Promise<unknown> = Promise.resolve();

  /** One query at a time: pg takes no second one before the first is answered. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = sending.then(act);
    sending = turn.catch(() => undefined);
    return turn;
  }

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
      if (stop.signal.aborted) return "closed"; // while it was connecting: nobody else would hang up
      client = opened;
      ready();
      const pinging = new AbortController();
      const held = opened;
      const silent = ping(() => inTurn(() => held.query("SELECT 1")), pinging.signal);
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

  async function notify(payloads: readonly string[]): Promise<boolean> {
    const sql = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload";
    return (await client?.query(sql, [channel, payloads])) !== undefined;
  }

  const keeping = keep();
  return {
    isReady: () => client !== undefined,
    send: (payloads) =>
      inTurn(() => notify(payloads)).catch((cause: unknown) => {
        logger.note("Hints were lost; polling finds what is new", { cause: String(cause) });
        return false;
      }),
    close: async () => {
      await sending;
      stop.abort();
      await client?.end().catch(() => undefined);
      await keeping;
    },
  };
}

/** A channel's name has at most 63 bytes. */
function channelOf(schema: string): string {
  const name = `holdfast_${schema}`;
  return name.length < 64 ? name : `holdfast_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`;
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
async function ping(ask: () => Promise<unknown>, signal: AbortSignal): Promise<string> {
  for (;;) {
    await wait(pingMs, signal);
    if (signal.aborted) return "closed";
    try {
      await ask();
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
