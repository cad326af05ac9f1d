/**
 * Which rows a commit changes besides the journal: one pure answer for every store, so that projections
 * cannot differ between them. An ordinary commit changes none.
 */
import { contentIn } from "./cites.ts";
import type { ContextProjected, EntryBody, Settled, TicketDecided } from "./entry.ts";
import { HoldfastError } from "./errors.ts";
import { asJson, markKey, markVersion } from "./history.ts";
import type { InputId } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import type { RunStatus } from "./run.ts";
import type { StateChanged } from "./state-slots.ts";
import type { TicketRecord } from "./ticket.ts";

/** The value of one state key as a thread keeps it. */
export interface StateSlot {
  readonly key: string;
  readonly version: number;
  readonly value: JsonValue;
}

export interface RowChanges {
  readonly status?: RunStatus;
  readonly startPosition?: number;
  readonly opened: readonly TicketRecord[];
  readonly decided: readonly { readonly decided: TicketDecided; readonly index: number }[];
  readonly takenInputs: readonly InputId[];
  readonly messages: number;
  /** State of the thread, the last value of each key. What a run keeps for itself is in its fold and has no row. */
  readonly slots: readonly StateSlot[];
  /** Hashes of content that the entries refer to; each must be there. */
  readonly cites: readonly string[];
  /** This claim got somewhere: the crash count returns to 0. */
  readonly progressed: boolean;
}

const statusOf = {
  "run-started": "running",
  "run-resumed": "running",
  "run-waiting": "waiting",
  "run-ended": "done",
} as const satisfies Partial<Record<EntryBody["type"], RunStatus>>;

export function rowChanges(entries: readonly EntryBody[]): RowChanges {
  const opened: TicketRecord[] = [];
  const decided: { decided: TicketDecided; index: number }[] = [];
  const takenInputs: InputId[] = [];
  let status: RunStatus | undefined;
  let startPosition: number | undefined;
  let messages = 0;
  let progressed = false;
  for (const [index, entry] of entries.entries()) {
    if (entry.type in statusOf) status = statusOf[entry.type as keyof typeof statusOf];
    if (entry.type === "run-started") startPosition = entry.position;
    if (entry.type === "ticket-opened") opened.push(entry.ticket);
    if (entry.type === "ticket-decided") decided.push({ decided: entry, index });
    if (entry.type === "message-appended") {
      messages += 1;
      if (entry.body.kind === "input") takenInputs.push(entry.body.input);
    }
    progressed ||= isProgress(entry);
  }
  return {
    ...(status === undefined ? {} : { status }),
    ...(startPosition === undefined ? {} : { startPosition }),
    opened,
    decided,
    takenInputs,
    messages,
    slots: slotsIn(entries),
    cites: contentIn(entries),
    progressed,
  };
}

function slotsIn(entries: readonly EntryBody[]): readonly StateSlot[] {
  const slots = new Map<string, StateSlot>();
  for (const entry of entries) {
    if (entry.type === "state-changed" && entry.scope === "thread") slots.set(entry.key, slotIn(entry));
    if (entry.type === "context-projected" && !entry.own) slots.set(markKey, markSlot(entry));
  }
  return [...slots.values()];
}

/** The thread keeps its newest mark: the next run begins where this one's calls do. */
function markSlot({ mark }: ContextProjected): StateSlot {
  return { key: markKey, version: markVersion, value: asJson(mark) };
}

/** A store cannot merge: it would have to know what the thread holds, and every store would have to know it alike. */
function slotIn({ key, version, change }: StateChanged): StateSlot {
  if ("value" in change) return { key, version, value: change.value };
  throw new HoldfastError("illegal-transition", `A change of the thread's state key ${key} must carry its value`);
}

/** Closing a lost attempt only to intend it again is not progress: a run that kills its process does that for ever. */
function isProgress(entry: EntryBody): boolean {
  if (entry.type === "run-waiting" || entry.type === "run-ended") return true;
  return entry.type === "effect-settled" && !reIntended.includes(entry.result.kind);
}

const reIntended: readonly Settled["kind"][] = ["lost", "not-made"];
