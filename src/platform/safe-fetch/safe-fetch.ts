/**
 * Every request to an address that came from outside, or that leads there, goes through here.
 *
 * F1 Nothing is sent to a host that is not listed, nor to an address outside the open internet unless its range is listed.
 * F2 A name is resolved once for each connection, and the connection goes to the addresses that were judged.
 * F3 Each redirect is judged like a first request; there are few of them, none leads from https: to http:, and none
 *    turns a request with a body into another one. To another origin go only the headers that are known to be no secret.
 * F4 An answer has an end in time and in size, also when it is a stream.
 * F5 An error names what was attempted and, in `details.sent`, whether the other side may have taken the request. One that was
 *    answered by a redirect was not, unless it is a 303: that says where the outcome is.
 */
import { lookup } from "node:dns/promises";
import type { HoldfastError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { nodeClock } from "../node-clock.ts";
import { type Answered, exchange } from "./exchange.ts";
import { type Attempt, failure, shownUrl } from "./failure.ts";
import { checkUrl, type Resolved, type Resolver, resolve } from "./judge.ts";
import { type FetchRules, type ReadRules, readRules } from "./rules.ts";

export interface FetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

export type SafeFetch = (url: string | URL, init?: FetchInit) => Promise<Response>;

export interface FetchSources {
  readonly resolver?: Resolver;
  readonly clock?: Clock;
}

export function createSafeFetch(
  rules: FetchRules,
  { resolver = system, clock = nodeClock }: FetchSources = {},
): SafeFetch {
  const read = readRules(rules);
  return async (address, init = {}) => {
    let hop: Hop = { attempt: { method: init.method ?? "GET", url: new URL(address), from: undefined }, init };
    for (let taken = 0; ; taken += 1) {
      const { attempt } = hop;
      checkUrl(attempt, read);
      const { headers = {}, body, signal } = hop.init;
      signal?.throwIfAborted();
      const addresses = await resolve(attempt, read, { resolver, clock, signal }).catch((error) => {
        throw signal?.aborted ? signal.reason : error;
      });
      const answered = await exchange({ attempt, addresses, headers, body, limits: read.limits, clock, signal });
      const redirect = redirectOf(answered);
      if (redirect === undefined) return answered.response();
      answered.drop();
      if (taken >= read.limits.redirects) {
        throw refused(attempt, redirect, `it redirects again after ${read.limits.redirects} redirects`);
      }
      hop = follow(hop, redirect, read);
    }
  };
}

interface Hop {
  readonly attempt: Attempt;
  readonly init: FetchInit;
}

interface Redirect {
  readonly status: number;
  readonly location: string;
}

const redirects = [301, 302, 303, 307, 308];
/** Those that keep the method and the body. */
const keeping = [307, 308];

function redirectOf({ message }: Answered): Redirect | undefined {
  const { statusCode: status = 0, headers } = message;
  const isRedirect = redirects.includes(status) && headers.location !== undefined;
  return isRedirect ? { status, location: headers.location ?? "" } : undefined;
}

function follow({ attempt, init }: Hop, redirect: Redirect, rules: ReadRules): Hop {
  const { status, location } = redirect;
  if (!URL.canParse(location, attempt.url.href)) {
    throw refused(attempt, redirect, "it redirects to something that is no address");
  }
  const url = new URL(location, attempt.url);
  const next: Attempt = { method: attempt.method, url, from: attempt.url };
  const isRead = attempt.method === "GET" || attempt.method === "HEAD";
  if (!isRead && (url.origin !== attempt.url.origin || !keeping.includes(status))) {
    const why = `it redirects a ${attempt.method} to ${shownUrl(url)} (${status}), which could make another request of it`;
    throw refused(attempt, redirect, why);
  }
  return { attempt: next, init: { ...init, headers: headersFor(next, init.headers ?? {}, rules) } };
}

function refused(attempt: Attempt, { status }: Redirect, why: string): HoldfastError {
  return failure("fetch-refused", { attempt, why, sent: status === 303 });
}

/** Within an origin all of them; elsewhere only what is known to hold no credentials. */
function headersFor(
  { url, from }: Attempt,
  headers: Readonly<Record<string, string>>,
  { publicHeaders }: ReadRules,
): Readonly<Record<string, string>> {
  if (url.origin === from?.origin) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => publicHeaders.has(name.toLowerCase())));
}

async function system(host: string): Promise<readonly Resolved[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}
