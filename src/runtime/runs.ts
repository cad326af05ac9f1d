/** Runs as a user lists, counts, forks, erases and prunes them. */
import type { Agent } from "../domain/agent.ts";
import type { Manifest } from "../domain/declared-manifest.ts";
import { HoldfastError } from "../domain/errors.ts";
import { parseId, type RunId, type ThreadId } from "../domain/ids.ts";
import { diffManifests } from "../domain/manifest-diff.ts";
import type { Message } from "../domain/message.ts";
import { mergeOverrides, overrideProblems, readOverrides } from "../domain/overrides.ts";
import { present } from "../domain/present.ts";
import { Problems } from "../domain/problems.ts";
import { loadState } from "../engine/load.ts";
import { readManifest } from "../engine/read-manifest.ts";
import { inOrder } from "../engine/transcript.ts";
import type { ListedRun, PlacedMessage, RunFilter } from "../ports/thread-store.ts";
import { nameOf } from "./agent-directory.ts";
import { type Desk, surely } from "./desk.ts";
import { pageProblems, readPage } from "./pages.ts";
import { noSuchRun } from "./refusals.ts";
import type { ForkOptions, ListRuns, PruneOptions, Runs } from "./runtime.ts";
import { startRun } from "./start-run.ts";
import { deleted, deleteSurely } from "./threads.ts";

const statuses = ["created", "running", "waiting", "done"];
const filterNames = ["thread", "parent", "agent", "status"];
const messagePage = 256;

export function createRunLists(desk: Desk): Pick<Runs, "list" | "count" | "manifest" | "diff" | "erase" | "prune"> {
  return {
    manifest: (id) => manifestOfRun(id, desk),
    async diff(a, b) {
      const [before, after] = await Promise.all([manifestOfRun(a, desk), manifestOfRun(b, desk)]);
      return diffManifests(before.declared, after.declared);
    },
    async list(options = {}) {
      const filter = filterOf(options, pageProblems(options, filterNames), desk);
      const list = { name: "runs", filter: { ...filter }, options, place: (row: ListedRun) => row.no };
      return readPage(list, desk, (request) => desk.store.runs({ ...filter, ...request }));
    },
    count: async (wanted = {}) => desk.store.countRuns(filterOf(wanted, new Problems(wanted, filterNames), desk)),
    async erase(id) {
      const key = { scope: desk.scope, run: parseId<RunId>("run id", id) };
      const answer = await deleteSurely(`run ${id}`, desk, () => desk.store.eraseRun(key));
      if (answer.kind === "not-found") throw noSuchRun(key.run, desk);
      deleted(answer, `run ${id}`);
    },
    prune: async (options) => pruneRuns(options, desk),
  };
}

async function manifestOfRun(id: string, desk: Desk): Promise<Manifest> {
  const key = { scope: desk.scope, run: parseId<RunId>("run id", id) };
  if (!(await desk.store.run(key))) throw noSuchRun(key.run, desk);
  return readManifest((await loadState(key, desk.store)).state, desk.store);
}

const defaultPruned = 100;
const mostPruned = 1_000;

async function pruneRuns(options: PruneOptions, desk: Desk): Promise<readonly RunId[]> {
  const problems = new Problems(options, ["finishedBefore", "limit"]);
  problems.check("finishedBefore", (time) => Number.isFinite(timeOf(time)), "must be a date or milliseconds");
  problems.integer("limit", 1, mostPruned);
  problems.refuse("invalid-options", "Runs cannot be pruned like this");
  const { finishedBefore, limit = defaultPruned } = options;
  const what = { scope: desk.scope, ended: { before: Math.floor(timeOf(finishedBefore)) }, limit };
  return surely("Pruning finished runs", desk, () => desk.store.prune(what));
}

function timeOf(time: unknown): number {
  return time instanceof Date || typeof time === "number" ? Number(time) : Number.NaN;
}

function filterOf(wanted: ListRuns, problems: Problems, desk: Desk): RunFilter {
  problems.optional("agent", (agent) => typeof agent === "string", "must be a string");
  problems.oneOf("status", statuses);
  problems.refuse("invalid-options", "Runs cannot be listed");
  const { thread, parent, agent, status } = wanted;
  return {
    scope: desk.scope,
    ...(thread === undefined ? {} : { thread: parseId<ThreadId>("thread", thread) }),
    ...(parent === undefined ? {} : { parent: parseId<RunId>("run id", parent) }),
    ...(agent === undefined ? {} : { agent }),
    ...(status === undefined ? {} : { status }),
  };
}

/** What the thread held before the run and what the run had before that step become the fork's own input. */
export async function forkRun(
  from: { readonly id: string; readonly agent: Agent<unknown> | string; readonly options: ForkOptions },
  desk: Desk,
): Promise<RunId> {
  const run = parseId<RunId>("run id", from.id);
  const problems = new Problems(from.options, ["atStep", "key", "overrides"]);
  problems.check("atStep", (step) => Number.isInteger(step) && Number(step) >= 1, "must be a whole number from 1 on");
  const { atStep, key, overrides: said } = from.options ?? {};
  if (said !== undefined) problems.include("overrides", overrideProblems(said));
  problems.refuse("invalid-options", `Run ${run} cannot be forked like this`);
  if (!(await desk.store.run({ scope: desk.scope, run }))) throw noSuchRun(run, desk);
  const { created, step } = (await loadState({ scope: desk.scope, run }, desk.store)).state;
  const begun = step?.step ?? 0;
  if (atStep > begun) {
    throw new HoldfastError("invalid-options", `Run ${run} has begun ${begun} steps; it cannot be forked at ${atStep}`);
  }
  const { thread, agent } = created.identity;
  const { priority } = created;
  const isSame = agent === nameOf(from.agent, "fork(id, agent)");
  const own = isSame ? (created.request.overrides ?? {}) : {}; // another agent's model is asked as that agent asks it
  const overrides = mergeOverrides(own, readOverrides(said) ?? {});
  const request = {
    input: await messagesBefore({ run, thread, atStep }, desk),
    options: { overrides, ...present({ key, priority }) },
    forkedFrom: { run, step: atStep },
    context: { value: created.context, isChecked: isSame },
  };
  return startRun(from.agent, request, desk);
}

/** A run's messages stand together in its thread, so what follows them is of runs that came later. */
async function messagesBefore(
  cut: { readonly run: RunId; readonly thread: ThreadId; readonly atStep: number },
  desk: Desk,
): Promise<readonly Message[]> {
  const before: Message[] = [];
  let isOwn = false;
  let after: number | undefined;
  for (;;) {
    const place = after === undefined ? {} : { after };
    const list = { scope: desk.scope, thread: cut.thread, order: "oldest", limit: messagePage, ...place } as const;
    const page: readonly PlacedMessage[] = await desk.store.messages(list);
    for (const { run, message } of page) {
      const isLater = run === cut.run ? (message.producer?.step ?? 0) >= cut.atStep : isOwn;
      if (isLater) return inOrder(before);
      isOwn ||= run === cut.run;
      before.push(message);
    }
    after = page.at(-1)?.position;
    if (page.length < messagePage) return inOrder(before);
  }
}
