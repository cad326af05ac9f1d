/** Where requests may go and what an answer may cost: said by the operator, checked before anything is sent. */
import { Problems } from "../../domain/problems.ts";
import { parseRange, type Range } from "./address.ts";

export interface FetchRules {
  /** Hosts that may be asked: `api.example.com`, `api.example.com:8443`, `*.example.com` for all below it. No others. */
  readonly hosts: readonly string[];
  /**
   * Addresses that are not of the open internet and may be asked all the same: `127.0.0.1`, `10.1.0.0/16`, `::1`.
   * None unless said. Plain http: is for these only. A cloud's metadata address counts only when it is listed by itself.
   */
  readonly privateRanges?: readonly string[];
  readonly limits?: Partial<FetchLimits>;
  /** Headers, besides those of content negotiation, that may follow a redirect to another origin. */
  readonly publicHeaders?: readonly string[];
}

export interface FetchLimits {
  /** From the first byte sent to the last byte of the answer; of a stream of events to its first. */
  readonly timeoutMs: number;
  /** How long a stream of events may be silent. */
  readonly idleMs: number;
  /** An answer's body; of a stream of events one line. */
  readonly bytes: number;
  /** A stream of events in all. */
  readonly streamBytes: number;
  readonly redirects: number;
}

export const defaultLimits: FetchLimits = {
  timeoutMs: 30_000,
  idleMs: 120_000,
  bytes: 16 * 1024 * 1024,
  streamBytes: 256 * 1024 * 1024,
  redirects: 3,
};

export interface ReadRules {
  readonly hosts: readonly HostRule[];
  readonly privateRanges: readonly Range[];
  readonly limits: FetchLimits;
  readonly publicHeaders: ReadonlySet<string>;
}

export interface HostRule {
  readonly name: string;
  /** Every name that ends in `.name`, not the name itself. */
  readonly below: boolean;
  readonly port: string | undefined;
}

const maxMs = 24 * 60 * 60_000;
const mostBytes = 2 ** 40;
const negotiation = ["accept", "accept-language", "content-type", "user-agent"];

export function readRules(rules: FetchRules): ReadRules {
  const problems = new Problems(rules, ["hosts", "privateRanges", "limits", "publicHeaders"]);
  problems.check("hosts", (hosts) => isList(hosts) && hosts.length > 0, "must be a list of at least one host");
  const hosts = listed(rules?.hosts).map((text) => readHost(text) ?? problems.add(hostProblem(text)));
  problems.optional("privateRanges", isList, "must be a list of addresses and ranges");
  const ranges = listed(rules?.privateRanges).map((text) => parseRange(text) ?? problems.add(rangeProblem(text)));
  problems.optional("publicHeaders", isList, "must be a list of header names");
  if (rules?.limits !== undefined) problems.include("limits", limitProblems(rules.limits));
  problems.refuse("invalid-options", "The rules for fetching cannot be used");
  return {
    hosts: hosts.filter((host) => host !== undefined),
    privateRanges: ranges.filter((range) => range !== undefined),
    limits: { ...defaultLimits, ...rules.limits },
    publicHeaders: new Set([...negotiation, ...listed(rules.publicHeaders)].map((name) => name.toLowerCase())),
  };
}

function limitProblems(limits: Partial<FetchLimits>): Problems {
  const problems = new Problems(limits, Object.keys(defaultLimits));
  problems.integer("timeoutMs", 1, maxMs);
  problems.integer("idleMs", 1, maxMs);
  problems.integer("bytes", 1, mostBytes);
  problems.integer("streamBytes", 1, mostBytes);
  problems.integer("redirects", 0, 20);
  return problems;
}

/** Through the URL class, so that a host is compared in the form that an address has. */
function readHost(text: string): HostRule | undefined {
  const below = text.startsWith("*.");
  const address = `https://${below ? text.slice(2) : text}`;
  if (!URL.canParse(address)) return;
  const { hostname, port, pathname, search, hash, username } = new URL(address);
  const isPlain = pathname === "/" && search === "" && hash === "" && username === "" && !text.endsWith("/");
  return isPlain ? { name: bare(hostname), below, port: readPort(text, port) } : undefined;
}

/** The URL class leaves out 443, which was written for a reason. */
function readPort(text: string, port: string): string | undefined {
  if (port !== "") return port;
  return /:443$/.test(text) ? "443" : undefined;
}

/** Names that end in a dot are the same names. */
export function bare(hostname: string): string {
  return hostname.replace(/\.$/, "").toLowerCase();
}

function hostProblem(text: string): string {
  return `hosts: ${JSON.stringify(text)} is no host; write a name, a name with a port, or *.name`;
}

function rangeProblem(text: string): string {
  return `privateRanges: ${JSON.stringify(text)} is no address or range`;
}

function listed(list: unknown): readonly string[] {
  return isList(list) ? list : [];
}

function isList(list: unknown): list is readonly string[] {
  return Array.isArray(list) && list.every((each) => typeof each === "string" && each !== "");
}
