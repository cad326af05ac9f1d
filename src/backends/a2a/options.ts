/** What an endpoint says to this backend. Everything is checked when it is built; unknown names are refused. */
import type { EndpointAuth, EndpointOptions, RemoteEndpoint } from "../../domain/backend/endpoint.ts";
import { HoldfastError } from "../../domain/errors.ts";
import { Problems } from "../../domain/problems.ts";
import { isSecret, type Secret } from "../../domain/secret.ts";
import { type FetchRules, readRules } from "../../platform/safe-fetch/rules.ts";
import { type Hide, hidingOf } from "./hide.ts";

export interface A2aOptions {
  /** Hosts besides the endpoint's own, at its port, that its agent card may name: `api.example.com`, `*.example.com`. */
  readonly hosts?: readonly string[];
  /** Addresses outside the open internet that may be asked: `127.0.0.1`, `10.1.0.0/16`. None unless said. */
  readonly privateRanges?: readonly string[];
  /** Milliseconds between two looks at a task that is not streamed; 1,000 unless said. */
  readonly pollInterval?: number;
  /** Bytes of text and artifacts that are taken of one task; 1 MiB unless said. */
  readonly maxBytes?: number;
}

export const optionNames = [
  "hosts",
  "privateRanges",
  "pollInterval",
  "maxBytes",
] as const satisfies readonly (keyof A2aOptions)[];
export const defaults = { pollInterval: 1_000, maxBytes: 1024 * 1024 } as const;

/** What `a2a(…)` takes. */
export interface A2aEndpoint extends Omit<EndpointOptions, "backend" | "options" | "auth"> {
  readonly auth?: A2aAuth;
  readonly options?: A2aOptions;
}

export type A2aAuth =
  | { readonly type: "bearer"; readonly token: string | Secret }
  | { readonly type: "api-key"; readonly header: string; readonly key: string | Secret };

export interface A2aSettings {
  /** Where the agent card is. */
  readonly card: URL;
  readonly rules: FetchRules;
  readonly auth: Readonly<Record<string, string>>;
  /** How it is authorised, for the card's demands. */
  readonly authType: A2aAuth["type"] | undefined;
  /** For everything that the other side says. */
  readonly hide: Hide;
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly maxBytes: number;
}

/** The protocol package reads no longer lines of a stream; and what is larger belongs in a file with an address. */
export const wireBytes: number = 4 * 1024 * 1024 - 1024;
const mostBytes = 3 * 1024 * 1024;
const mostPollMs = 60 * 60_000;

export function readSettings(endpoint: RemoteEndpoint): A2aSettings {
  const options = endpoint.options as A2aOptions;
  const problems = new Problems(options, optionNames);
  problems.integer("pollInterval", 1, mostPollMs);
  problems.integer("maxBytes", 1, mostBytes);
  const card = cardAddress(endpoint);
  const rules = {
    hosts: [ownHost(card), ...(options.hosts ?? [])],
    ...(options.privateRanges === undefined ? {} : { privateRanges: options.privateRanges }),
    publicHeaders: ["a2a-version"],
  };
  try {
    readRules(rules);
  } catch (error) {
    for (const problem of (error as HoldfastError).problems) problems.add(problem);
  }
  const auth = authHeaders(endpoint.auth, problems);
  if (problems.count > 0) {
    const what = `The A2A endpoint ${endpoint.baseUrl} cannot be used`;
    throw new HoldfastError("invalid-backend", what, { problems: problems.found });
  }
  return {
    card,
    rules,
    auth,
    authType: endpoint.auth?.type as A2aAuth["type"] | undefined,
    hide: hidingOf(Object.values(auth).flatMap((value) => [value, value.replace(/^Bearer /, "")])),
    timeoutMs: endpoint.timeoutMs,
    pollMs: options.pollInterval ?? defaults.pollInterval,
    maxBytes: options.maxBytes ?? defaults.maxBytes,
  };
}

/** Below the base address and the target; a query of the base address is not the card's. */
function cardAddress({ baseUrl, target }: RemoteEndpoint): URL {
  const base = new URL(baseUrl);
  const path = [base.pathname.replace(/\/+$/, ""), ...(target === undefined ? [] : [encodeURIComponent(target)])];
  return new URL(`${path.join("/")}/.well-known/agent-card.json`, base.origin);
}

/** With its port: what else listens on that machine is not meant. */
function ownHost({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}

function authHeaders(auth: EndpointAuth | undefined, problems: Problems): Readonly<Record<string, string>> {
  if (auth === undefined) return {};
  const known = { bearer: ["type", "token"], "api-key": ["type", "header", "key"] }[auth.type];
  if (known === undefined) {
    problems.add(`auth.type: must be bearer or api-key, not ${auth.type}`);
    return {};
  }
  const missing = known.filter((name) => auth[name] === undefined);
  const unknown = Object.keys(auth).filter((name) => !known.includes(name));
  for (const name of missing) problems.add(`auth.${name}: is needed for ${auth.type}`);
  for (const name of unknown) problems.add(`auth.${name}: unknown for ${auth.type}`);
  const [name, value] =
    auth.type === "bearer" ? ["authorization", `Bearer ${plain(auth.token)}`] : [plain(auth.header), plain(auth.key)];
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)) problems.add("auth.header: must be a header's name");
  if (!/^[\x20-\x7e]+$/.test(value)) problems.add("auth: holds characters that cannot be sent in a header");
  return { [name]: value };
}

function plain(value: string | Secret | undefined): string {
  return isSecret(value) ? value.reveal() : (value ?? "");
}
