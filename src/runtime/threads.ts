/** Threads as a user sees them: create with history, read, list, name, delete, erase. */

import type { DeclaredManifest } from "../domain/declared-manifest.ts";
import type { EntryBody, RunCreated } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { parseId, type RunId, type ThreadId } from "../domain/ids.ts";
import { type JsonObject, toJson } from "../domain/json.ts";
import { declaredBy, fingerprintOf } from "../domain/manifest.ts";
import type { Message } from "../domain/message.ts";
import { Problems } from "../domain/problems.ts";
import type { NewContent } from "../ports/content-store.ts";
import type { NewThread } from "../ports/store.ts";
import type { DeleteAnswer, PlacedMessage, ThreadRow } from "../ports/thread-store.ts";
import { type Desk, written } from "./desk.ts";
import { keepContents } from "./given-files.ts";
import { tell } from "./outside-door.ts";
import { pageProblems, readPage } from "./pages.ts";
import { readMessages } from "./read-input.ts";
import { redactingErrors } from "./redacted-error.ts";
import { threadState } from "./state.ts";
import type { CreateThread, Thread, Threads } from "./thread-shapes.ts";

export function createThreads(desk: Desk): Threads {
  const key = (id: string): { scope: Desk["scope"]; thread: ThreadId } => ({
    scope: desk.scope,
    thread: parseId<ThreadId>("thread", id),
  });

  async function found(id: string): Promise<Thread> {
    const row = await desk.store.thread(key(id));
    if (row) return shown(row);
    throw notFound(id, desk);
  }

  async function create(options: CreateThread): Promise<Thread> {
    const { thread, contents } = prepare(options, desk);
    await keepContents(contents, desk);
    let tries = 0;
    const answer = await written(`Creating thread ${thread.thread}`, desk, () => {
      tries += 1;
      return desk.store.createThread(thread);
    });
    const ours = answer.kind === "exists" && tries > 1 && (await isOurs(thread, desk));
    if (answer.kind !== "created" && !ours) throw refusal(answer.kind, thread);
    if (thread.history) tell({ scope: desk.scope, run: thread.history.birth.entry.identity.run, seq: 1 }, desk);
    return found(thread.thread);
  }

  async function alter(id: string, change: Parameters<Threads["change"]>[1]): Promise<Thread> {
    const problems = new Problems(change, ["title", "metadata"]);
    problems.optional("title", (title) => title === null || isTitle(title), `${titleRule}, or null`);
    problems.refuse("invalid-options", `Thread ${id} cannot be changed`);
    const metadata = change.metadata === undefined ? {} : { metadata: checkMetadata(change.metadata) };
    const title = change.title === undefined ? {} : { title: change.title };
    const wanted = { ...key(id), ...title, ...metadata };
    if (!(await written(`Changing thread ${id}`, desk, () => desk.store.changeThread(wanted))))
      throw notFound(id, desk);
    return found(id);
  }

  return {
    create: (options = {}) => redactingErrors(desk, () => create(options)),
    async get(id) {
      const row = await desk.store.thread(key(id));
      return row && shown(row);
    },
    async list(options = {}) {
      pageProblems(options, ["parent"]).refuse("invalid-options", "Threads cannot be listed like this");
      const { parent } = options;
      const filter = parent === undefined || parent === null ? parent : parseId<ThreadId>("parent", parent);
      const only = filter === undefined ? {} : { parent: filter };
      const list = { name: "threads", filter: only, options, place: (row: ThreadRow) => row.no };
      const page = await readPage(list, desk, (request) =>
        desk.store.threads({ scope: desk.scope, ...only, ...request }),
      );
      return { ...page, items: page.items.map(shown) };
    },
    async state(id) {
      await found(id);
      return threadState(parseId<ThreadId>("thread", id), desk);
    },
    async messages(id, options = {}) {
      const problems = pageProblems(options, ["visibility"]);
      problems.oneOf("visibility", ["all"]);
      problems.refuse("invalid-options", `Messages of thread ${id} cannot be listed like this`);
      const { visibility } = options;
      await found(id);
      const place = (row: PlacedMessage): number => row.position;
      const list = { name: `messages:${id}`, filter: visibility ?? null, options, place };
      const only = visibility === undefined ? {} : { visibility };
      return readPage(list, desk, (request) => desk.store.messages({ ...key(id), ...only, ...request }));
    },
    change: (id, change) => redactingErrors(desk, () => alter(id, change)),
    async delete(id, options = {}) {
      const problems = new Problems(options, ["children"]);
      problems.oneOf("children", ["reject", "detach", "cascade"]);
      problems.refuse("invalid-options", `Thread ${id} cannot be deleted like this`);
      const what = { ...key(id), children: options.children ?? "reject" };
      const answer = await deleteSurely(`thread ${id}`, desk, () => desk.store.deleteThread(what));
      if (answer.kind === "not-found") throw notFound(id, desk);
      return deleted(answer, `thread ${id}`);
    },
  };
}

/** What is gone after an answer that was lost, this delete has taken; how much it was nobody can say any more. */
export async function deleteSurely(what: string, desk: Desk, call: () => Promise<DeleteAnswer>): Promise<DeleteAnswer> {
  let tries = 0;
  const answer = await written(`Deleting ${what}`, desk, () => {
    tries += 1;
    return call();
  });
  return answer.kind === "not-found" && tries > 1 ? { kind: "deleted", threads: 0, runs: 0 } : answer;
}

export function deleted(
  answer: Exclude<DeleteAnswer, { kind: "not-found" }>,
  what: string,
): { threads: number; runs: number } {
  switch (answer.kind) {
    case "deleted":
      return { threads: answer.threads, runs: answer.runs };
    case "busy":
      throw new HoldfastError(
        "thread-busy",
        `Run ${answer.run} is not done, or its parent is not told yet; ${what} was not deleted`,
        {
          details: { run: answer.run },
        },
      );
    case "has-children":
      throw new HoldfastError("thread-has-children", `${answer.children} child threads; ${what} was not deleted`);
    default:
      return answer satisfies never;
  }
}

/** After an answer that was lost: is the thread that is there the one that was being created? */
async function isOurs(thread: NewThread, desk: Desk): Promise<boolean> {
  const row = await desk.store.thread(thread);
  const history = thread.history?.birth.entry.identity.run;
  if (history !== undefined)
    return (await desk.store.run({ scope: desk.scope, run: history }))?.thread === thread.thread;
  const { canonical } = desk.hash;
  const same = canonical(row?.metadata ?? {}) === canonical(thread.metadata ?? {});
  return same && row?.title === thread.title && row?.parent === thread.parent && row?.latest === undefined;
}

function prepare(
  options: CreateThread,
  desk: Desk,
): { readonly thread: NewThread; readonly contents: readonly NewContent[] } {
  const problems = new Problems(options, ["id", "title", "metadata", "parent", "messages"]);
  problems.optional("title", isTitle, titleRule);
  problems.refuse("invalid-options", "The thread cannot be created");
  const { id, title, metadata, parent } = options;
  const name = parseId<ThreadId>("thread", id ?? desk.ids.next());
  const history = options.messages === undefined ? undefined : readMessages(options.messages, desk);
  const thread = {
    scope: desk.scope,
    thread: name,
    ...(title === undefined ? {} : { title }),
    ...(metadata === undefined ? {} : { metadata: checkMetadata(metadata) }),
    ...(parent === undefined ? {} : { parent: parseId<ThreadId>("parent", parent) }),
    ...(history ? { history: importedRun(name, history.messages, desk) } : {}),
  };
  return { thread, contents: history?.contents ?? [] };
}

const titleRule = "must be a string of at most 4096 bytes that can be stored";

function isTitle(title: unknown): boolean {
  return typeof title === "string" && toJson(title, { maxBytes: 4_096, maxDepth: 1 }).ok;
}

function checkMetadata(metadata: unknown): JsonObject {
  const json = toJson(metadata, { maxBytes: 64 * 1024, maxDepth: 16 });
  if (json.ok && typeof json.value === "object" && json.value !== null && !Array.isArray(json.value)) {
    return json.value as JsonObject;
  }
  const why = json.ok ? "is not an object" : `${json.problem} at ${json.path}`;
  throw new HoldfastError("invalid-options", `metadata cannot be stored: ${why}`);
}

/** History is the journal of a run that has ended: readers need no second kind of message. */
function importedRun(thread: ThreadId, messages: readonly Message[], desk: Desk): NonNullable<NewThread["history"]> {
  const run = parseId<RunId>("run id", desk.ids.next());
  const manifest: DeclaredManifest = {
    format: 1,
    agent: importAgent,
    version: "1",
    model: { provider: "none", model: "none" },
    instructions: { kind: "text", text: "" },
    tools: [],
    context: null,
    budget: { steps: 0 },
    declaredBy,
  };
  const fingerprint = fingerprintOf(manifest, desk.hash);
  const key = `import:${run}`;
  const entry: RunCreated = {
    type: "run-created",
    identity: {
      scope: desk.scope,
      run,
      thread,
      agent: importAgent,
      rootRun: run,
      origin: "internal",
      mode: "foreground",
      adapter: "internal",
    },
    request: { origin: "internal", key, inputIds: messages.map((each) => each.id), inputCount: messages.length },
    input: messages,
    manifest: { fingerprint },
    budget: { steps: 0 },
  };
  const rest: EntryBody[] = [
    { type: "run-started", position: 0 },
    ...messages.map((_, index): EntryBody => ({ type: "message-appended", body: { kind: "created", index } })),
    { type: "run-ended", outcome: { kind: "completed", reason: "requested" } },
  ];
  return { birth: { key, requestHash: key, entry, manifest }, rest };
}

/** The agent name of runs that only hold imported history. */
export const importAgent = "holdfast.import";

function shown(row: ThreadRow): Thread {
  const { thread: id, title, metadata, parent, createdAt, updatedAt, messages, current, latest, queued } = row;
  return {
    id,
    ...(title === undefined ? {} : { title }),
    metadata,
    ...(parent === undefined ? {} : { parent }),
    createdAt,
    updatedAt,
    messages,
    ...(current?.status === "running" ? { activeRun: current.run } : {}),
    ...(current ? { openRun: current.run } : {}),
    ...(latest === undefined ? {} : { latestRun: latest }),
    queued,
  };
}

function notFound(id: string, desk: Desk): HoldfastError {
  return new HoldfastError("thread-not-found", `There is no thread ${id} in scope ${desk.scope}`, { details: { id } });
}

function refusal(kind: "exists" | "parent-not-found" | "cycle", thread: NewThread): HoldfastError {
  switch (kind) {
    case "exists":
      return new HoldfastError("thread-exists", `There is already a thread ${thread.thread}`);
    case "parent-not-found":
      return new HoldfastError(
        "thread-not-found",
        `Thread ${thread.thread} names the parent ${thread.parent}, which does not exist`,
      );
    case "cycle":
      return new HoldfastError("invalid-options", `Thread ${thread.thread} cannot be its own ancestor`);
    default:
      return kind satisfies never;
  }
}
