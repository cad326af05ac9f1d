/**
 * An answer's body, read as it is wanted, within its limits.
 *
 * B1 What is too large is refused when the first byte too many has come, or before, when its length is announced.
 * B2 Of a stream of events each line is bounded, and all of it; silence is, too, while somebody is waiting.
 * B3 Whoever stops reading ends the connection.
 */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../ports/clock.ts";
import { type Attempt, failure, textOf } from "./failure.ts";
import type { FetchLimits } from "./rules.ts";

export interface BodySource {
  readonly attempt: Attempt;
  readonly message: IncomingMessage;
  readonly limits: FetchLimits;
  readonly clock: Clock;
  /** Called once, when no more will come. */
  readonly over: () => void;
  /** What has ended the exchange, if something of ours did. */
  readonly reason: () => unknown;
}

export function isEventStream(message: IncomingMessage): boolean {
  return message.headers["content-type"]?.toLowerCase().startsWith("text/event-stream") ?? false;
}

export function readBody(source: BodySource): ReadableStream<Uint8Array> {
  const { message, limits, over } = source;
  const counting = isEventStream(message) ? lineCounter(limits) : wholeCounter(limits);
  const pieces = message[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await next(source, pieces);
        if (piece === undefined) {
          over();
          return controller.close();
        }
        const problem = counting(piece);
        if (problem !== undefined) {
          message.destroy();
          over();
          throw failure("fetch-too-large", { attempt: source.attempt, why: `it answered with ${problem}`, sent: true });
        }
        controller.enqueue(new Uint8Array(piece));
      },
      cancel() {
        over();
        message.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

async function next(source: BodySource, pieces: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const { message, limits, clock, attempt, over, reason } = source;
  const heard = new AbortController();
  let silent = false;
  if (isEventStream(message)) {
    void clock.sleep(limits.idleMs, heard.signal).then(() => {
      silent = !heard.signal.aborted;
      if (silent) message.destroy();
    });
  }
  try {
    const { value, done } = await pieces.next();
    if (!silent) return done ? undefined : value;
    throw new Error("silent");
  } catch (cause) {
    over();
    if (silent) {
      throw failure("fetch-timeout", { attempt, why: `its stream was silent for ${limits.idleMs} ms`, sent: true });
    }
    const why = `its answer broke off (${textOf(cause)})`;
    throw reason() ?? failure("fetch-unreachable", { attempt, why, sent: true, cause });
  } finally {
    heard.abort();
  }
}

type Counter = (piece: Uint8Array) => string | undefined;

function wholeCounter({ bytes }: FetchLimits): Counter {
  let size = 0;
  return (piece) => {
    size += piece.length;
    return size > bytes ? `a body of more than ${bytes} bytes` : undefined;
  };
}

function lineCounter({ bytes, streamBytes }: FetchLimits): Counter {
  let line = 0;
  let all = 0;
  return (piece) => {
    all += piece.length;
    if (all > streamBytes) return `a stream of more than ${streamBytes} bytes`;
    let from = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
      if (line + end - from > bytes) break;
      line = 0;
      from = end + 1;
    }
    line += piece.length - from;
    return line > bytes ? `a line of more than ${bytes} bytes` : undefined;
  };
}
