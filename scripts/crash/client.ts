/**
 * A client of the campaign: node client.ts <folder> <name> <slots>. Keeps that many runs in flight, sends messages,
 * cancels, answers every ticket it sees, and writes down what it was told is durable. Killed like everybody else:
 * it begins again with what its own log says was begun and not ended, under the same keys.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime, isHoldfastError, type Run } from "holdfast";
import { note, noted } from "../processes/notes.ts";
import { createClerk } from "./clerk.ts";
import { type ClientLine, logs } from "./evidence.ts";
import { createFailpoints, type Order, tell, tellReady } from "./failpoints.ts";
import { answerTickets } from "./operator.ts";
import { placeOf, storeOf } from "./place.ts";
import { wrappedStore } from "./wrapped-store.ts";

const [folder = ".", name = "", slotCount = "1"] = process.argv.slice(2);
const log = logs.client(folder, name);
const say = (line: ClientLine): void => note(log, line);
const points = createFailpoints();
let isDraining = false;
// Before the first wait: what is told to nobody is not told again.
process.on("message", ({ order }: Order) => {
  if (order === "drain") isDraining = true;
});
process.once("disconnect", () => process.exit());
const store = wrappedStore(storeOf(folder), points, logs.worker(folder, process.pid));
const logger = { warn: () => undefined, note: () => undefined };
const runtime = await createRuntime({ store, pollMs: 400, logger });
const clerk = createClerk(placeOf(folder).toolsUrl, points);
const retryMs = 200;

/** Keys are `name.slot.number`. Every fourth slot keeps one thread for all its runs. */
async function keepBusy(slot: number): Promise<void> {
  const mine = (line: ClientLine): boolean => "key" in line && line.key.startsWith(`${name}.${slot}.`);
  const before = noted<ClientLine>(log).filter(mine);
  const ended = before.filter(({ kind }) => kind === "ended").length;
  for (let n = ended; !isDraining || n < before.filter(({ kind }) => kind === "trying").length; n += 1) {
    const key = `${name}.${slot}.${n}`;
    if (!before.some((line) => line.kind === "trying" && line.key === key)) say({ kind: "trying", key });
    await follow(key, slot % 4 === 0 ? { thread: `${name}.${slot}` } : {});
  }
}

async function follow(key: string, options: { readonly thread?: string }): Promise<void> {
  const run = await runtime.start(clerk, `Order ${key}`, { key, whenBusy: "queue", ...options });
  say({ kind: "started", key, run: run.id });
  await Promise.all([run.result(), meddle(run, key)]);
  say({ kind: "ended", key, run: run.id });
  tell({ kind: "ended" });
}

/** Out of six runs one is cancelled and one is sent a message, each at some moment of its life. */
async function meddle(run: Run, key: string): Promise<void> {
  const [, slot = "0", n = "0"] = key.split(".");
  const fate = (Number(slot) + Number(n)) % 6;
  if (fate === 2) await unlessEnded(() => cancel(run, key));
  if (fate === 4) await unlessEnded(() => send(run, key));
}

async function cancel(run: Run, key: string): Promise<void> {
  await sleep(Math.random() * 600);
  await run.cancel({ by: name, key });
  say({ kind: "cancelled", run: run.id, at: Date.now() });
}

async function send(run: Run, key: string): Promise<void> {
  await sleep(Math.random() * 600);
  const { id } = await run.send("And hurry", { by: name, key });
  say({ kind: "sent", run: run.id, input: id });
}

async function unlessEnded(act: () => Promise<void>): Promise<void> {
  await act().catch((cause: unknown) => {
    if (!isHoldfastError(cause, "run-ended")) throw cause;
  });
}

let isOver = false;
async function answerAll(): Promise<void> {
  while (!isOver) {
    await answerTickets(runtime, { name, toolsUrl: placeOf(folder).toolsUrl, say });
    await sleep(retryMs);
  }
}

/** Also runs that nobody started by hand: those born of messages that came too late. */
async function everyRunIsDone(): Promise<void> {
  for (;;) {
    const counts = await Promise.all(
      (["created", "running", "waiting"] as const).map((status) => runtime.runs.count({ status })),
    );
    if (counts.every((count) => count === 0)) return;
    await sleep(retryMs);
  }
}

tellReady();
const answering = answerAll();
await Promise.all(Array.from({ length: Number(slotCount) }, (_, slot) => keepBusy(slot)));
await everyRunIsDone();
isOver = true;
await answering;
await runtime.close();
process.exit(0);
