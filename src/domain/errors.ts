/** The error catalogue: one class, one table. `retry` is read in engine/retry.ts, and in model-error.ts for pools. */
import { carries } from "./json.ts";

export type RetryClass = "never" | "later" | "reload";

interface CatalogueRow {
  readonly retry: RetryClass;
  readonly status: number;
  /** What the reader can do about it; goes into the reference page. */
  readonly next: string;
}

export const errorCatalogue = {
  "invalid-agent": { retry: "never", status: 400, next: "Correct every problem listed in `problems`." },
  "invalid-manifest": { retry: "never", status: 400, next: "Correct every problem listed in `problems`." },
  "invalid-tool": { retry: "never", status: 400, next: "Correct every problem listed in `problems`." },
  "invalid-plugin": { retry: "never", status: 400, next: "Correct every problem listed in `problems`." },
  "invalid-policy": { retry: "never", status: 400, next: "Correct every problem listed in `problems`." },
  "invalid-state-key": { retry: "never", status: 400, next: "Correct every problem listed in `problems`." },
  "invalid-state": {
    retry: "never",
    status: 500,
    next: "Write a value that fits the key's schema and limits; for stored values raise `version` and give `migrate`.",
  },
  "command-refused": {
    retry: "never",
    status: 500,
    next: "Mend the plugin: the message names it, its phase and the command; the phase table says what is allowed where.",
  },
  "plugin-failed": {
    retry: "never",
    status: 500,
    next: "Mend the plugin that is named: its hook threw, hung or could not be created.",
  },
  "invalid-options": { retry: "never", status: 400, next: "Correct every problem listed in `problems`." },
  "invalid-id": { retry: "never", status: 400, next: "Use 1 to 512 bytes without control characters." },
  "invalid-input": { retry: "never", status: 400, next: "Send a string, a list of parts or a list of messages." },
  "invalid-decision": { retry: "never", status: 400, next: "Use a verb that the ticket's kind allows." },
  "invalid-edit": {
    retry: "never",
    status: 400,
    next: "Send an input that fits the tool's schema; the ticket is still open.",
  },
  "unknown-agent": {
    retry: "never",
    status: 404,
    next: "Pass the agent to createRuntime({ agents }), or let its resolver have it.",
  },
  "resolver-failed": {
    retry: "later",
    status: 503,
    next: "See the cause: the resolver threw or did not answer. Nothing was written; start again with the same key.",
  },
  "run-not-found": { retry: "never", status: 404, next: "Check the run id and the scope." },
  "run-ended": { retry: "never", status: 409, next: "Nothing follows the end of a run; start a new one." },
  "run-not-completed": { retry: "never", status: 409, next: "Use result() to read every outcome as a value." },
  "run-exists": { retry: "never", status: 409, next: "Leave the run id out, or use `key` to start idempotently." },
  "illegal-transition": {
    retry: "never",
    status: 409,
    next: "This is a defect in Holdfast; please report the journal.",
  },
  "start-key-conflict": {
    retry: "never",
    status: 409,
    next: "Use another key, or send the request that the key was first used with.",
  },
  "ticket-not-found": {
    retry: "never",
    status: 404,
    next: "List the open tickets; the id may belong to another scope.",
  },
  "ticket-hash-mismatch": {
    retry: "never",
    status: 409,
    next: "Read the ticket again: the answer was for something else than it shows now.",
  },
  "ticket-expired": { retry: "never", status: 410, next: "The time to answer is over; read how the run ended." },
  "ticket-not-decidable": {
    retry: "later",
    status: 425,
    next: "A lost attempt may still be running; answer after `decidableFrom`.",
  },
  "answer-not-allowed": {
    retry: "never",
    status: 403,
    next: "Let somebody of the ticket's audience answer; the agent that asks never may.",
  },
  "thread-not-found": { retry: "never", status: 404, next: "Check the thread id and the scope." },
  "thread-exists": { retry: "never", status: 409, next: "Use another id, or get the thread that is there." },
  "thread-busy": {
    retry: "never",
    status: 409,
    next: "Answer its tickets, wait for its run, or choose another `whenBusy`.",
  },
  "thread-has-children": { retry: "never", status: 409, next: 'Delete with children: "detach" or "cascade".' },
  "inbox-full": { retry: "later", status: 429, next: "Wait until the run has taken its inputs." },
  "input-not-found": { retry: "never", status: 404, next: "Check the input id." },
  "input-taken": { retry: "never", status: 409, next: "The run has already read this input; send another one." },
  "content-not-found": {
    retry: "never",
    status: 404,
    next: "Check the hash and the scope, and that this process has the same `content` option as the one that put it.",
  },
  "content-hash-mismatch": {
    retry: "never",
    status: 400,
    next: "Put: give the lower-case hex SHA-256 of exactly these bytes. Get: restore the file or row from a backup.",
  },
  "content-unavailable": {
    retry: "later",
    status: 503,
    next: "Check the folder and its rights; what waits for it goes on by itself.",
  },
  "invalid-content": { retry: "never", status: 400, next: "Correct every problem listed in `problems`." },
  "invalid-cursor": { retry: "never", status: 400, next: "Use a cursor that the same watch or list has given." },
  "journal-regressed": {
    retry: "never",
    status: 500,
    next: "The store is older than the worker: check for a restored backup before going on.",
  },
  "apply-failed": {
    retry: "never",
    status: 500,
    next: "The transaction was undone, so nothing happened; see the cause and mend the tool's `apply`.",
  },
  "not-transactional": {
    retry: "never",
    status: 400,
    next: "Use the store that the tool was made for, or give the tool another effect class.",
  },
  "commit-unknown": { retry: "reload", status: 503, next: "The outcome is read again; nothing to do." },
  "store-full": { retry: "later", status: 507, next: "Free disk space; runs go on by themselves." },
  "store-busy": { retry: "later", status: 503, next: "Another process holds the store; the call is repeated." },
  "store-unavailable": { retry: "later", status: 503, next: "Check the store; runs go on by themselves." },
  "store-newer": { retry: "never", status: 500, next: "Open this store with a newer Holdfast; nothing was written." },
  "store-unusable": {
    retry: "never",
    status: 500,
    next: "See the message: the database, its migrations or its version do not fit.",
  },
  "store-closed": { retry: "never", status: 500, next: "The runtime was closed; create a new one." },
  "entry-unreadable": {
    retry: "never",
    status: 500,
    next: "The stored entry is newer or damaged; open it with the version that wrote it.",
  },
  "model-failed": { retry: "later", status: 502, next: "The provider failed; see the cause." },
  "model-overloaded": { retry: "later", status: 503, next: "The provider refused for now; the call is repeated." },
  "model-rate-limited": {
    retry: "later",
    status: 429,
    next: "The provider limits the rate; the call is repeated later.",
  },
  "model-timeout": { retry: "later", status: 504, next: "The provider did not answer in time; the call is repeated." },
  "model-refused": {
    retry: "never",
    status: 502,
    next: "The provider refuses this request; change the request or the key.",
  },
  "model-unauthorized": {
    retry: "never",
    status: 502,
    next: "The provider does not take the key; give it one that is valid and may use the model.",
  },
  "model-not-found": {
    retry: "never",
    status: 502,
    next: "The provider has no such model, or nothing answers at that address; correct the name or the base URL.",
  },
  "model-context-overflow": {
    retry: "never",
    status: 502,
    next: "The request is longer than the model reads; send less, or use a model with a larger window.",
  },
  "model-content-filtered": {
    retry: "never",
    status: 502,
    next: "The provider's filter refuses this request; change what is sent.",
  },
  "model-unreachable": {
    retry: "later",
    status: 502,
    next: "The provider could not be reached; see that it runs and that its address is right. The call is repeated.",
  },
  "model-interrupted": {
    retry: "later",
    status: 502,
    next: "The answer broke off before it was whole; the next attempt goes on from what had come.",
  },
  "model-truncated": {
    retry: "later",
    status: 502,
    next: "The answer reached the model's output limit; the next attempt goes on from there.",
  },
  "model-malformed": {
    retry: "later",
    status: 502,
    next: "The provider's answer broke its own protocol; the call is repeated.",
  },
  "model-unresolved": {
    retry: "never",
    status: 500,
    next: "Give `providers` one of the name that the route begins with, which has the model, or correct the route.",
  },
  "model-empty": {
    retry: "later",
    status: 502,
    next: "The model answered with neither text nor a call; the call is repeated. See what it was asked.",
  },
  "output-invalid": {
    retry: "never",
    status: 502,
    next: "The model's answer did not fit the agent's `output` schema; see the report, raise `repairs` or simplify the schema.",
  },
  "mcp-unreachable": {
    retry: "later",
    status: 502,
    next: "Check the command or the address of the MCP server; see the message.",
  },
  "mcp-tools-refused": {
    retry: "never",
    status: 502,
    next: "Mend the MCP server, or take only the tools that can be used with `only`; see `problems`.",
  },
  "mcp-tools-changed": {
    retry: "never",
    status: 409,
    next: "Look at what has changed in the MCP server's tools, then write its pins down again.",
  },
  "invalid-backend": {
    retry: "never",
    status: 400,
    next: "Correct what the message names: in the endpoint, or in what was asked of the backend.",
  },
  "backend-agent-not-found": {
    retry: "never",
    status: 502,
    next: "The other side has no such agent; correct the endpoint's `target` or its address.",
  },
  "backend-execution-failed": {
    retry: "never",
    status: 502,
    next: "See the message: the backend cannot do what was asked, or it failed while doing it. Nothing of it goes on.",
  },
  "backend-remote-error": {
    retry: "never",
    status: 502,
    next: "See the message: the other side refused or failed. Nothing of it goes on; start again when it is well.",
  },
  "remote-unknown": {
    retry: "never",
    status: 502,
    next: "Nobody can say whether the other side took the message. Look there, then decide the ticket that the run waits on.",
  },
  "fetch-refused": {
    retry: "never",
    status: 403,
    next: "See the message: the address, a redirect or the answer is not allowed by the rules for fetching; change the rules only for hosts that you trust.",
  },
  "fetch-unreachable": {
    retry: "later",
    status: 502,
    next: "See the cause, and that the other side runs and its address is right. `details.sent` says whether the request may have reached it.",
  },
  "fetch-timeout": {
    retry: "later",
    status: 504,
    next: "The other side did not answer in time, or its stream fell silent; look there, or raise the limit.",
  },
  "fetch-too-large": {
    retry: "never",
    status: 502,
    next: "The answer is larger than the limit that the message names; ask for less, or raise the limit.",
  },
  "instructions-failed": {
    retry: "never",
    status: 500,
    next: "Mend the agent's instructions function; see the cause.",
  },
  "script-exhausted": { retry: "never", status: 500, next: "Give the scripted model one answer per model call." },
  "cassette-diverged": {
    retry: "never",
    status: 500,
    next: "Undo what changed the request, or record again; the message names the first field that differs, with both values.",
  },
  "cassette-unusable": {
    retry: "never",
    status: 500,
    next: "See the message: the recording is missing, cut, of another format or cannot be written; record again.",
  },
  "schema-unconvertible": {
    retry: "never",
    status: 400,
    next: "Use a schema library that offers JSON Schema through Standard Schema.",
  },
  "wait-aborted": { retry: "never", status: 499, next: "The caller's own signal ended the wait; the run goes on." },
  "runtime-closed": { retry: "never", status: 503, next: "Create a new runtime; runs in the store are untouched." },
  "node-too-old": { retry: "never", status: 500, next: "Use Node 22.18 or newer." },
} as const satisfies Record<string, CatalogueRow>;

export type ErrorCode = keyof typeof errorCatalogue;

export interface ErrorOptions {
  readonly cause?: unknown;
  readonly problems?: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What journals, events and responses may carry of an error. */
export interface ErrorRecord {
  readonly code: string;
  readonly message: string;
}

const marker = Symbol.for("holdfast.error");

export class HoldfastError extends Error {
  readonly code: ErrorCode;
  readonly retry: RetryClass;
  readonly status: number;
  readonly problems: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
  readonly [marker] = true;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    const problems = options.problems ?? [];
    super(problems.length > 0 ? `${message}: ${problems.join("; ")}` : message, { cause: options.cause });
    this.name = "HoldfastError";
    this.code = code;
    this.retry = errorCatalogue[code].retry;
    this.status = errorCatalogue[code].status;
    this.problems = problems;
    this.details = options.details ?? {};
  }
}

/** Recognises errors across duplicate installs; never by message text. */
export function isHoldfastError(value: unknown, code?: ErrorCode): value is HoldfastError {
  if (!carries(value, marker)) return false;
  return code === undefined || (value as HoldfastError).code === code;
}

/** Thrown by a tool to say: I failed, and **nothing happened** outside. Any other throw leaves that open. */
export class ToolFailure extends Error {
  readonly "~toolFailure" = true;

  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "ToolFailure";
  }
}

export function isToolFailure(value: unknown): value is ToolFailure {
  return carries(value, "~toolFailure");
}

/** Thrown by a sink to say: I will never take this message. Any other throw means: later. */
export class SinkRefusal extends Error {
  readonly "~sinkRefusal" = true;

  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "SinkRefusal";
  }
}

export function isSinkRefusal(value: unknown): value is SinkRefusal {
  return carries(value, "~sinkRefusal");
}
