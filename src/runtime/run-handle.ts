/** The handle of one run: reads the store, waits on hints, posts through the outside door. */
import type { Entry, OutsideFact } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
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
import type { ActOptions, CancelReceipt, Idle, Run, RunResult, WaitOptions } from "./runtime.ts";
import { openTicket } from "./tickets.ts";
import { waitUntil } from "./wait.ts";

const anyone = "anonymous";
const ticketLimit = 1_000;

export function createRunHandle(id: RunId, desk: Desk): Run<string> {
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
      await waitUntil(key, desk, { ...options, until: async () => isIdle(await row(), desk.clock.now()) });
      const { status } = await row();
      if (status === "done") return { status: "done", result: await readResult(key, desk) };
      const rows = await desk.store.tickets({ ...key, status: "open", limit: ticketLimit });
      return { status: "waiting", tickets: rows.map((each) => openTicket(each, desk)) };
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
    async pause(options = {}): Promise<void> {
      const { by = anyone, reason } = options;
      await act({ type: "pause-requested", by, ...(reason === undefined ? {} : { reason }) }, options);
    },
  };
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
