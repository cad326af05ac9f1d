/** The handle of one run: reads the store, waits on hints, posts through the outside door. */
import type { Entry, OutsideFact } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { project } from "../domain/event.ts";
import type { RunId } from "../domain/ids.ts";
import { textOf } from "../domain/message.ts";
import { Problems } from "../domain/problems.ts";
import type { RunState } from "../domain/run-state.ts";
import { type RunView, viewRun } from "../domain/run-view.ts";
import { loadState } from "../engine/load.ts";
import type { RunRow } from "../ports/store.ts";
import { type Desk, surely } from "./desk.ts";
import { isIdle } from "./idle.ts";
import { post } from "./outside-door.ts";
import type { ActOptions, CancelReceipt, Idle, Run, RunResult, WaitOptions, WatchOptions } from "./runtime.ts";
import { sendInput } from "./sent-input.ts";
import { runSource } from "./sources.ts";
import { openTicket } from "./tickets.ts";
import { waitUntil } from "./wait.ts";
import { watch } from "./watch.ts";
import type { WatchHub } from "./watch-hub.ts";

const anyone = "anonymous";
const ticketLimit = 1_000;

export function createRunHandle(id: RunId, desk: Desk, hub: WatchHub): Run<string> {
  const key = { scope: desk.scope, run: id };

  async function row(): Promise<RunRow> {
    const found = await desk.store.run(key);
    if (found) return found;
    throw new HoldfastError("run-not-found", `There is no run ${id} in scope ${desk.scope}`, { details: { run: id } });
  }

  async function result(options: WaitOptions = {}): Promise<RunResult<string>> {
    await waitUntil(key, desk, { ...options, until: async () => (await row()).status === "done" });
    return surely(`Reading run ${id}`, desk, () => readResult(key, desk));
  }

  /** Undefined when someone has answered since: it is about to move again. */
  async function atRest(): Promise<Idle<string> | undefined> {
    const seen = await row();
    if (seen.status === "done") return { status: "done", result: await readResult(key, desk) };
    const rows = await desk.store.tickets({ ...key, status: "open", limit: ticketLimit });
    if (rows.length === 0 || !isIdle(seen, desk.clock.now())) return undefined;
    return { status: "waiting", tickets: rows.map((each) => openTicket(each, desk)) };
  }

  async function act(fact: OutsideFact, options: ActOptions): Promise<void> {
    new Problems(options, ["by", "key", "reason"]).refuse(
      "invalid-options",
      `${fact.type} of run ${id} is not possible`,
    );
    const answer = await post({ ...key, fact, key: options.key ?? desk.ids.next() }, desk);
    if (answer.kind === "refused" && answer.code !== "run-ended") {
      throw new HoldfastError(answer.code, `${fact.type} of run ${id} was refused`, { details: { run: id } });
    }
  }

  return {
    id,
    async status(): Promise<RunView> {
      await row();
      return viewRun((await loadState(key, desk.store)).state);
    },
    async idle(options = {}): Promise<Idle<string>> {
      for (;;) {
        await waitUntil(key, desk, { ...options, until: async () => isIdle(await row(), desk.clock.now()) });
        const resting = await surely(`Reading run ${id}`, desk, atRest);
        if (resting) return resting;
      }
    },
    result,
    async output(options = {}): Promise<string> {
      const ended = await result(options);
      if (ended.outcome === "completed") return ended.output;
      const why = ended.outcome === "failed" ? `: ${ended.error.message}` : "";
      throw new HoldfastError("run-not-completed", `Run ${id} ended as ${ended.outcome}${why}`, {
        details: { result: ended },
      });
    },
    async cancel(options = {}): Promise<CancelReceipt<string>> {
      const { by = anyone, reason } = options;
      await act({ type: "cancel-requested", by, ...(reason === undefined ? {} : { reason }) }, options);
      return { receipt: result };
    },
    async *watch(options = {}) {
      const checked = checkWatch({ until: "end", ...options }, ["after", "until", "signal"]);
      yield* watch(await runSource(id, desk, hub), checked, desk.closed);
    },
    async terminalEvent() {
      const { status, head } = await row();
      if (status !== "done") return undefined;
      const [created] = await desk.store.readRun({ ...key, after: 0, limit: 1 });
      const [ended] = await desk.store.readRun({ ...key, after: head - 1, limit: 1 });
      return created?.type === "run-created" && ended ? project(ended, created.identity) : undefined;
    },
    async send(input, options = {}) {
      await row();
      return sendInput({ run: id, input, options }, desk);
    },
    async pause(options = {}): Promise<void> {
      const { by = anyone, reason } = options;
      await act({ type: "pause-requested", by, ...(reason === undefined ? {} : { reason }) }, options);
    },
  };
}

export function checkWatch(options: WatchOptions, known: readonly string[]): WatchOptions {
  const problems = new Problems(options, known);
  problems.oneOf("until", ["end", "idle"]);
  problems.refuse("invalid-options", "This cannot be watched");
  return options;
}

async function readResult(key: { scope: Desk["scope"]; run: RunId }, desk: Desk): Promise<RunResult<string>> {
  const { state } = await loadState(key, desk.store);
  const { outcome } = state;
  if (!outcome)
    throw new HoldfastError("run-not-completed", `Run ${key.run} has not ended`, { details: { run: key.run } });
  const facts = { run: key.run, steps: state.stepsEnded, usage: state.usage };
  const { kind, ...rest } = outcome;
  const output = kind === "completed" ? { output: await readAnswer(key, state, desk) } : {};
  return { ...facts, outcome: kind, ...rest, ...output } as RunResult<string>;
}

async function readAnswer(key: { scope: Desk["scope"]; run: RunId }, state: RunState, desk: Desk): Promise<string> {
  if (state.answer === undefined) return "";
  const [entry] = (await desk.store.readRun({ ...key, after: state.answer - 1, limit: 1 })) as readonly Entry[];
  return entry?.type === "message-appended" && entry.body.kind === "here" ? textOf(entry.body.message) : "";
}
