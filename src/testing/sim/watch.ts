/** The simulator's own picture of every run, built entry by entry beside the store's. */
import { apply, birth } from "../../domain/apply.ts";
import type { EffectIntended, EffectSettled, Entry, EntryStamp, TicketDecided } from "../../domain/entry.ts";
import type { CallId, EffectId, InputId, RunId, TicketId } from "../../domain/ids.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { RunState } from "../../domain/run-state.ts";
import type { TicketRecord } from "../../domain/ticket.ts";
import type { RunKey, RunRow } from "../../ports/store.ts";

export interface WatchedTicket {
  readonly ticket: TicketRecord;
  decided?: EntryStamp & TicketDecided;
}

export interface WatchedCall {
  readonly tool: string;
  /** As the model wrote it; undefined when that was not JSON. */
  readonly input: JsonValue | undefined;
  results: number;
}

export interface WatchedRun {
  readonly key: RunKey;
  row: RunRow;
  readonly entries: Entry[];
  state: RunState;
  cancelSeq?: number;
  readonly intents: (EntryStamp & EffectIntended)[];
  readonly open: Map<EffectId, EntryStamp & EffectIntended>;
  readonly tickets: Map<TicketId, WatchedTicket>;
  readonly calls: Map<CallId, WatchedCall>;
  /** Keys of `once` calls that the journal says did nothing. */
  readonly refusedKeys: Set<string>;
  readonly postKeys: Set<string>;
  readonly takenInputs: Map<InputId, number>;
  /** Results that a fenced worker brought. */
  readonly late: EffectSettled[];
}

/** Shared by everything that checks. */
export interface Watch {
  readonly runs: Map<RunId, WatchedRun>;
  /** The run that was started with this agent, and the successors it may have. */
  byAgent(agent: string): readonly WatchedRun[];
  landed(key: string): boolean;
}

export function createWatch(landed: Watch["landed"]): Watch {
  const runs = new Map<RunId, WatchedRun>();
  return {
    runs,
    byAgent: (agent) => [...runs.values()].filter((run) => run.row.agent === agent),
    landed,
  };
}

export function watchRun(row: RunRow, created: Entry): WatchedRun {
  if (created.type !== "run-created") throw new TypeError(`A journal begins with ${created.type}`);
  return {
    key: { scope: row.scope, run: row.run },
    row,
    entries: [created],
    state: birth(created),
    intents: [],
    open: new Map(),
    tickets: new Map(),
    calls: new Map(),
    refusedKeys: new Set(),
    postKeys: new Set(),
    takenInputs: new Map(),
    late: [],
  };
}

export function foldInto(run: WatchedRun, entry: Entry): void {
  run.state = apply(run.state, entry);
}

/** Of a run that has ended and left inputs to another. */
export function successorOf(run: WatchedRun, watch: Watch): WatchedRun | undefined {
  const last = run.entries.at(-1);
  if (last?.type !== "run-ended" || last.successor === undefined) return undefined;
  return watch.runs.get(last.successor);
}

/** Somebody asked for it: it is no successor. */
export function isStarted({ state }: WatchedRun): boolean {
  return state.created.identity.origin === "user";
}

/** Answers that let a call run, newest last. */
export function answersOf(run: WatchedRun, call: CallId): readonly WatchedTicket[] {
  return [...run.tickets.values()].filter(
    ({ ticket }) => ticket.call?.id === call && (ticket.kind === "approval" || ticket.kind === "input"),
  );
}
