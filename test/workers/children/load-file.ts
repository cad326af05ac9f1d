/**
 * Works on a SQLite file until it is killed: node load-file.ts <folder> [split]. Writes down every acknowledgement of the
 * store together with the size that the WAL had then. With "split" each commit's entries and rows are two transactions.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { note, noteDurably } from "../../../scripts/processes/notes.ts";
import { createRuntime } from "../../../src/create-runtime.ts";
import { agent } from "../../../src/domain/agent.ts";
import { tool } from "../../../src/domain/tool.ts";
import type { Commit, CommitAnswer, PostAnswer, StoreDefinition } from "../../../src/ports/store.ts";
import { scripted } from "../../../src/providers/scripted.ts";
import type { Connection, Probe } from "../../../src/stores/sqlite/database.ts";
import { sqliteWithProbe } from "../../../src/stores/sqlite/sqlite.ts";
import { type Intercept, interceptStore } from "../../../src/testing/intercept.ts";
import type { Acknowledged } from "../wal-copies.ts";

const [folder = ".", how = "whole"] = process.argv.slice(2);
const path = join(folder, "runs.db");
const lanes = 12;

let connection: Connection | undefined;
const probe: Probe = {
  opened: (db) => {
    connection = db;
  },
  after: (sql) => {
    if (how !== "split" || !sql.startsWith("INSERT INTO journal") || !connection?.isInTransaction()) return;
    connection.script("COMMIT; BEGIN IMMEDIATE");
  },
};

const acknowledge: Intercept = async ({ method, args }, proceed) => {
  const answer = await proceed();
  const head = headOf(method, args[0] as Commit, answer);
  if (head !== undefined) {
    const { run } = args[0] as Commit;
    note(join(folder, "acknowledged"), { run, head, wal: statSync(`${path}-wal`).size } satisfies Acknowledged);
  }
  return answer;
};

function headOf(method: string, what: Commit, answer: unknown): number | undefined {
  if (method === "post" && (answer as PostAnswer).kind === "posted") return (answer as { seq: number }).seq;
  if (method !== "commit" || (answer as CommitAnswer).kind !== "committed") return undefined;
  return what.expectedSeq + what.entries.length;
}

const real = sqliteWithProbe(path, probe);
const store: StoreDefinition = { ...real, open: async (deps) => interceptStore(await real.open(deps), acknowledge) };

const look = tool({
  name: "look",
  description: "Looks",
  input: z.object({ at: z.number() }),
  effect: "pure",
  execute: ({ at }) => `saw ${at}`,
});
const send = tool({
  name: "send",
  description: "Sends",
  input: z.object({ to: z.string() }),
  needsApproval: true,
  execute: ({ to }) => `sent to ${to}`,
});
const clerk = agent({
  name: "clerk",
  instructions: "Look, then send.",
  tools: [look, send],
  model: scripted([
    { calls: [1, 2].map((at) => ({ tool: "look", input: { at } })) },
    { calls: [{ tool: "send", input: { to: "Ada" } }] },
    { attempts: [{ text: "Sent." }] },
    "And read.",
    "And read again.",
  ]),
});

const logger = { warn: () => undefined, note: () => undefined };
const runtime = await createRuntime({ agents: [clerk], store, logger });

/** Runs one after another on a thread: some queue behind another, some get inputs, some are cancelled. */
async function work(lane: number): Promise<void> {
  for (let n = 0; ; n += 1) await workOnce(`thread-${lane}-${n % 3}`, n);
}

async function workOnce(thread: string, n: number): Promise<void> {
  const run = await runtime.start(clerk, "Write to Ada", { thread, whenBusy: "queue" });
  const behind = n % 4 === 0 ? await runtime.start(clerk, "And again", { thread, whenBusy: "queue" }) : undefined;
  const sent = await run.send("Be brief");
  if (n % 3 === 0) await sent.withdraw().catch(() => undefined);
  for (const each of behind ? [run, behind] : [run]) {
    const idle = await each.idle();
    if (n % 5 === 1) await each.cancel();
    else if (idle.status === "waiting") for (const ticket of idle.tickets) await answer(ticket, n);
    await each.result();
  }
}

async function answer(ticket: Awaited<ReturnType<typeof runtime.tickets.list>>[number], n: number): Promise<void> {
  if (ticket.kind !== "approval") return;
  await (n % 2 === 0 ? ticket.approve() : ticket.reject("not now"));
}

await workOnce("first", 0);
connection?.script("PRAGMA wal_checkpoint(TRUNCATE)");
noteDurably(join(folder, "ready"), {});
await Promise.all(Array.from({ length: lanes }, (_, lane) => work(lane)));
