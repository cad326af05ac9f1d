/**
 * Commits and posts of a drawn command. Places in the thread are kept true (M1 of the stores, H1): a store may rely on
 * them, so that what is drawn is what a worker could have written.
 */
import type { Entry, EntryBody, OutsideFact } from "../../domain/entry.ts";
import type { InputId, TicketId } from "../../domain/ids.ts";
import type { Delivery } from "../../ports/outbox-store.ts";
import type { Commit, Post, RunKey, RunRow, Store, TicketRow } from "../../ports/store.ts";
import type { Command, PostKind } from "./store-commands.ts";
import {
  birthOf,
  changed,
  citing,
  contentOf,
  decided,
  deliveryTo,
  ended,
  opened,
  resumed,
  said,
  saidAtBirth,
  saidByInput,
  settled,
  started,
  stepped,
  text,
  ticketOf,
  waiting,
  whispered,
} from "./store-fixtures.ts";

export interface World {
  readonly reference: Store;
  /** Names the scopes of one command list, so that lists can share a store. */
  readonly label: string;
  readonly now: number;
  /** Where a claimed run begins, by claim. */
  readonly positions: ReadonlyMap<string, number>;
}

export interface Seen {
  readonly key: RunKey;
  readonly row: RunRow | undefined;
  readonly entries: readonly Entry[];
  readonly tickets: readonly TicketRow[];
}

export function epochOf(command: { readonly epoch: number }, { row }: Seen): number {
  return (row?.epoch ?? 0) + command.epoch;
}

export function fenceOf(
  command: { readonly epoch: number; readonly seq: number },
  seen: Seen,
): RunKey & { readonly epoch: number; readonly expectedSeq: number } {
  const expectedSeq = Math.max(0, (seen.row?.head ?? 0) + command.seq);
  return { ...seen.key, epoch: epochOf(command, seen), expectedSeq };
}

export function wakeOf(command: { readonly wake?: number }, world: World): { readonly wake?: number } {
  return command.wake === undefined ? {} : { wake: world.now + command.wake };
}

export function commitOf(command: Extract<Command, { do: "commit" }>, seen: Seen, world: World): Commit {
  const appended = seen.entries.filter((entry) => entry.type === "message-appended").length;
  const start = startOf(command, seen, world);
  const drawn = entriesOf(command, seen, world).filter(
    (entry) => start !== undefined || entry.type !== "message-appended",
  );
  const entries = command.shape === "empty" ? drawn : withCauses(drawn, command, seen);
  return {
    ...fenceOf(command, seen),
    entries: entries.length === 0 && command.shape !== "empty" ? [stepped(command.pick)] : entries,
    position: (start ?? 0) + appended,
    ...wakeOf(command, world),
    ...successorIn(command, seen),
    ...deliveriesIn(command, seen, world),
  };
}

/** Before the entry that ends the run or lets it wait: nothing follows that. */
function withCauses(
  entries: readonly EntryBody[],
  { state = [], cites = [] }: Extract<Command, { do: "commit" }>,
  { row }: Seen,
): readonly EntryBody[] {
  const changes = state.map((key, n) => {
    const scope = key === 3 ? "run" : "thread";
    return changed(`key-${key}`, { head: row?.head ?? 0, n }, { scope, version: 1 + n });
  });
  const isLast = entries.at(-1)?.type === "run-ended" || entries.at(-1)?.type === "run-waiting";
  const cited = cites.map((n) => citing(contentOf(`c${n}`)));
  return entries.toSpliced(isLast ? -1 : entries.length, 0, ...changes, ...cited);
}

/** To runs that may not exist, to a sink, at once and later. */
function deliveriesIn(
  command: Extract<Command, { do: "commit" }>,
  seen: Seen,
  { now }: World,
): Pick<Commit, "deliveries"> {
  if (command.deliveries === undefined) return {};
  const deliveries = Array.from({ length: command.deliveries }, (_, n): Delivery => {
    const due = (command.pick + n) % 3 === 0 ? { due: now + 50 * n } : {};
    if ((command.pick + n) % 4 === 3) return { to: "sink", sink: "s", body: { n }, ...due };
    return deliveryTo(`r${(command.pick + n) % 6}`, `d${seen.row?.head ?? 0}-${n}`, due);
  });
  return { deliveries };
}

/** Its id or its key may be taken; a queued run may not have one at all. */
function successorIn(command: Extract<Command, { do: "commit" }>, { key, row }: Seen): Pick<Commit, "successor"> {
  if (command.shape !== "end-and-next") return {};
  const thread = row?.thread ?? "none";
  const birth = birthOf(`r${command.pick}`, {
    scope: key.scope,
    thread,
    key: `k${command.pick + 2}`,
    requestHash: "h0",
  });
  return { successor: birth };
}

/** Where the run's messages begin: a run that has not started, or waits for its turn, appends none (H1). */
function startOf(command: Extract<Command, { do: "commit" }>, { row, key }: Seen, world: World): number | undefined {
  if (!row || row.startPosition !== undefined) return row?.startPosition;
  const isStarting = command.shape === "start" && !row.queued;
  return isStarting ? world.positions.get(claimName(key, row.epoch)) : undefined;
}

export function claimName({ scope, run }: RunKey, epoch: number): string {
  return `${scope} ${run} ${epoch}`;
}

function entriesOf(command: Extract<Command, { do: "commit" }>, seen: Seen, world: World): readonly EntryBody[] {
  const fresh = said(`m${seen.row?.head ?? 0}`);
  const ticket = opened(drawnTicket(command.pick, seen, world));
  switch (command.shape) {
    case "start": {
      const start = startOf(command, seen, world);
      return start === undefined ? [] : [started(start), stepped(1), saidAtBirth(command.pick % 2)];
    }
    case "step":
      return [stepped(command.pick), command.pick === 0 ? whispered(`w${seen.row?.head ?? 0}`) : fresh];
    case "done":
      return [settled("done"), fresh, fresh];
    case "lost":
      return [settled(command.pick % 2 === 0 ? "lost" : "not-made")];
    case "open":
      return [ticket];
    case "wait-on-ticket":
      return [ticket, waiting];
    case "wait":
      return [waiting];
    case "resume":
      return [resumed, stepped(command.pick)];
    case "close-ticket":
      return [decided(pickTicket(seen, command.pick), "engine", { kind: "closed", why: "cancelled" })];
    case "take":
      return [inputFrom(seen, command.pick) ?? fresh];
    case "end":
    case "end-and-next":
      return [ended];
    case "said-and-end":
      return [fresh, ended];
    case "empty":
      return [];
    default:
      return command.shape satisfies never;
  }
}

function drawnTicket(pick: number, { key, tickets }: Seen, { now }: World): ReturnType<typeof ticketOf> {
  const generation = pick === 5 ? 1 : tickets.length + 1;
  const limits = [{}, { decidableFrom: now + 40 }, { expiresAt: now + 120 }, {}];
  return ticketOf(key.run, generation, { openedAt: now, ...limits[pick % limits.length] });
}

function pickTicket({ key, tickets }: Seen, pick: number): TicketId {
  return tickets[pick]?.ticket.id ?? tickets.at(-1)?.ticket.id ?? (`${key.run}.approval.none` as TicketId);
}

function inputFrom({ entries }: Seen, pick: number): EntryBody | undefined {
  const inputs = entries.filter((entry) => entry.type === "input-received");
  const input = inputs[pick % Math.max(1, inputs.length)];
  return input && saidByInput(input.input, input.seq);
}

export function postOf(command: Extract<Command, { do: "post" }>, seen: Seen): Post {
  const key = `post-${command.key}`;
  const fact = factOf(command.kind, { seen, key, pick: command.pick });
  const shown = fact.type === "ticket-decided" ? seen.tickets.find((row) => row.ticket.id === fact.ticket) : undefined;
  const hash = command.hash === "shown" ? (shown?.ticket.hash ?? "none") : "other";
  const start = command.start === undefined ? {} : { start: { key: `k${command.start}`, requestHash: "h0" } };
  return { ...seen.key, key, fact, ...(fact.type === "ticket-decided" ? { hash } : {}), ...start };
}

interface Drawn {
  readonly seen: Seen;
  readonly key: string;
  readonly pick: number;
}

function factOf(kind: PostKind, { seen, key, pick }: Drawn): OutsideFact {
  const received = seen.entries.filter((entry) => entry.type === "input-received");
  const input = `i${pick}` as InputId;
  switch (kind) {
    case "decide":
      return decided(pickTicket(seen, pick), key);
    case "cancel-run":
      return decided(pickTicket(seen, pick), key, { kind: "cancel-run" });
    case "input":
      return { type: "input-received", input, message: text(input), by: "ana" };
    case "edit": {
      const edited = received[pick % Math.max(1, received.length)]?.input;
      if (edited === undefined) return { type: "input-received", input, message: text(input), by: "ana" };
      const next = `e${seen.row?.head ?? 0}` as InputId;
      return { type: "input-received", input: next, message: text(next), by: "ana", replaces: edited };
    }
    case "withdraw":
      return { type: "input-withdrawn", input: received[pick % 2]?.input ?? input, by: "ana" };
    case "cancel":
      return { type: "cancel-requested", by: "ana", reason: key };
    case "pause":
      return { type: "pause-requested", by: "ana" };
    default:
      return kind satisfies never;
  }
}
