/**
 * Stands between the protocol package and a transport, and knows two things that neither tells: whether a call was handed
 * over, and whether the server says more than it may.
 *
 * G1 A request of a call counts as sent from the moment it is given to the transport, unless the transport proves that it
 *    never arrived. That says nothing about earlier requests of the same call.
 * G2 A request whose answer can no longer come is ended at once, not when its time is over.
 * G3 More messages than the limit end the connection.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import { carries } from "../../domain/json.ts";
import { neverArrived, streamEndedCode } from "./outcome.ts";

export const callKey = "holdfast/idempotency-key";

export interface Guarded extends Transport {
  /** Starts to look for the call with this key; the answer says how many of its requests were sent. */
  follow(key: string): { readonly sent: () => number; readonly end: () => void };
  /** Resolves when no call is followed any more. */
  idle(): Promise<void>;
  /** The limit that was broken. */
  readonly broken: string | undefined;
}

interface Guarding {
  readonly messagesPerSecond: number;
  /** Ends the transport at once. */
  readonly kill: () => void;
  readonly close: () => Promise<void>;
}

type Inner = Transport & { readonly pid?: number | null; readonly stderr?: string };

export function guard(inner: Inner, { messagesPerSecond, kill, close }: Guarding): Guarded {
  const followed = new Map<string, number>();
  const waiting: (() => void)[] = [];
  const bucket = createBucket(messagesPerSecond);
  let broken: string | undefined;

  const guarded: Guarded = {
    get broken() {
      return broken;
    },
    get sessionId() {
      return inner.sessionId;
    },
    ...(inner.hasPerRequestStream ? { hasPerRequestStream: true } : {}),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    follow(key) {
      followed.set(key, 0);
      const end = (): void => {
        followed.delete(key);
        if (followed.size === 0) for (const resolve of waiting.splice(0)) resolve();
      };
      return { sent: () => followed.get(key) ?? 0, end };
    },
    idle() {
      return followed.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
    },
    start() {
      inner.onclose = () => guarded.onclose?.();
      inner.onerror = (error) => guarded.onerror?.(error);
      inner.onmessage = (message, extra) => {
        if (broken) return;
        if (bucket.take()) guarded.onmessage?.(message, extra);
        else {
          broken = `it sends more than ${messagesPerSecond} messages a second`; // G3
          kill();
        }
      };
      return inner.start();
    },
    async send(message, options) {
      const key = keyOf(message);
      const before = key === undefined ? undefined : followed.get(key);
      if (key !== undefined && before !== undefined) followed.set(key, before + 1); // G1
      try {
        await inner.send(message, watchingEnd(message, options));
      } catch (cause) {
        if (key !== undefined && before !== undefined && neverArrived(cause)) followed.set(key, before);
        throw cause;
      }
    },
    close,
  };

  /** G2. */
  function watchingEnd(message: JSONRPCMessage, options: TransportSendOptions | undefined): TransportSendOptions {
    if (!("method" in message) || !("id" in message)) return options ?? {};
    const { id } = message;
    const gone = (): void => {
      options?.onRequestStreamEnd?.();
      const error = { code: streamEndedCode, message: "the stream of its answer ended without one" };
      // For an answer that has come this is the answer to nothing, and is dropped.
      if (typeof id === "number") guarded.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return { ...options, onRequestStreamEnd: gone };
  }

  // The protocol package tells a program from an address by these two names.
  if ("pid" in inner) {
    const { pid, stderr } = Object.getOwnPropertyDescriptors(inner) as PropertyDescriptorMap;
    Object.defineProperties(guarded, { ...(pid ? { pid } : {}), ...(stderr ? { stderr } : {}) });
  }
  return guarded;
}

function keyOf(message: JSONRPCMessage): string | undefined {
  if (!("method" in message) || message.method !== "tools/call") return undefined;
  const meta: unknown = message.params?._meta;
  return carries(meta, callKey) ? (meta as Record<typeof callKey, string>)[callKey] : undefined;
}

/** Four seconds' worth at once, then so many a second. */
function createBucket(perSecond: number): { take(): boolean } {
  let left = perSecond * 4;
  let at = performance.now();
  return {
    take() {
      const now = performance.now();
      left = Math.min(perSecond * 4, left + ((now - at) / 1_000) * perSecond);
      at = now;
      left -= 1;
      return left >= 0;
    },
  };
}
