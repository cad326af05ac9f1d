/** The handle of one run: reads the store, waits on hints, posts through the outside door. */
import type { OutsideFact } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { project, type RunEvent } from "../domain/event.ts";
import type { RunId } from "../domain/ids.ts";
import { Problems, shown } from "../domain/problems.ts";
import { viewRun } from "../domain/run-view.ts";
import { loadState } from "../engine/load.ts";
import type { RunKey, RunRow, TicketRow } from "../ports/store.ts";
import { anyone, checkAct } from "./act-options.ts";
import { asAllowed } from "./content-access.ts";
import { type Desk, surely, written } from "./desk.ts";
import { restingTickets } from "./idle.ts";
import { post } from "./outside-door.ts";
import { noSuchRun } from "./refusals.ts";
import { outputOf, readResult } from "./run-result.ts";
import type { ActOptions, Idle, RetellOptions, Run, RunResult, Stopped, WaitOptions, WatchOptions } from "./runtime.ts";
import { sendInput } from "./sent-input.ts";
import { runSource } from "./sources.ts";
import { runState } from "./state.ts";
import { listTasks } from "./tasks.ts";
import { openTicket } from "./tickets.ts";
import { waitUntil } from "./wait.ts";
import { watch } from "./watch.ts";
import type { WatchHub } from "./watch-hub.ts";

interface Held {
  readonly key: RunKey;
  readonly desk: Desk;
  readonly hub: WatchHub;
}

export function createRunHandle(id: RunId, desk: Desk, hub: WatchHub): Run<string> {
  const held: Held = { key: { scope: desk.scope, run: id }, desk, hub };
  return {
    id,
    async status() {
      await rowOf(held);
      return viewRun((await loadState(held.key, desk.store)).state);
    },
    idle: (options) => idle(held, options),
    result: (options) => result(held, options),
    output: async (options) => outputOf(await result(held, options), desk.redactor),
    async cancel(options) {
      await ask(held, "cancel-requested", options);
      return { receipt: (wait) => receipt(held, wait) };
    },
    async tasks() {
      await rowOf(held);
      return listTasks(held.key, desk);
    },
    pause: (options) => ask(held, "pause-requested", options),
    async *watch(options) {
      const checked = checkWatch({ until: "end", ...options }, ["after", "from", "until", "content", "signal"]);
      yield* asAllowed(checked, watch(await runSource(id, desk, hub), checked, desk.closed));
    },
    terminalEvent: () => terminalEvent(held),
    state: (options = {}) => runState(id, options, desk),
    async evidence() {
      await rowOf(held);
      return desk.store.evidence(held.key);
    },
    async retell(options = {}) {
      const { by = anyone, sink } = checkRetell(options, id);
      await rowOf(held);
      if (sink !== undefined) await checkSink(sink, held);
      const request = { ...held.key, by, ...(sink === undefined ? {} : { sink }) };
      return written(`Telling again of run ${id}`, desk, () => desk.store.reviveDeliveries(request));
    },
    async send(input, options = {}) {
      await rowOf(held);
      return sendInput({ run: id, input, options: checkAct(options, `Run ${id} cannot be sent this`) }, desk);
    },
  };
}

async function rowOf({ key, desk }: Held): Promise<RunRow> {
  const found = await desk.store.run(key);
  if (found) return found;
  throw noSuchRun(key.run, desk);
}

async function result(held: Held, options: WaitOptions = {}): Promise<RunResult<string>> {
  const { key, desk } = held;
  checkWait(options, key);
  const until = async (): Promise<boolean> => (await rowOf(held)).status === "done";
  await waitUntil(key, desk, { ...options, until, by: ["run-ended"] });
  return surely(`Reading run ${key.run}`, desk, () => readResult(key, desk));
}

async function receipt(held: Held, options: WaitOptions = {}): Promise<RunResult<string> & Stopped> {
  const ended = await result(held, options);
  const { key, desk } = held;
  const { state } = await surely(`Reading run ${key.run}`, desk, () => loadState(key, desk.store));
  const descendants = (state.stopping ?? []).map(({ run, agent, how = "would-not-stop" }) => ({ run, agent, how }));
  return { ...ended, descendants };
}

async function idle(held: Held, options: WaitOptions = {}): Promise<Idle<string>> {
  const { key, desk } = held;
  checkWait(options, key);
  const until = async (): Promise<boolean> => (await restingOf(held)) !== undefined;
  for (;;) {
    await waitUntil(key, desk, { ...options, until, by: ["run-ended", "run-waiting"], isOfAny: true });
    const resting = await surely(`Reading run ${key.run}`, desk, () => atRest(held));
    if (resting) return resting;
  }
}

/** Undefined when someone has answered since: it is about to move again. */
async function atRest(held: Held): Promise<Idle<string> | undefined> {
  const { key, desk } = held;
  const row = await rowOf(held);
  if (row.status === "done") return { status: "done", result: await readResult(key, desk) };
  const rows = await restingOf(held);
  return rows && { status: "waiting", tickets: rows.map((each) => openTicket(each, desk)) };
}

async function restingOf(held: Held): Promise<readonly TicketRow[] | undefined> {
  const { store, clock } = held.desk;
  return restingTickets(await rowOf(held), { store, now: clock.now() });
}

async function ask(
  { key, desk }: Held,
  type: Extract<OutsideFact["type"], "cancel-requested" | "pause-requested">,
  options: ActOptions & { readonly reason?: string } = {},
): Promise<void> {
  const { by = anyone, reason, key: own } = checkAct(options, `${type} of run ${key.run} is not possible`, ["reason"]);
  const fact = { type, by, ...(reason === undefined ? {} : { reason }) };
  const answer = await post({ ...key, fact, key: own ?? desk.ids.next() }, desk);
  if (answer.kind !== "refused" || answer.code === "run-ended") return;
  throw new HoldfastError(answer.code, `${type} of run ${key.run} was refused`, { details: { run: key.run } });
}

async function terminalEvent(held: Held): Promise<RunEvent | undefined> {
  const { key, desk } = held;
  const { status, head } = await rowOf(held);
  if (status !== "done") return undefined;
  const [created] = await desk.store.readRun({ ...key, after: 0, limit: 1 });
  const entries = await desk.store.readRun({ ...key, after: head - 1, limit: 1 });
  const ended = entries.find((entry) => entry.type === "run-ended");
  return created?.type === "run-created" && ended ? project(ended, created.identity) : undefined;
}

function checkWait(options: WaitOptions, key: RunKey): void {
  const problems = new Problems(options, ["signal"]);
  problems.optional("signal", (signal) => signal instanceof AbortSignal, "must be an AbortSignal");
  problems.refuse("invalid-options", `Run ${key.run} cannot be awaited like this`);
}

function checkRetell(options: RetellOptions, run: RunId): RetellOptions {
  const problems = new Problems(options, ["sink", "by"]);
  for (const name of ["sink", "by"]) {
    problems.optional(name, (text) => typeof text === "string" && text !== "", "must be a non-empty string");
  }
  problems.refuse("invalid-options", `Run ${run} cannot be told again like this`);
  return options;
}

/** L8: 0 would mean that it took everything. */
async function checkSink(sink: string, { key, desk }: Held): Promise<void> {
  const { created } = (await loadState(key, desk.store)).state;
  const { sinks = [] } = created;
  if (sinks.includes(sink)) return;
  const told = sinks.length > 0 ? sinks.join(", ") : "nobody";
  const problems = [`sink: run ${key.run} does not tell ${shown(sink)}; it tells ${told}`];
  throw new HoldfastError("invalid-options", `Run ${key.run} cannot be told again like this`, { problems });
}

export function checkWatch(options: WatchOptions, known: readonly string[]): WatchOptions {
  const problems = new Problems(options, known);
  problems.oneOf("until", ["end", "idle"]);
  problems.oneOf("from", ["now"]);
  if (options?.from !== undefined && options.after !== undefined) problems.add("from: does not go with a cursor");
  problems.optional("content", (content) => typeof content === "boolean", "must be true or false");
  problems.optional("signal", (signal) => signal instanceof AbortSignal, "must be an AbortSignal");
  problems.refuse("invalid-options", "This cannot be watched");
  return options;
}
