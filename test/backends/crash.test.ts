/**
 * A run that executes elsewhere, killed at every call of its process to the outside, before and after: whatever is cut, it
 * comes to the same end, the other side has each message once, and only what nobody acknowledged is unknown.
 */
import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import { remoteTaskKey } from "../../src/domain/backend/remote-turn.ts";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope, type RunId } from "../../src/domain/ids.ts";
import { readAfter } from "../../src/engine/load.ts";
import { agent, memory } from "../../src/index.ts";
import type { Birth } from "../../src/ports/birth.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { type FakeAnswer, type FakeRemote, fakeRemote, waitsFor } from "../../src/testing/fake-remote.ts";
import type { PortCall } from "../../src/testing/intercept.ts";
import { type TestRuntime, testRuntime } from "../../src/testing/test-runtime.ts";

interface Story {
  readonly script: () => readonly FakeAnswer[];
  readonly outcome: string;
  readonly messages: number;
  /** Asked for as soon as the other side works. */
  readonly cancels?: boolean;
}

const done = { status: { kind: "completed" }, output: { text: "done" } } as const;
const works = new Promise(() => undefined);

const stories: Readonly<Record<string, Story>> = {
  "a turn with a task": { script: () => [{ task: "t1", result: done }], outcome: "completed", messages: 1 },
  "a turn that is answered at once, without a task": { script: () => ["done"], outcome: "completed", messages: 1 },
  "a wait that is answered": {
    script: () => [
      { task: "t1", result: waitsFor("input", "which?") },
      { task: "t1", result: done },
    ],
    outcome: "completed",
    messages: 2,
  },
  "a cancel while the other side works": {
    script: () => [{ task: "t1", result: done, until: works }],
    outcome: "cancelled",
    messages: 1,
    cancels: true,
  },
};

interface Cut {
  readonly at: number;
  readonly way: "before" | "after";
}

interface Played {
  readonly entries: readonly Entry[];
  readonly backend: FakeRemote;
  readonly calls: readonly string[];
}

/** What is left when a process has died. */
interface Outside {
  readonly store: Store;
  readonly births: ReadonlySet<RunId>;
  readonly story: Story;
  readonly backend: FakeRemote;
}

const never: Promise<never> = new Promise(() => undefined);

async function play(story: Story, cut?: Cut): Promise<Played> {
  const backend = fakeRemote(story.script());
  const calls: string[] = [];
  const births = new Set<RunId>();
  let t: TestRuntime | undefined;
  const intercept = async <T>(call: PortCall, proceed: () => Promise<T>): Promise<T> => {
    if (call.method === "create") births.add((call.args[0] as Birth).entry.identity.run);
    if (call.port === "clock" || call.port === "bus") return proceed();
    const mine = calls.push(`${call.port}.${call.method}`) - 1;
    if (mine !== cut?.at) return proceed();
    if (cut.way === "after" && !story.cancels) await proceed().catch(() => undefined);
    t?.process.kill();
    return never;
  };
  const inner = memory();
  let opened: Store | undefined;
  const store: StoreDefinition = {
    ...inner,
    open: async (parts) => {
      opened ??= await inner.open(parts);
      return opened;
    },
  };
  t = await testRuntime({ agents: [agent({ name: "clerk", backend })], store, intercept });
  const real = opened as unknown as Store;
  const outside = { store: real, births, story, backend };
  for (let round = 0; round < 40; round += 1) {
    if (t.process.isDead()) await t.restart();
    if (await isOver(outside)) break;
    await act(t, outside);
    await t.advance("1m");
  }
  const run = (await runOf(outside)) as RunId;
  const entries = await readAfter({ scope: defaultScope, run }, 0, real);
  t.process.kill();
  return { entries, backend, calls };
}

/** Of the runs that somebody tried to start, the one that there is. */
async function runOf({ store, births }: Outside): Promise<RunId | undefined> {
  for (const run of births) if (await store.run({ scope: defaultScope, run })) return run;
  return undefined;
}

async function isOver(outside: Outside): Promise<boolean> {
  const run = await runOf(outside);
  return run !== undefined && (await outside.store.run({ scope: defaultScope, run }))?.status === "done";
}

async function isIntended({ store }: Outside, run: RunId): Promise<boolean> {
  const entries = await readAfter({ scope: defaultScope, run }, 0, store);
  return entries.some(({ type }) => type === "effect-intended");
}

/** The callers: whoever starts, cancels and answers. What they ask of a process that dies is asked again of the next. */
async function act(t: TestRuntime, outside: Outside): Promise<void> {
  const { store, story } = outside;
  const quietly = (asked: Promise<unknown>): void => void asked.catch(() => undefined);
  quietly(t.runtime.start("clerk", "go", { key: "start", thread: "t-1" }));
  await t.settle();
  const run = await runOf(outside);
  if (run && story.cancels && (await isIntended(outside, run)))
    quietly(t.runtime.runs.get(run).cancel({ key: "cancel" }));
  for (const { ticket, settlement } of run ? await store.tickets({ scope: defaultScope, run, limit: 10 }) : []) {
    if (settlement) continue;
    const { id, kind, hash } = ticket;
    const key = `${id}.answer`;
    if (kind === "input") quietly(t.runtime.tickets.decide(id, { kind: "answer", value: "42", hash, key }));
    if (kind === "unknown-outcome" && !story.cancels)
      quietly(t.runtime.tickets.decide(id, { kind: "mark-done", result: "done", hash, key }));
  }
  await t.settle();
}

function typesOf(entries: readonly Entry[], type: Entry["type"]): readonly Entry[] {
  return entries.filter((entry) => entry.type === type);
}

/** Turns whose task was durable before their outcome was unknown. */
function falselyUnknown(entries: readonly Entry[]): readonly Entry[] {
  const seen = new Set<string>();
  let open = "";
  return entries.filter((entry) => {
    if (entry.type === "effect-intended" && entry.kind === "remote") open = entry.effect;
    if (entry.type === "state-changed" && entry.key === remoteTaskKey) seen.add(open);
    return (
      entry.type === "effect-settled" &&
      entry.result.kind === "unknown" &&
      seen.has(entry.effect) &&
      !isCancelled(entries)
    );
  });
}

function isCancelled(entries: readonly Entry[]): boolean {
  return entries.some(({ type }) => type === "cancel-requested");
}

function check(story: Story, { entries, backend }: Played): void {
  const state = foldAll(entries);
  expect(state.outcome?.kind).toBe(story.outcome);
  expect(typesOf(entries, "run-ended")).toHaveLength(1);
  expect(state.tickets).toEqual([]);
  expect(falselyUnknown(entries)).toEqual([]);
  const messages = new Set(backend.turns.map(({ message }) => message));
  expect([...messages].filter((message) => backend.taken(message) > 1)).toEqual([]);
  expect(backend.turns).toHaveLength(messages.size); // nothing is sent again by itself
  expect(messages.size).toBeLessThanOrEqual(story.messages);
  if (story.cancels && backend.turns.length > 0) expect(backend.aborts.length).toBeGreaterThanOrEqual(1);
}

test.each(Object.entries(stories))("%s: killed at any call, it comes to the same", async (_name, story) => {
  const whole = await play(story);
  check(story, whole);
  expect(
    typesOf(whole.entries, "effect-settled").filter((e) => e.type === "effect-settled" && e.result.kind === "unknown"),
  ).toEqual([]);
  let unknown = 0;
  for (let at = 0; at < whole.calls.length; at += 1) {
    for (const way of ["before", "after"] as const) {
      const played = await play(story, { at, way });
      try {
        check(story, played);
      } catch (cause) {
        throw new Error(
          `cut ${way} call ${at}, ${whole.calls[at]}: ${(cause as Error).message}\n${played.entries.map((e) => JSON.stringify(e)).join("\n")}`,
          { cause },
        );
      }
      unknown += played.entries.some((e) => e.type === "ticket-opened" && e.ticket.kind === "unknown-outcome") ? 1 : 0;
    }
  }
  console.log(`${_name}: ${whole.calls.length * 2} cuts, ${unknown} remote unknown`);
  expect(whole.calls.length).toBeGreaterThan(10);
});
