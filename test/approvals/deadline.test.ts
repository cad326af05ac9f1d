/**
 * A2, A3 with real processes: the one that has asked is killed, the deadline passes while nobody is up, and two come at
 * once. What was said for that case counts exactly once, and at most one of them acts.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope, type RunId } from "../../src/domain/ids.ts";
import { readAfter } from "../../src/engine/load.ts";
import { createRuntime, type Run, type Runtime } from "../../src/index.ts";
import type { Store } from "../../src/ports/store.ts";
import { postgres } from "../../src/postgres.ts";
import type { Ticket } from "../../src/runtime/runtime.ts";
import { sqlite } from "../../src/sqlite.ts";
import { freshStore } from "../postgres/shared-server.ts";
import { freshDirectory, freshPath, opened } from "../stores/watched-store.ts";
import { treasury } from "./children/treasury.ts";
import type { WorkerTarget } from "./children/worker.ts";

function work(target: WorkerTarget): ChildProcess {
  const script = new URL("children/worker.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, JSON.stringify(target)], { stdio: ["ignore", "inherit", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.signalCode === null && child.exitCode === null) await once(child, "exit");
}

type Approval = Extract<Ticket, { kind: "approval" }>;

async function asked(desk: Runtime, count: number): Promise<readonly Approval[]> {
  const open = (): Promise<readonly Ticket[]> => desk.tickets.list({ status: "open" });
  await expect.poll(async () => (await open()).length, { timeout: 30_000 }).toBe(count);
  return (await open()).filter((ticket) => ticket.kind === "approval");
}

/** By store time, which is this machine's. */
async function pastAll(tickets: readonly Approval[]): Promise<void> {
  const times = tickets.map(({ answerBy, escalation }) => answerBy ?? escalation?.at ?? 0);
  await delay(Math.max(0, Math.max(...times) - Date.now()) + 50);
}

/** Twenty of the escalation's audience at once, before and after its time. */
async function escalate(ticket: Approval | undefined): Promise<void> {
  const boss = { by: "dee", roles: ["boss"] };
  const tooEarly = await ticket?.approve(boss).catch((cause: unknown) => cause);
  if (Date.now() < (ticket?.escalation?.at ?? 0)) expect(tooEarly).toMatchObject({ code: "answer-not-allowed" });
  await pastAll(ticket ? [ticket] : []);
  const answers = await Promise.all(Array.from({ length: 20 }, () => ticket?.approve(boss)));
  const counted = [tooEarly, ...answers].filter((answer) => (answer as { mine?: boolean } | undefined)?.mine === true);
  expect(counted).toHaveLength(1);
}

interface Place {
  readonly store: Store;
  readonly where: WorkerTarget["store"];
}

async function nobodyIsUp({ store, where }: Place): Promise<void> {
  const file = join(freshDirectory(), "money");
  const desk = await createRuntime({ store: "path" in where ? sqlite(where.path) : postgres(where), pollMs: 50 });
  onTestFinished(() => desk.close());
  const agents = treasury(file);
  const runs = new Map<string, Run<unknown>>();
  const first = work({ store: where, file });
  for (const each of agents) runs.set(each.name, await desk.start(each, "go"));
  const tickets = await asked(desk, agents.length);
  await kill(first);
  await escalate(tickets.find(({ agent }) => agent === "escalating"));
  await pastAll(tickets);
  const journal = (run: RunId): Promise<readonly Entry[]> => readAfter({ scope: defaultScope, run }, 0, store);
  for (const { id } of runs.values()) {
    const decided = (await journal(id)).filter(({ type }) => type === "ticket-decided");
    expect(decided).toHaveLength(id === runs.get("escalating")?.id ? 1 : 0); // time alone decides nothing
  }

  const [second, third] = [work({ store: where, file }), work({ store: where, file })];
  const outcomes: Record<string, string> = {};
  for (const [name, run] of runs) outcomes[name] = (await run.result()).outcome;
  await Promise.all([kill(second), kill(third)]);
  expect(outcomes).toEqual({
    rejecting: "completed",
    approving: "completed",
    cancelling: "cancelled",
    escalating: "completed",
    starting: "blocked",
    speaking: "blocked",
  });
  for (const [name, { id }] of runs) {
    const decided = (await journal(id)).filter((entry) => entry.type === "ticket-decided");
    const by = name === "escalating" ? "dee" : "engine";
    expect(decided, name).toMatchObject([{ by, decision: { kind: name === "escalating" ? "approve" : "expired" } }]);
  }
  const acted = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1).sort() : [];
  expect(acted).toEqual([`approving ${runs.get("approving")?.id}`, `escalating ${runs.get("escalating")?.id}`]);
}

test("A2 A3 nobody was up at the deadline, on a SQLite file", { timeout: 90_000 }, async () => {
  const path = freshPath();
  await nobodyIsUp({ store: await opened(sqlite(path)), where: { path } });
});

test("A2 A3 nobody was up at the deadline, on PostgreSQL", { timeout: 90_000 }, async () => {
  const { url, schema, definition } = await freshStore({ time: "database" });
  await nobodyIsUp({ store: await opened(definition), where: { url, schema } });
});
