/** Whether a request may go to an address: first what can be seen in the URL, then what its host resolves to. */
import type { Clock } from "../../ports/clock.ts";
import { contains, parseAddress, type Range, unwrapped } from "./address.ts";
import { type Attempt, failure, textOf } from "./failure.ts";
import { closedBecause, isMetadata } from "./ranges.ts";
import { bare, type HostRule, type ReadRules } from "./rules.ts";

export interface Resolved {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Every address of a name. It is asked once for a connection. */
export type Resolver = (host: string) => Promise<readonly Resolved[]>;

export interface Asking {
  readonly resolver: Resolver;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

export function checkUrl(attempt: Attempt, rules: ReadRules): void {
  const { url, from } = attempt;
  const isHttp = url.protocol === "https:" || url.protocol === "http:";
  if (!isHttp) refuse(attempt, `its scheme is ${url.protocol.slice(0, -1)}`, "Use an https: address.");
  if (url.username !== "" || url.password !== "") {
    refuse(attempt, "a user or a password is written in it", "Send credentials as headers.");
  }
  if (!isListed(url, rules)) {
    refuse(
      attempt,
      `${url.host === "" ? "its host" : url.host} is not among the hosts that may be asked`,
      "Add the host if you trust it.",
    );
  }
  if (from?.protocol === "https:" && url.protocol === "http:") {
    refuse(attempt, "it leads from https: to http:", "Mend the server's redirect.");
  }
}

export function isListed(url: URL, { hosts }: Pick<ReadRules, "hosts">): boolean {
  return hosts.some((rule) => allows(rule, url));
}

function allows(rule: HostRule, url: URL): boolean {
  const host = bare(url.hostname);
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  const fits = rule.below ? host.endsWith(`.${rule.name}`) : host === rule.name;
  return fits && (rule.port === undefined || rule.port === port);
}

/** Where the connection is to go: all addresses of the host, each of them allowed. */
export async function resolve(attempt: Attempt, rules: ReadRules, asking: Asking): Promise<readonly Resolved[]> {
  const host = bare(attempt.url.hostname).replace(/^\[|\]$/g, "");
  const literal = parseAddress(host);
  const found =
    literal === undefined
      ? await asked(attempt, answerOf(host, rules, asking))
      : [{ address: host, family: literal.family }];
  for (const each of found) checkAddress(attempt, rules, each);
  return found;
}

/** A resolver that does not answer is one that has none: what was to be connected to is not known, so nothing was sent. */
async function answerOf(host: string, { limits }: ReadRules, asking: Asking): Promise<readonly Resolved[]> {
  const { resolver, clock, signal } = asking;
  const over = new AbortController();
  const end = (): void => over.abort();
  signal?.addEventListener("abort", end, { once: true });
  try {
    const late = clock.sleep(limits.timeoutMs, over.signal).then((): never => {
      throw new Error(`no answer within ${limits.timeoutMs} ms`);
    });
    late.catch(() => undefined); // it wakes, unheard, also when the answer was first
    return await Promise.race([resolver(host), late]);
  } finally {
    signal?.removeEventListener("abort", end);
    over.abort();
  }
}

async function asked(attempt: Attempt, answer: Promise<readonly Resolved[]>): Promise<readonly Resolved[]> {
  const why = "its host has no address";
  let found: readonly Resolved[];
  try {
    found = await answer;
  } catch (cause) {
    throw failure("fetch-unreachable", { attempt, why: `${why} (${textOf(cause)})`, sent: false, cause });
  }
  if (found.length === 0) throw failure("fetch-unreachable", { attempt, why, sent: false });
  return found;
}

/** One address that is not allowed spoils them all: which of them is used would be the network's choice. */
function checkAddress(attempt: Attempt, { privateRanges }: ReadRules, { address }: Resolved): void {
  const parsed = parseAddress(address);
  if (parsed === undefined) {
    refuse(attempt, `its host resolves to ${address}, which is no plain address`, "Use another host.");
  }
  const isAlone = ({ base, prefix }: Range): boolean => prefix === (base.family === 4 ? 32 : 128);
  const counting = isMetadata(parsed) ? privateRanges.filter(isAlone) : privateRanges;
  if (counting.some((range) => contains(range, parsed) || contains(range, unwrapped(parsed)))) return;
  const why = closedBecause(parsed);
  if (why !== undefined) {
    refuse(attempt, `its host resolves to ${address} (${why})`, "Add the address to privateRanges if you trust it.");
  }
  if (attempt.url.protocol === "http:") {
    refuse(attempt, "plain http: is for addresses of privateRanges only", "Use https:.");
  }
}

function refuse(attempt: Attempt, why: string, next: string): never {
  throw failure("fetch-refused", { attempt, why: `${why}. ${next}`, sent: false });
}
