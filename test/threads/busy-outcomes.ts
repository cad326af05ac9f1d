/** What must be seen after the message of a cell was sent: by answer, whatever the first run stood at. */
import { expect } from "vitest";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope, type ThreadId } from "../../src/domain/ids.ts";
import type { Busy } from "./busy-story.ts";
import { type Answer, type Cell, closedCall, type RunStands } from "./busy-table.ts";

/** What the first run's tool gave, where it had one and was let go on. */
const gave: Readonly<Record<RunStands, string | undefined>> = {
  created: undefined,
  model: undefined,
  tool: "worked",
  approval: "ran",
  input: "answered",
  "unknown-outcome": "done",
  pause: undefined,
  timer: undefined,
  quarantined: undefined,
};

export interface Sent extends Cell {
  readonly busy: Busy;
}

/** Every fact that came from outside, in the order of their runs: what a repeat must not add to. */
export async function outsideFacts({ store, story }: Busy): Promise<readonly string[]> {
  const runs = await store.runs({ scope: defaultScope, order: "oldest", limit: 100 });
  const facts = await Promise.all(
    runs.map(async ({ run }) =>
      (await story.journal({ id: run })).filter(({ epoch }) => epoch === null).map(({ type }) => `${run} ${type}`),
    ),
  );
  return facts.flat();
}

/** The message is sent and answered as the table says; `run` is what the caller gets. */
export async function expectAnswer({ busy, choice, answer }: Sent): Promise<void> {
  if (answer === "busy") return expectRefused({ busy, choice });
  const run = await busy.next(choice);
  const facts = await outsideFacts(busy);
  expect((await busy.next(choice)).id).toBe(run.id);
  expect(await outsideFacts(busy)).toEqual(facts);
  const taken = answer === "answers" || answer === "steered";
  expect(run.id === busy.first.id).toBe(taken);
}

async function expectRefused({ busy, choice }: Pick<Sent, "busy" | "choice">): Promise<void> {
  const { store, first } = busy;
  const before = await store.head();
  const open = await store.tickets({ scope: defaultScope, run: first.id, status: "open", limit: 10 });
  const refusal = await busy.next(choice).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  const { status } = await first.status();
  expect(refusal).toMatchObject({
    code: "thread-busy",
    details: { run: first.id, status, tickets: open.map(({ ticket }) => ticket.id) },
  });
  expect(await store.head()).toBe(before);
}

/** The ends of all runs of the thread, once the first one was let go on. */
export async function expectEnd(sent: Sent): Promise<void> {
  const { busy, answer, choice } = sent;
  if (answer === "interrupted" || answer === "superseded") await expectTakeover(sent);
  else if (answer === "answers") await busy.story.expectReply(busy.first, "Heard first, next.");
  else {
    await busy.goOn();
    await busy.story.expectReply(busy.first, firstReply(sent));
  }
  await expectReplies(sent);
  if (answer === "busy") return;
  const facts = await outsideFacts(busy);
  await busy.next(choice);
  expect(await outsideFacts(busy)).toEqual(facts);
}

function firstReply({ stands, answer }: Sent): string {
  const value = gave[stands];
  const more = value === undefined ? "" : `, ${value}`;
  if (answer === "steered") return `Heard first, next${more}.`;
  return value === undefined ? "Begun." : `Heard first${more}.`;
}

const order: Readonly<Record<Answer, { readonly second: string; readonly next?: string }>> = {
  queued: { second: "first, second", next: "first, second, next" },
  answers: { second: "first, second, next" },
  steered: { second: "first, next, second" },
  interrupted: { second: "first, next, second", next: "first, next" },
  superseded: { second: "first, next, second", next: "first, next" },
  busy: { second: "first, second" },
};

/** Every message is read by exactly one run, in the order that the choice asks for. */
async function expectReplies({ busy, stands, answer, choice }: Sent): Promise<void> {
  const { story, store, second } = busy;
  const ended = answer === "interrupted" || answer === "superseded";
  const value = ended || answer === "answers" ? undefined : gave[stands];
  const unread = ended && stands === "created"; // it never started: nothing of it came into the thread
  const heard = (said: string): string => {
    const words = unread ? said.replace("first, ", "") : said;
    return `Heard ${[words, ...(value === undefined ? [] : [value])].join(", ")}.`;
  };
  const expected = order[answer];
  await story.expectReply(second, heard(expected.second));
  const runs = await store.countRuns({ scope: defaultScope });
  expect(runs).toBe(expected.next === undefined ? 2 : 3);
  if (expected.next !== undefined) await story.expectReply(await busy.next(choice), heard(expected.next));
  const thread = await store.thread({ scope: defaultScope, thread: "t" as ThreadId });
  expect(thread).toMatchObject({ queued: 0 });
  expect(thread?.current).toBeUndefined();
}

async function expectTakeover({ busy, stands, answer }: Sent): Promise<void> {
  const { story, store, first } = busy;
  if (stands === "created") await busy.goOn();
  expect(await story.expectOutcome(first, "cancelled")).toMatchObject({ reason: answer });
  const journal = await story.journal(first);
  expect(journal.filter(isCancel)).toMatchObject([{ by: "ben", instead: answer }]);
  const tickets = await store.tickets({ scope: defaultScope, run: first.id, limit: 10 });
  expect(tickets.length).toBe(["created", "model", "tool"].includes(stands) ? 0 : 1);
  for (const { settlement } of tickets) {
    expect(settlement).toMatchObject({ by: "engine", decision: { kind: "closed", why: answer } });
  }
  const code = closedCall[stands];
  expect(await story.results(first)).toMatchObject(code === undefined ? [] : [{ kind: "error", code }]);
}

function isCancel(entry: Entry): boolean {
  return entry.type === "cancel-requested";
}
