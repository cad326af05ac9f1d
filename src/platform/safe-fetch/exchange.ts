/** One request to addresses that have been judged, and the head of its answer. */
import { type IncomingMessage, request as plainRequest, type RequestOptions } from "node:http";
import { request as secureRequest } from "node:https";
import type { LookupFunction } from "node:net";
import type { Clock } from "../../ports/clock.ts";
import { isEventStream, readBody } from "./body.ts";
import { type Attempt, failure, textOf } from "./failure.ts";
import type { Resolved } from "./judge.ts";
import type { FetchLimits } from "./rules.ts";

export interface Exchange {
  readonly attempt: Attempt;
  readonly addresses: readonly Resolved[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly limits: FetchLimits;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

export interface Answered {
  readonly message: IncomingMessage;
  /** Ends the exchange without reading the body. */
  drop(): void;
  response(): Response;
}

/** Rejects with the signal's own reason when the caller gave up, else with an error that says whether anything was sent. */
export function exchange(given: Exchange): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { attempt, limits, signal } = given;
    const over = new AbortController();
    let sent = false;
    let reason: unknown;
    const request = open(given);

    function end(why: unknown): void {
      reason ??= why;
      request.destroy();
      finish();
    }
    function finish(): void {
      over.abort();
      signal?.removeEventListener("abort", giveUp);
    }
    function giveUp(): void {
      end(signal?.reason);
      reject(signal?.reason);
    }

    void given.clock.sleep(limits.timeoutMs, over.signal).then(() => {
      if (over.signal.aborted) return;
      const words = `no whole answer came within ${limits.timeoutMs} ms`;
      const why = failure("fetch-timeout", { attempt, why: words, sent });
      end(why);
      reject(why);
    });
    request.on("socket", (socket) => {
      socket.once(attempt.url.protocol === "https:" ? "secureConnect" : "connect", () => {
        sent = true;
      });
    });
    request.on("error", (cause) => {
      finish();
      const when = sent ? "the connection broke before an answer came" : "no connection was made, so nothing was sent";
      reject(reason ?? failure("fetch-unreachable", { attempt, why: `${when} (${textOf(cause)})`, sent, cause }));
    });
    request.on("response", (message) => {
      // What remains bounded is its silence and the caller's own signal, which still ends it.
      if (isEventStream(message)) over.abort();
      resolve({
        message,
        drop: () => end(undefined),
        response: () => responseOf({ ...given, message, finish, reason: () => reason }),
      });
    });
    signal?.addEventListener("abort", giveUp);
    if (signal?.aborted) giveUp();
    else request.end(given.body);
  });
}

function open({ attempt, addresses, headers }: Exchange): ReturnType<typeof plainRequest> {
  const options: RequestOptions = {
    method: attempt.method,
    headers: { ...headers, "accept-encoding": "identity" },
    lookup: pinned(addresses),
    // A connection of its own: one that was kept open would belong to an earlier judgement.
    agent: false,
  };
  return attempt.url.protocol === "https:" ? secureRequest(attempt.url, options) : plainRequest(attempt.url, options);
}

/** Node asks this and nothing else, so the connection goes where the judgement was about. */
function pinned(addresses: readonly Resolved[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? "", first?.family);
  };
}

interface Reached extends Exchange {
  readonly message: IncomingMessage;
  readonly finish: () => void;
  readonly reason: () => unknown;
}

function responseOf(reached: Reached): Response {
  const { attempt, message, limits, clock, finish, reason } = reached;
  checkHead(reached);
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at] ?? "", message.rawHeaders[at + 1] ?? "");
  }
  const isEmpty = [204, 205, 304].includes(status) || attempt.method === "HEAD";
  if (isEmpty) {
    message.resume();
    finish();
  }
  const body = isEmpty ? null : readBody({ attempt, message, limits, clock, over: finish, reason });
  return new Response(body, { status, statusText: message.statusMessage ?? "", headers });
}

function checkHead({ attempt, message, limits, finish }: Reached): void {
  const problem = headProblem(message, limits);
  if (problem === undefined) return;
  finish();
  message.destroy();
  throw failure(problem.code, { attempt, why: problem.why, sent: true });
}

interface HeadProblem {
  readonly code: "fetch-refused" | "fetch-too-large";
  readonly why: string;
}

function headProblem(message: IncomingMessage, { bytes }: FetchLimits): HeadProblem | undefined {
  const { "content-encoding": encoding = "identity", "content-length": length = "0" } = message.headers;
  const { statusCode: status = 0 } = message;
  // Unpacking could make much of little; we ask for plain answers.
  if (encoding !== "identity") return { code: "fetch-refused", why: `its answer is ${encoding}, not plain` };
  if (status < 200 || status > 599) return { code: "fetch-refused", why: `it answered with status ${status}` };
  if (isEventStream(message) || Number(length) <= bytes) return;
  return { code: "fetch-too-large", why: `it answered with a body of ${length} bytes; ${bytes} are allowed` };
}
