/** Turns a drawn command into a call, from what the reference store holds at that moment. */
import type { Entry, EntryBody, OutsideFact } from "../../domain/entry.ts";
import type { InputId, RunId, Scope, TicketId } from "../../domain/ids.ts";
import type { Commit, Post, RunKey, RunRow, Store, TicketRow } from "../../ports/store.ts";
import type { Command, PostKind, Target } from "./store-commands.ts";
import {
  birthOf,
  decided,
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
} from "./store-fixtures.ts";

export type Call = (store: Store) => Promise<unknown>;

export interface World {
  readonly reference: Store;
  /** Names the scopes of one command list, so that lists can share a store. */
  readonly label: string;
  readonly now: number;
  /** Where a claimed run begins, by run. */
  readonly positions: ReadonlyMap<string, number>;
}

export const agentNames = ["ann", "bob"] as const;
export const runNames = ["r0", "r1", "r2", "r3", "r4"] as const;
export const threadNames = ["t0", "t1"] as const;

export function scopeName(label: string, scope: number): Scope {
  return `${label}-${scope === 0 ? "a" : "b"}` as Scope;
}

export async function callOf(command: Exclude<Command, { do: "advance" }>, world: World): Promise<Call> {
  const scope = scopeName(world.label, command.scope);
  if (command.do === "claim") {
    const agents = command.agents.map((agent) => agentNames[agent] ?? "");
    const request = {
      scope,
      agents,
      limit: command.limit,
      leaseMs: 100,
      claimId: `c${command.id}`,
      again: command.again,
    };
    return (store) => store.claim(request);
  }
  const seen = await look(world, scope, command);
  switch (command.do) {
    case "create":
      return (store) => store.create(birthIn(scope, command));
    case "commit": {
      const commit = commitOf(command, seen, world);
      return (store) => store.commit(commit);
    }
    case "release": {
      const release = { ...fenceOf(command, seen), ...wakeOf(command, world) };
      return (store) => store.release(release);
    }
    case "renew":
      return (store) => store.renew({ ...seen.key, epoch: epochOf(command, seen), leaseMs: 100 });
    case "post": {
      const post = postOf(command, seen);
      return (store) => store.post(post);
    }
    case "snapshot":
      return (store) =>
        store.saveSnapshot(seen.key, { seq: command.seq, foldVersion: 1, state: `state ${command.seq}` });
    case "evidence":
      return (store) => store.addEvidence({ ...seen.key, kind: "late-result", body: { pick: command.pick } });
    default:
      return command satisfies never;
  }
}

interface Seen {
  readonly key: RunKey;
  readonly row: RunRow | undefined;
  readonly entries: readonly Entry[];
  readonly tickets: readonly TicketRow[];
}

async function look(world: World, scope: Scope, command: Exclude<Command, { do: "advance" | "claim" }>): Promise<Seen> {
  const { reference } = world;
  const key = { scope, run: await runFor(world, scope, command) };
  return {
    key,
    row: await reference.run(key),
    entries: await reference.readRun({ ...key, after: 0, limit: 1_000 }),
    tickets: await reference.tickets({ scope, run: key.run, limit: 1_000 }),
  };
}

/** Most commands go to a run that exists, answers to one that has a ticket; the last name is taken as it is. */
async function runFor(
  { reference }: World,
  scope: Scope,
  command: Target & { do: string; kind?: string; pick?: number },
): Promise<RunId> {
  const named = (runNames[command.run] ?? "none") as RunId;
  if (named === runNames.at(-1)) return named;
  if (command.kind === "decide" || command.kind === "cancel-run") {
    const tickets = await reference.tickets({ scope, limit: 1_000 });
    return tickets[(command.pick ?? 0) % Math.max(1, tickets.length)]?.ticket.run ?? named;
  }
  const rows = await Promise.all(runNames.map((run) => reference.run({ scope, run: run as RunId })));
  const existing = rows.flatMap((row) => (row ? [row.run] : []));
  return existing[command.run % Math.max(1, existing.length)] ?? named;
}

function birthIn(scope: Scope, command: Extract<Command, { do: "create" }>): ReturnType<typeof birthOf> {
  return birthOf(runNames[command.run] ?? "none", {
    scope,
    thread: threadNames[command.thread] ?? "none",
    agent: agentNames[command.agent] ?? "none",
    key: `k${command.key}`,
    requestHash: `h${command.hash}`,
  });
}

function epochOf(command: { readonly epoch: number }, { row }: Seen): number {
  return (row?.epoch ?? 0) + command.epoch;
}

function fenceOf(
  command: { readonly epoch: number; readonly seq: number },
  seen: Seen,
): RunKey & { readonly epoch: number; readonly expectedSeq: number } {
  const expectedSeq = Math.max(0, (seen.row?.head ?? 0) + command.seq);
  return { ...seen.key, epoch: epochOf(command, seen), expectedSeq };
}

function wakeOf(command: { readonly wake?: number }, world: World): { readonly wake?: number } {
  return command.wake === undefined ? {} : { wake: world.now + command.wake };
}

function commitOf(command: Extract<Command, { do: "commit" }>, seen: Seen, world: World): Commit {
  const appended = seen.entries.filter((entry) => entry.type === "message-appended").length;
  return {
    ...fenceOf(command, seen),
    entries: entriesOf(command, seen, world),
    position: (seen.row?.startPosition ?? 0) + appended,
    ...wakeOf(command, world),
  };
}

function entriesOf(command: Extract<Command, { do: "commit" }>, seen: Seen, world: World): readonly EntryBody[] {
  const { run } = seen.key;
  const fresh = said(`m${seen.row?.head ?? 0}`);
  const ticket = opened(drawnTicket(command.pick, seen, world));
  switch (command.shape) {
    case "start":
      return [started(world.positions.get(run) ?? 0), stepped(1), saidAtBirth(command.pick % 2)];
    case "step":
      return [stepped(command.pick), fresh];
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

function postOf(command: Extract<Command, { do: "post" }>, seen: Seen): Post {
  const key = `post-${command.key}`;
  const fact = factOf(command.kind, { seen, key, pick: command.pick });
  const shown = fact.type === "ticket-decided" ? seen.tickets.find((row) => row.ticket.id === fact.ticket) : undefined;
  const hash = command.hash === "shown" ? (shown?.ticket.hash ?? "none") : "other";
  return { ...seen.key, key, fact, ...(fact.type === "ticket-decided" ? { hash } : {}) };
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
