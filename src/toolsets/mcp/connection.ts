/**
 * The connection of this process to a server: opened once, opened again after it was lost, until it is closed.
 *
 * K1 There is at most one at a time, and one attempt at a time.
 * K2 After a loss the next attempt waits, longer each time; only a call that was answered counts as working.
 * K3 Whoever waits for it is told in time: with the connection, or with the reason why there is none.
 * K4 One that is given up ends when the calls that are on it have; only close() ends them.
 */
import { followChanges } from "./follow-changes.ts";
import type { McpLimits } from "./limits.ts";
import { type Opened, type Opening, openConnection } from "./open.ts";
import type { McpStatus } from "./status.ts";

export interface Connection {
  /** Opens it, now, unless it is open. Throws why it failed. */
  open(): Promise<Opened>;
  /** K3. Throws the reason when there is none in time. */
  ready(waitMs: number, signal: AbortSignal): Promise<Opened>;
  /** It was found not to work, whatever it says itself. */
  drop(opened: Opened, why: string): void;
  worked(): void;
  /** Ends it for now, without trying again by itself. */
  rest(): Promise<void>;
  state(): Pick<McpStatus, "state" | "failures" | "problem" | "protocol">;
  close(): Promise<void>;
}

export interface Connecting extends Omit<Opening, "onListChanged" | "signal"> {
  readonly limits: McpLimits;
  /** A new connection, or a list that may be another one. */
  readonly onOpened: (opened: Opened) => void;
  readonly onListChanged: (opened: Opened) => void;
  readonly onChange: () => void;
}

interface Waiting {
  readonly resolve: (opened: Opened) => void;
  readonly reject: (reason: Error) => void;
}

export function createConnection(connecting: Connecting): Connection {
  const { limits } = connecting;
  const waiting = new Set<Waiting>();
  let live: Opened | undefined;
  let attempt: Promise<Opened> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;
  let isClosed = false;
  const ending = new AbortController();
  let isLegacy = false;
  let failures = 0;
  let problem: string | undefined;
  /** Given up, with calls that may still be answered. */
  const leaving = new Set<Opened>();

  /** K1. */
  function open(): Promise<Opened> {
    if (isClosed) return Promise.reject(new Error("it was closed"));
    if (live) return Promise.resolve(live);
    clearTimeout(timer);
    timer = undefined;
    attempt ??= tryOnce().finally(() => {
      attempt = undefined;
      connecting.onChange();
    });
    connecting.onChange();
    return attempt;
  }

  async function tryOnce(): Promise<Opened> {
    try {
      const onListChanged = (): void => {
        if (live) connecting.onListChanged(live);
      };
      const opened = await openConnection({ ...connecting, onListChanged, signal: ending.signal }, isLegacy);
      if (isClosed) {
        await opened.close();
        throw new Error("it was closed");
      }
      take(opened);
      return opened;
    } catch (cause) {
      failed(cause instanceof Error ? cause.message : String(cause));
      throw cause;
    }
  }

  function take(opened: Opened): void {
    live = opened;
    isLegacy = opened.isLegacy;
    opened.client.onclose = () => lose(opened, opened.why());
    void followChanges(opened, {
      limits,
      isLive: () => live === opened,
      onMissed: () => connecting.onListChanged(opened),
      onGone: (why) => lose(opened, why),
    });
    connecting.onOpened(opened);
    for (const each of [...waiting]) each.resolve(opened);
  }

  function lose(opened: Opened, why: string): void {
    if (live !== opened) return;
    live = undefined;
    leaving.add(opened);
    void retire(opened);
    failed(why);
    connecting.onChange();
  }

  /** K4. */
  async function retire(opened: Opened): Promise<void> {
    await opened.transport.idle();
    await opened.close();
    leaving.delete(opened);
  }

  /** K2. */
  function failed(why: string): void {
    problem = why;
    failures += 1;
    if (isClosed || timer) return;
    const pause = Math.min(limits.reconnectMaxMs, limits.reconnectMs * 2 ** Math.min(failures - 1, 30));
    timer = setTimeout(() => void open().catch(() => undefined), pause * (0.5 + Math.random() / 2));
    timer.unref();
  }

  function stateNow(): McpStatus["state"] {
    if (isClosed) return "closed";
    if (live) return "connected";
    if (attempt !== undefined) return "connecting";
    return timer ? "waiting" : "not-connected";
  }

  return {
    open,
    async ready(waitMs, signal) {
      if (live) return live;
      if (isClosed) throw new Error("it was closed");
      if (!timer) void open().catch(() => undefined);
      return await waitFor({ waiting, waitMs, signal, why: () => problem ?? "it has not answered yet" });
    },
    drop: lose,
    worked() {
      failures = 0;
    },
    async rest() {
      clearTimeout(timer);
      timer = undefined;
      const last = live;
      live = undefined;
      await last?.close();
    },
    state: () => ({
      state: stateNow(),
      failures,
      ...(problem === undefined || live ? {} : { problem }),
      ...(live ? { protocol: live.client.getNegotiatedProtocolVersion() ?? "unknown" } : {}),
    }),
    close() {
      isClosed = true;
      ending.abort();
      closing ??= (async () => {
        clearTimeout(timer);
        for (const each of [...waiting]) each.reject(new Error("it was closed"));
        const last = live;
        live = undefined;
        await attempt?.catch(() => undefined);
        await Promise.all([last, ...leaving].map((opened) => opened?.close()));
        connecting.onChange();
      })();
      return closing;
    },
  };
}

interface WaitFor {
  readonly waiting: Set<Waiting>;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly why: () => string;
}

function waitFor({ waiting, waitMs, signal, why }: WaitFor): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      waiting.delete(entry);
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    };
    const entry: Waiting = {
      resolve: (opened) => {
        end();
        resolve(opened);
      },
      reject: (reason) => {
        end();
        reject(reason);
      },
    };
    const leave = (): void => entry.reject(new Error("the call was given up"));
    const timer = setTimeout(() => entry.reject(new Error(why())), waitMs);
    waiting.add(entry);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
}
