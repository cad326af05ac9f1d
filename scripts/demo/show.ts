/** The show: one refund, two killed workers, ten answers. Says what it does while it does it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, type Run, type Runtime } from "holdfast";
import { type Child, startChild } from "../processes/child.ts";
import { noteDurably, noted } from "../processes/notes.ts";
import { acknowledgedLog, paymentsLog, storeIn } from "./files.ts";
import { createNarrator } from "./narrator.ts";
import type { Acknowledged, CallersNews, PaymentRequest, PaymentsNews, WorkerNews } from "./news.ts";
import { support } from "./support.ts";

const teams = [
  ["ana", "ben", "cleo", "dan", "eva"],
  ["finn", "gus", "hana", "ida", "jon"],
] as const;

interface Show {
  readonly folder: string;
  readonly isSabotaged: boolean;
  readonly narrator: ReturnType<typeof createNarrator>;
  readonly runtime: Runtime;
}

/** The exit code of the checker. */
export async function playDemo(isSabotaged: boolean): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })); // also after Ctrl-C
  const runtime = await createRuntime({ store: storeIn(folder), pollMs: 100 }); // no agents: it asks, it does not work
  const show: Show = { folder, isSabotaged, narrator: createNarrator(), runtime };
  try {
    await play(show);
    return await check(show);
  } finally {
    await runtime.close();
  }
}

async function play(show: Show): Promise<void> {
  const { narrator, isSabotaged } = show;
  narrator.text("One refund that must be made once, and workers that die at the worst two moments.\n");
  const payments = startChild<PaymentsNews>({ script: scriptOf("payments"), args: [show.folder] });
  const { url } = await payments.next();
  narrator.line({ who: "payments", pid: payments.pid, says: "makes every refund it is sent, also a second one" });
  if (isSabotaged) {
    const says = "the worker sends no key, so payments cannot be asked about it";
    narrator.line({ who: "sabotage", says, style: "magenta" });
  }
  const first = await startWorker(show, { url, standAt: "before-send" });
  const run = await ask(show);
  await Promise.race([goOn(show, { url, first, run }), asksForHelp(run)]);
  await payments.kill();
}

interface Begun {
  readonly url: string;
  readonly first: Child<WorkerNews>;
  readonly run: Run;
}

async function goOn(show: Show, { url, first, run }: Begun): Promise<void> {
  const ticket = await waitForTicket(show, run);
  await answerAtOnce(show, ticket);
  await killBeforeSend(show, first);
  const second = await startWorker(show, { url, standAt: "after-effect" });
  await killAfterEffect(show, second);
  const third = await startWorker(show, { url, standAt: "nowhere" });
  await finish(show, third, run);
  show.narrator.line({ who: "agent", says: `"${await run.output()}"` });
  await third.kill();
}

/** Where payments cannot be asked in time, Holdfast asks a person. Nobody sits here, so the demo says so and ends. */
async function asksForHelp(run: Run): Promise<never> {
  for await (const event of run.watch()) {
    if (event.type !== "ticket-opened" || event.ticket.kind === "approval") continue;
    throw new Error(`This machine is too busy for the demo's short timeouts. ${event.ticket.prompt}`);
  }
  return new Promise<never>(() => undefined);
}

async function startWorker(
  { folder, narrator, isSabotaged }: Show,
  { url, standAt }: { readonly url: string; readonly standAt: string },
): Promise<Child<WorkerNews>> {
  const env = { DEMO_PAYMENTS: url, DEMO_STAND_AT: standAt, DEMO_SABOTAGE: isSabotaged ? "1" : "0" };
  const worker = startChild<WorkerNews>({ script: scriptOf("worker"), args: [folder], env });
  await worker.next(({ at }) => at === "ready");
  narrator.line({ who: "worker", pid: worker.pid, says: "is up, on the same SQLite file", style: "green" });
  return worker;
}

async function ask({ folder, runtime, narrator }: Show): Promise<Run> {
  const run = await runtime.start(support, "Refund order 42, $80", { key: "ticket-981" });
  noteDurably(acknowledgedLog(folder), { kind: "start", run: run.id } satisfies Acknowledged);
  narrator.line({ who: "client", pid: process.pid, says: 'asks: "Refund order 42, $80"' });
  return run;
}

async function waitForTicket({ narrator }: Show, run: Run): Promise<string> {
  const idle = await run.idle();
  const ticket = idle.status === "waiting" ? idle.tickets[0] : undefined;
  if (ticket?.kind !== "approval") throw new Error(`Run ${run.id} was to wait for an approval, not ${idle.status}`);
  narrator.line({ who: "agent", says: `calls ${ticket.tool}(${JSON.stringify(ticket.input)}): a person must approve` });
  return ticket.id;
}

async function answerAtOnce({ folder, narrator }: Show, ticket: string): Promise<void> {
  const script = scriptOf("callers");
  const callers = teams.map((names) => startChild<CallersNews>({ script, args: [folder, ticket, ...names] }));
  await Promise.all(callers.map((each) => each.next()));
  for (const each of callers) each.tell("go");
  const news = await Promise.all(callers.map((each) => each.next()));
  await Promise.all(callers.map((each) => each.exited));
  const answers = news.flatMap((each) => (each.ready ? [] : each.answers));
  const first = answers.filter(({ mine }) => mine).map(({ by }) => by);
  for (const each of callers) narrator.line({ who: "callers", pid: each.pid, says: "five people approve at once" });
  const others = answers.length - first.length;
  narrator.line({
    who: "ticket",
    says: `${first.length} answer counted (${first.join(", ")}), ${others} were told so`,
  });
}

async function killBeforeSend({ narrator }: Show, worker: Child<WorkerNews>): Promise<void> {
  await worker.next(({ at }) => at === "before-send");
  narrator.line({ who: "worker", pid: worker.pid, says: "has written its intent and is about to send" });
  await worker.kill();
  narrator.line({ who: "SIGKILL", pid: worker.pid, says: "after the intent, before the send", style: "red" });
}

async function killAfterEffect({ narrator, isSabotaged }: Show, worker: Child<WorkerNews>): Promise<void> {
  await worker.next(({ at }) => at === "not-found");
  narrator.line({ who: "worker", pid: worker.pid, says: "finds the open intent, asks payments for its key: not made" });
  await worker.next(({ at }) => at === "after-effect");
  const how = isSabotaged ? "without a key" : "under that key";
  narrator.line({ who: "worker", pid: worker.pid, says: `sends it ${how}: payments has made the refund` });
  await worker.kill();
  narrator.line({
    who: "SIGKILL",
    pid: worker.pid,
    says: "after the effect, before it was written down",
    style: "red",
  });
}

async function finish({ narrator }: Show, worker: Child<WorkerNews>, run: Run): Promise<void> {
  const { at } = await worker.next(({ at }) => at === "found" || at === "not-found");
  const says =
    at === "found"
      ? "finds the open intent, asks payments for its key: made; sends nothing"
      : "finds the open intent, asks payments for its key: not made; sends it again";
  narrator.line({ who: "worker", pid: worker.pid, says });
  await run.result();
}

async function check({ folder, narrator }: Show): Promise<number> {
  narrator.text("\nThe payments log:");
  for (const request of noted<PaymentRequest>(paymentsLog(folder))) narrator.text(`  ${shown(request)}`, "dim");
  narrator.text("\nA checker that has seen only that log and the store says:");
  const checker = startChild({ script: scriptOf("checker"), args: [folder], output: "inherit" });
  return (await checker.exited) ?? 1;
}

function shown({ method, key, order, cents, receipt }: PaymentRequest): string {
  const short = key === "" ? "none" : `${key.slice(0, 8)}…`;
  return receipt === undefined
    ? `${method} refund by key ${short}`
    : `${method} refund of order ${order}, ${cents} cents, key ${short} → ${receipt}`;
}

function scriptOf(name: string): string {
  return join(import.meta.dirname, `${name}.ts`);
}
