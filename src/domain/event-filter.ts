/**
 * Event filters: AND between dimensions, OR inside one. Compiled once, when a watch begins; matching reads envelopes only,
 * never payloads, content or the store.
 */
import { type EventType, isEventType } from "./event.ts";
import type { RunId, ThreadId } from "./ids.ts";
import { type JsonValue, messageOf } from "./json.ts";
import { Problems } from "./problems.ts";

export interface EventFilter {
  readonly types?: readonly EventType[];
  readonly runs?: readonly string[];
  readonly threads?: readonly string[];
  readonly agents?: readonly string[];
}

/** What an event says about itself. */
export interface Envelope {
  readonly type: EventType;
  readonly run: RunId;
  readonly thread: ThreadId;
  readonly agent: string;
}

export interface CompiledFilter {
  /** Equal filters are equal here, whatever the order of their lists. */
  readonly canonical: JsonValue;
  readonly onlyThread: ThreadId | undefined;
  readonly onlyAgent: string | undefined;
  /** The runs whose live pieces it lets through; undefined stands for all. */
  readonly liveRuns: readonly (RunId | undefined)[];
  readonly matches: (envelope: Envelope) => boolean;
  /** For live pieces, whose agent is not stamped: a filter by agent or type shows none. */
  matchesRun(run: RunId, thread: ThreadId): boolean;
}

const dimensions = ["types", "runs", "threads", "agents"] as const;
const maxTerms = 1_000;

export function compileFilter(filter: EventFilter): CompiledFilter {
  const problems = new Problems(filter, dimensions);
  for (const name of dimensions) problems.optional(name, isList, `must be a list of 1 to ${maxTerms} strings`);
  const strange = Array.isArray(filter?.types) ? filter.types.filter((type) => !isEventType(type)) : [];
  if (strange.length > 0) problems.add(`types: there is no event ${messageOf(strange[0])}`);
  problems.refuse("invalid-options", "The event filter does not fit");
  const sets = Object.fromEntries(dimensions.map((name) => [name, setOf(filter[name])]));
  const { types, runs, threads, agents } = sets;
  const canonical = Object.fromEntries(dimensions.map((name) => [name, [...(sets[name] ?? [])].sort()]));
  return {
    canonical,
    onlyThread: only(threads) as ThreadId | undefined,
    onlyAgent: only(agents),
    liveRuns: types || agents ? [] : runs ? ([...runs] as RunId[]) : [undefined],
    matches: ({ type, run, thread, agent }) =>
      has(types, type) && has(runs, run) && has(threads, thread) && has(agents, agent),
    matchesRun: (run, thread) => !types && !agents && has(runs, run) && has(threads, thread),
  };
}

function isList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= maxTerms &&
    value.every((each) => typeof each === "string")
  );
}

function setOf(terms: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return terms && new Set(terms);
}

function has(set: ReadonlySet<string> | undefined, value: string): boolean {
  return set === undefined || set.has(value);
}

function only(set: ReadonlySet<string> | undefined): string | undefined {
  return set?.size === 1 ? [...set][0] : undefined;
}
