/** Turns a drawn command into a call, from what the reference store holds at that moment. */
import type { RunId, Scope, ThreadId } from "../../domain/ids.ts";
import type { DeliveryEnd } from "../../ports/outbox-store.ts";
import type { NewThread, RunKey, Store } from "../../ports/store.ts";
import type { ThreadKey } from "../../ports/thread-store.ts";
import type { Command, Target } from "./store-commands.ts";
import { commitOf, epochOf, fenceOf, postOf, type Seen, type World, wakeOf } from "./store-drawn-writes.ts";
import { birthOf, contentOf, historyOf, threadKey } from "./store-fixtures.ts";

export type Call = (store: Store) => Promise<unknown>;

export const agentNames = ["ann", "bob"] as const;
export const runNames = ["r0", "r1", "r2", "r3", "r4", "r5", "r6"] as const;
export const threadNames = ["t0", "t1", "t2", "t3"] as const;

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
  if (command.do === "take-deliveries") {
    const lane = command.sink ? { sink: "s" } : {};
    return (store) => store.takeDeliveries({ scope, ...lane, limit: command.limit, leaseMs: 100 });
  }
  if (command.do === "put-content") {
    const content = contentOf(`c${command.content}`, scope);
    return (store) => store.putContent(command.wrong ? { ...content, hash: contentOf("x").hash } : content);
  }
  if (command.do === "collect-content") {
    return (store) => store.collectContent({ scope, olderThanMs: command.ms, limit: command.limit });
  }
  if (command.do === "prune") {
    const ended = command.by === "age" ? { agoMs: command.agoMs } : { before: world.now - command.agoMs };
    return (store) => store.prune({ scope, ended, limit: command.limit });
  }
  if (command.do === "new-thread" || command.do === "change-thread" || command.do === "delete-thread") {
    return threadCall(scope, command);
  }
  const seen = await look(world, scope, command);
  switch (command.do) {
    case "create":
      return (store) => store.create(birthIn(scope, command, world));
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
    case "end-delivery": {
      const end = await endOf(command, seen.key, world);
      return (store) => store.endDelivery(end);
    }
    case "revive-deliveries":
      return (store) => store.reviveDeliveries({ ...seen.key, by: "ana" });
    case "erase":
      return (store) => store.eraseRun(seen.key);
    default:
      return command satisfies never;
  }
}

/** Of a delivery that is there, or of one that is not. */
async function endOf(
  command: Extract<Command, { do: "end-delivery" }>,
  key: RunKey,
  { reference }: World,
): Promise<DeliveryEnd> {
  const pending = await reference.deliveries(key);
  const { seq, index, attempts } = pending[command.pick % Math.max(1, pending.length)] ?? { ...nowhere };
  const ended = { ...key, seq, index, attempt: attempts + command.attempt };
  switch (command.how) {
    case "delivered":
      return { ...ended, how: "delivered" };
    case "put-off":
      return { ...ended, how: "put-off", delayMs: 40, error: `not now ${command.pick}` };
    case "dead":
      return { ...ended, how: "dead", error: "never" };
    default:
      return command.how satisfies never;
  }
}

const nowhere = { seq: 2, index: 0, attempts: 1 };

type ThreadCommand = Extract<Command, { do: "new-thread" | "change-thread" | "delete-thread" }>;

function threadCall(scope: Scope, command: ThreadCommand): Call {
  const key = threadKey(threadNames[command.thread] ?? "none", scope);
  switch (command.do) {
    case "new-thread": {
      const thread = { ...key, ...newThreadOf(key, command) };
      return (store) => store.createThread(thread);
    }
    case "change-thread": {
      const { title, tag } = command;
      const change = { ...(title === undefined ? {} : { title }), ...(tag === undefined ? {} : { metadata: { tag } }) };
      return (store) => store.changeThread({ ...key, ...change });
    }
    case "delete-thread":
      return (store) => store.deleteThread({ ...key, children: command.children });
    default:
      return command satisfies never;
  }
}

function newThreadOf(key: ThreadKey, command: Extract<Command, { do: "new-thread" }>): Partial<NewThread> {
  const { parent, title, history } = command;
  const imported = historyOf(runNames[command.run] ?? "none", key, command.thread);
  return {
    ...(title === undefined ? {} : { title, metadata: { title } }),
    ...(parent === undefined ? {} : { parent: (threadNames[parent] ?? "none") as ThreadId }),
    ...(history === undefined
      ? {}
      : { history: { ...imported, birth: { ...imported.birth, key: `k${history}`, requestHash: "h0" } } }),
  };
}

async function look(
  world: World,
  scope: Scope,
  command: Exclude<
    Command,
    { do: "advance" | "claim" | "take-deliveries" | "prune" | "put-content" | "collect-content" } | ThreadCommand
  >,
): Promise<Seen> {
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
  const existing = rows.flatMap((row) => (row && (command.do !== "erase" || row.status === "done") ? [row.run] : []));
  return existing[command.run % Math.max(1, existing.length)] ?? named;
}

function birthIn(
  scope: Scope,
  command: Extract<Command, { do: "create" }>,
  { now }: World,
): ReturnType<typeof birthOf> {
  const { priority, startIn, deadlineIn } = command;
  return birthOf(runNames[command.run] ?? "none", {
    scope,
    thread: threadNames[command.thread] ?? "none",
    agent: agentNames[command.agent] ?? "none",
    key: `k${command.key}`,
    requestHash: `h${command.hash}`,
    ...(command.rule === undefined ? {} : { whenBusy: command.rule }),
    ...(priority === undefined ? {} : { priority }),
    ...(startIn === undefined ? {} : { startAt: now + startIn }),
    ...(deadlineIn === undefined ? {} : { deadlineAt: now + deadlineIn }),
  });
}
