/** Runs as a user lists, counts, forks and erases them. */
import type { Agent } from "../domain/agent.ts";
import { HoldfastError } from "../domain/errors.ts";
import { parseId, type RunId, type ThreadId } from "../domain/ids.ts";
import type { Message } from "../domain/message.ts";
import { Problems } from "../domain/problems.ts";
import { inOrder } from "../engine/transcript.ts";
import type { ListedRun, PlacedMessage, RunFilter } from "../ports/thread-store.ts";
import { type Desk, surely } from "./desk.ts";
import { readPage } from "./pages.ts";
import type { ForkOptions, ListRuns, Runs } from "./runtime.ts";
import { startRun } from "./start-run.ts";
import { deleted } from "./threads.ts";

const statuses = ["created", "running", "waiting", "done"];
const messagePage = 256;

export function createRunLists(desk: Desk): Pick<Runs, "list" | "count" | "erase"> {
  return {
    async list({ cursor, limit, order, ...wanted } = {}) {
      const filter = filterOf(wanted, desk);
      const options = { ...(cursor && { cursor }), ...(limit !== undefined && { limit }), ...(order && { order }) };
      const list = { name: "runs", filter: { ...filter }, options, place: (row: ListedRun) => row.no };
      return readPage(list, desk, (request) => desk.store.runs({ ...filter, ...request }));
    },
    count: (wanted = {}) => desk.store.countRuns(filterOf(wanted, desk)),
    async erase(id) {
      const key = { scope: desk.scope, run: parseId<RunId>("run id", id) };
      deleted(await surely(`Erasing run ${id}`, desk, () => desk.store.eraseRun(key)), `run ${id}`);
    },
  };
}

function filterOf(wanted: ListRuns, desk: Desk): RunFilter {
  const problems = new Problems(wanted, ["thread", "agent", "status"]);
  problems.oneOf("status", statuses);
  problems.refuse("invalid-options", "Runs cannot be listed");
  const { thread, agent, status } = wanted;
  return {
    scope: desk.scope,
    ...(thread === undefined ? {} : { thread: parseId<ThreadId>("thread", thread) }),
    ...(agent === undefined ? {} : { agent }),
    ...(status === undefined ? {} : { status }),
  };
}

/** What the thread held before the run and what the run had before that step become the fork's own input. */
export async function forkRun(
  from: { readonly id: string; readonly agent: Agent<unknown>; readonly options: ForkOptions },
  desk: Desk,
): Promise<RunId> {
  const run = parseId<RunId>("run id", from.id);
  const { atStep, key } = from.options;
  const row = await desk.store.run({ scope: desk.scope, run });
  if (!row)
    throw new HoldfastError("run-not-found", `There is no run ${run} in scope ${desk.scope}`, { details: { run } });
  if (!Number.isInteger(atStep) || atStep < 1) {
    throw new HoldfastError("invalid-options", `atStep must be a whole number from 1 on, got ${atStep}`);
  }
  const messages = await messagesBefore({ run, thread: row.thread, atStep }, desk);
  if (messages.length === 0) throw new HoldfastError("invalid-options", `Run ${run} has nothing before step ${atStep}`);
  const request = {
    input: messages,
    options: key === undefined ? {} : { key },
    forkedFrom: { run, step: atStep },
  };
  return startRun(from.agent, request, desk);
}

async function messagesBefore(
  cut: { readonly run: RunId; readonly thread: ThreadId; readonly atStep: number },
  desk: Desk,
): Promise<readonly Message[]> {
  const before: Message[] = [];
  let after: number | undefined;
  for (;;) {
    const place = after === undefined ? {} : { after };
    const list = { scope: desk.scope, thread: cut.thread, order: "oldest", limit: messagePage, ...place } as const;
    const page: readonly PlacedMessage[] = await desk.store.messages(list);
    for (const placed of page) {
      const own = placed.run === cut.run;
      const step = own ? (placed.message.producer?.step ?? 0) : 0;
      if (own && step >= cut.atStep) return inOrder(before);
      before.push(placed.message);
    }
    after = page.at(-1)?.position;
    if (page.length < messagePage) return inOrder(before);
  }
}
