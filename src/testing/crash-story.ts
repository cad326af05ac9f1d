/** What the store tells of a run when all is over, in words that do not depend on ids, times or the number of tries. */
import { foldAll } from "../domain/apply.ts";
import type { Entry, RunCreated } from "../domain/entry.ts";
import type { RunId, Scope } from "../domain/ids.ts";
import type { CallInput, Message, Part } from "../domain/message.ts";
import type { Outcome } from "../domain/run.ts";
import type { RunState } from "../domain/run-state.ts";
import { readAfter } from "../engine/load.ts";
import { inOrder } from "../engine/transcript.ts";
import type { RunRow, Store, TicketRow } from "../ports/store.ts";
import { slotLines } from "./crash-state.ts";
import type { WorldEffect } from "./crash-world.ts";

export interface RunStory {
  /** The start key, or of a delegate's run its parent's and the call: the same in every play of a scenario. */
  readonly key: string;
  /** "completed", "cancelled", "stopped steps", "failed model-refused" … or "open". */
  readonly outcome: string;
  /** One line per message, in the order a model sees them. */
  readonly transcript: readonly string[];
  readonly row: RunRow;
  readonly entries: readonly Entry[];
  readonly messages: readonly Message[];
  /** The thread's newest messages as the store's projection has them. */
  readonly thread: readonly Message[];
  readonly tickets: readonly TicketRow[];
  /** What the journal folds to; undefined when it does not. */
  readonly state: RunState | undefined;
  /** The thread's state as the store has it now, one line per key. */
  readonly threadState: readonly string[];
}

const enough = 10_000;

export async function readStories(store: Store, scope: Scope, births: Iterable<RunId>): Promise<readonly RunStory[]> {
  const stories: RunStory[] = [];
  for (const run of births) {
    const row = await store.run({ scope, run });
    if (row) stories.push(await readStory(store, row));
  }
  return stories.sort((a, b) => (a.key < b.key ? -1 : 1));
}

async function readStory(store: Store, row: RunRow): Promise<RunStory> {
  const { scope, run, thread } = row;
  const entries = await readAfter(row, 0, store);
  const messages = inOrder(messagesOf(entries));
  const ended = entries.find((entry) => entry.type === "run-ended");
  const created = entries[0] as Entry & RunCreated;
  return {
    key: await keyOf(created, store),
    outcome: ended ? outcomeText(ended.outcome) : "open",
    transcript: messages.map((message) => lineOf(message).replaceAll(`${run}.`, "this run.")),
    row,
    entries,
    messages,
    thread: await store.readThread({ scope, thread, limit: enough }),
    tickets: await store.tickets({ scope, run, limit: enough }),
    state: folded(entries),
    threadState: slotLines(await store.threadState({ scope, thread })),
  };
}

async function keyOf({ identity, request }: RunCreated, store: Store): Promise<string> {
  const { scope, parentRun, parentCall } = identity;
  if (parentRun === undefined || parentCall === undefined) return request.key;
  const [above] = await store.readRun({ scope, run: parentRun, after: 0, limit: 1 });
  const parent = above?.type === "run-created" ? await keyOf(above, store) : parentRun;
  return `${parent}${parentCall.slice(parentRun.length)}`;
}

function folded(entries: readonly Entry[]): RunState | undefined {
  try {
    return foldAll(entries);
  } catch {
    return undefined; // the checks say why
  }
}

export function messagesOf(entries: readonly Entry[]): readonly Message[] {
  const [created] = entries as readonly (Entry & RunCreated)[];
  return entries.flatMap((entry) => {
    if (entry.type !== "message-appended") return [];
    const { body } = entry;
    if (body.kind === "here") return [body.message];
    if (body.kind === "created") return created?.input[body.index] ?? [];
    const brought = entries[body.from - 1];
    return brought?.type === "input-received" ? [brought.message] : [];
  });
}

function outcomeText(outcome: Outcome): string {
  if (outcome.kind === "stopped") return `stopped ${outcome.code}`;
  if (outcome.kind === "failed") return `failed ${outcome.error.code}`;
  return outcome.kind;
}

function lineOf(message: Message): string {
  const parts = message.parts.map(partText).filter((text) => text !== "");
  return `${message.role}: ${parts.join(" ")}`;
}

/** Of an error only the code: its words may say which of several things was found out first. */
function partText(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return `[${part.tool} ${inputText(part.input)}]`;
    case "tool-result": {
      const { result } = part;
      if (result.kind === "error") return `${part.tool} ! ${result.code}`;
      const { content, value } = result;
      return `${part.tool} = ${content ? `content of ${content.bytes} bytes` : JSON.stringify(value)}`;
    }
    default:
      return JSON.stringify(part);
  }
}

function inputText(input: CallInput): string {
  return input.kind === "json" ? JSON.stringify(input.value) : input.text;
}

/** `1.0 refund {"refunded":"42"} of start-key`, sorted: what happened outside, by call. */
export function effectLines(effects: readonly WorldEffect[], stories: readonly RunStory[]): readonly string[] {
  const keys = new Map<string, string>(stories.map((story) => [story.row.run, story.key]));
  const lines = effects.map(({ run, call, tool, result }) => {
    return `${call.slice(run.length + 1)} ${tool} ${JSON.stringify(result)} of ${keys.get(run) ?? run}`;
  });
  return lines.sort();
}
