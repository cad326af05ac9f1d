/** What one server may cost this process. A server is another's program: each of these is reached by some of them. */
import { Problems } from "../../domain/problems.ts";

export interface McpLimits {
  /** How long one call may take, unless `tools` says otherwise. */
  readonly timeoutMs: number;
  /** How long reaching the server may take, with the list of its tools. */
  readonly connectMs: number;
  /** How long a call waits for a connection or for its turn before it is given up, unsent. */
  readonly waitMs: number;
  /** Calls that are with the server at once, of all runs of this process. */
  readonly concurrency: number;
  /** JSON of one result; what is larger is left out, and the result says so. */
  readonly resultBytes: number;
  /** One message of the server. A larger one ends the connection. */
  readonly messageBytes: number;
  /** Messages of the server per second, on the average. More of them end the connection. */
  readonly messagesPerSecond: number;
  /** Tools that the server may have. */
  readonly tools: number;
  /** A list of tools that is older than this is read again before a call. */
  readonly recheckMs: number;
  /** The pause after the first lost connection; it doubles up to `reconnectMaxMs`. */
  readonly reconnectMs: number;
  readonly reconnectMaxMs: number;
  /** How long a program may take to end by itself when it is closed. */
  readonly closeMs: number;
}

interface Limit {
  readonly is: number;
  readonly least: number;
  readonly most: number;
}

const hour = 60 * 60_000;

const table: Readonly<Record<keyof McpLimits, Limit>> = {
  timeoutMs: { is: 60_000, least: 1, most: 24 * hour },
  connectMs: { is: 30_000, least: 1, most: hour },
  waitMs: { is: 10_000, least: 0, most: hour },
  concurrency: { is: 16, least: 1, most: 1_000 },
  resultBytes: { is: 256 * 1024, least: 1_024, most: 512 * 1024 },
  messageBytes: { is: 8 * 1024 * 1024, least: 1_024, most: 256 * 1024 * 1024 },
  messagesPerSecond: { is: 200, least: 1, most: 100_000 },
  tools: { is: 200, least: 1, most: 10_000 },
  recheckMs: { is: 30_000, least: 0, most: 24 * hour },
  reconnectMs: { is: 500, least: 1, most: hour },
  reconnectMaxMs: { is: 30_000, least: 1, most: hour },
  closeMs: { is: 2_000, least: 0, most: 60_000 },
};

export function readLimits(given: Partial<McpLimits> | undefined, problems: Problems): McpLimits {
  const inner = new Problems(given ?? {}, Object.keys(table));
  for (const [name, { least, most }] of Object.entries(table)) inner.integer(name, least, most);
  problems.include("limits", inner);
  const limits = Object.entries(table).map(([name, { is }]) => [name, given?.[name as keyof McpLimits] ?? is]);
  return Object.fromEntries(limits) as McpLimits;
}
