/**
 * Endpoint: where a remote backend is and how it is spoken to. Checked as a whole before anything is built; every problem is
 * named. The manifest has it without what opens doors.
 *
 * E1 Unknown names are refused, and so are the older names beside the newer ones: nobody guesses which was meant.
 * E2 No value of `auth` is ever declared, only its type and the names of what it holds; an option that looks like a key is
 *    refused.
 */
import { secretIn } from "../config-secrets.ts";
import { type JsonObject, toJson } from "../json.ts";
import { Problems, shown } from "../problems.ts";
import { isSecret, type Secret } from "../secret.ts";

export interface EndpointAuth {
  /** "bearer" and the like: what the backend knows how to use. */
  readonly type: string;
  readonly [parameter: string]: string | Secret;
}

export interface EndpointOptions {
  /** The name of the factory that builds it; "a2a" unless said. */
  readonly backend?: string;
  readonly baseUrl: string;
  readonly auth?: EndpointAuth;
  /** Which of the agents at that address. */
  readonly target?: string;
  /** Milliseconds for a whole turn; 300,000 unless said. */
  readonly timeout?: number;
  /** What only this backend knows. */
  readonly options?: JsonObject;
}

/** The names of before: taken alone, refused beside a newer one. */
export interface LegacyEndpoint {
  readonly base_url: string;
  readonly bearer_token?: string;
  readonly agent_id?: string;
  readonly poll_interval_ms?: number;
  readonly timeout_ms?: number;
}

export interface RemoteEndpoint {
  readonly backend: string;
  readonly baseUrl: string;
  readonly auth?: EndpointAuth;
  readonly target?: string;
  readonly timeoutMs: number;
  readonly options: JsonObject;
}

/** As the manifest has it (E2). */
export interface DeclaredEndpoint {
  readonly baseUrl: string;
  readonly auth?: { readonly type: string; readonly parameters: readonly string[] };
  readonly target?: string;
  readonly timeoutMs: number;
  readonly options: JsonObject;
}

/** A backend as an agent has it and a manifest declares it. */
export interface DeclaredBackend {
  readonly name: string;
  readonly endpoint: DeclaredEndpoint;
}

const newNames = ["backend", "baseUrl", "auth", "target", "timeout", "options"] as const;
const oldNames = ["base_url", "bearer_token", "agent_id", "poll_interval_ms", "timeout_ms"] as const;
const defaultTimeoutMs = 300_000;
const maxTimeoutMs = 24 * 60 * 60_000;

/** Refuses with `invalid-backend`, every problem named. */
export function readEndpoint(given: EndpointOptions | LegacyEndpoint): RemoteEndpoint {
  const problems = new Problems(given, [...newNames, ...oldNames]);
  const has = (name: string): boolean => (given as unknown as Record<string, unknown> | null)?.[name] !== undefined;
  const [newer, older] = [newNames.filter(has), oldNames.filter(has)];
  if (newer.length > 0 && older.length > 0) {
    problems.add(`${older.join(", ")}: older names cannot be mixed with ${newer.join(", ")}`); // E1
  }
  const options = older.length > 0 && newer.length === 0 ? renewed(given as LegacyEndpoint) : given;
  const endpoint = checked(options as EndpointOptions, problems);
  problems.refuse("invalid-backend", `The endpoint ${shown(endpoint.baseUrl)} cannot be used`);
  return endpoint;
}

function renewed({ base_url, bearer_token, agent_id, poll_interval_ms, timeout_ms }: LegacyEndpoint): EndpointOptions {
  return {
    baseUrl: base_url,
    ...(bearer_token === undefined ? {} : { auth: { type: "bearer", token: bearer_token } }),
    ...(agent_id === undefined ? {} : { target: agent_id }),
    ...(timeout_ms === undefined ? {} : { timeout: timeout_ms }),
    ...(poll_interval_ms === undefined ? {} : { options: { pollInterval: poll_interval_ms } }),
  };
}

function checked(given: EndpointOptions | null, problems: Problems): RemoteEndpoint {
  const { backend = "a2a", baseUrl, auth, target, timeout = defaultTimeoutMs, options = {} } = given ?? ({} as never);
  if (typeof backend !== "string" || backend.trim() === "") problems.add("backend: must be a name that is not blank");
  const wrong = urlProblem(baseUrl);
  if (wrong) problems.add(`baseUrl: ${wrong}`);
  if (auth !== undefined) checkAuth(auth, problems);
  if (target !== undefined && (typeof target !== "string" || target.trim() === "")) {
    problems.add("target: must be a name that is not blank");
  }
  if (!Number.isInteger(timeout) || timeout < 1 || timeout > maxTimeoutMs) {
    problems.add(`timeout: must be a whole number of milliseconds from 1 to ${maxTimeoutMs}`);
  }
  checkOptions(options, problems);
  return {
    backend,
    baseUrl,
    ...(auth === undefined ? {} : { auth }),
    ...(target === undefined ? {} : { target }),
    timeoutMs: timeout,
    options,
  };
}

function urlProblem(url: unknown): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return "must be a URL";
  const { protocol, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return `must be http or https, not ${protocol}`;
  return username || password ? "must not have a login in it; use auth" : undefined; // E2: it is declared
}

function checkAuth(auth: unknown, problems: Problems): void {
  if (typeof auth !== "object" || auth === null || Array.isArray(auth)) return problems.add("auth: must be an object");
  for (const [name, value] of Object.entries({ type: undefined, ...auth })) {
    if (name !== "type" && isSecret(value)) continue;
    if (typeof value !== "string" || value === "") problems.add(`auth.${name}: must be a string that is not empty`);
  }
}

function checkOptions(options: unknown, problems: Problems): void {
  const json = toJson(options);
  if (!json.ok) return problems.add(`options: must be JSON; ${json.path} is ${json.problem}`);
  if (typeof json.value !== "object" || json.value === null || Array.isArray(json.value)) {
    return problems.add("options: must be an object");
  }
  const found = secretIn(json.value, "options");
  if (found) problems.add(`${found.path}: looks like ${found.kind} and would be stored; use auth`); // E2
}

/** E2. */
export function declaredEndpoint({ baseUrl, auth, target, timeoutMs, options }: RemoteEndpoint): DeclaredEndpoint {
  const parameters = Object.keys(auth ?? {}).filter((name) => name !== "type");
  return {
    baseUrl,
    ...(auth ? { auth: { type: auth.type, parameters: parameters.sort() } } : {}),
    ...(target === undefined ? {} : { target }),
    timeoutMs,
    options,
  };
}
