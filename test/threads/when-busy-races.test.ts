/** Messages that meet each other, a cancel or the end of the run on a busy thread. */
import { expect, test } from "vitest";
import { defaultScope, type MessageId, type RunId, type ThreadId } from "../../src/domain/ids.ts";
import type { Message } from "../../src/domain/message.ts";
import type { Commit, Store } from "../../src/ports/store.ts";
import type { WatchEvent } from "../../src/runtime/runtime.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { aGate, aMoment } from "../scenarios/moments.ts";
import { onEveryStore } from "../scenarios/stores.ts";
import { outsideFacts } from "./busy-outcomes.ts";
import { aBusyThread, type Busy, until } from "./busy-story.ts";

const scope = defaultScope;
const thread = "t" as ThreadId;

function said(id: string): Message {
  return { id: id as MessageId, role: "user", parts: [{ type: "text", text: id }], visibility: "all" };
}

async function types(events: AsyncIterable<WatchEvent>): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const { type } of events) seen.push(type);
  return seen;
}

async function startOrder({ store }: Busy): Promise<readonly RunId[]> {
  const messages = await store.messages({ scope, thread, order: "oldest", limit: 100 });
  return [...new Set(messages.map(({ run }) => run))];
}

async function cancels({ story }: Busy, run: { readonly id: RunId }): Promise<number> {
  return (await story.journal(run)).filter(({ type }) => type === "cancel-requested").length;
}

onEveryStore((freshStore) => {
  test("two interrupts in a row cancel the run once, and the newest message is read first", async () => {
    await using busy = await aBusyThread("approval", { store: freshStore() });
    const { story, first, second } = busy;
    const [third, fourth] = await Promise.all([busy.next("interrupt", "third"), busy.next("interrupt", "fourth")]);
    expect(await story.expectOutcome(first, "cancelled")).toMatchObject({ reason: "interrupted" });
    expect(await cancels(busy, first)).toBe(1);
    for (const run of [second, third, fourth]) await story.expectOutcome(run, "completed");
    expect(await startOrder(busy)).toEqual([first.id, fourth.id, third.id, second.id]);
  });

  test("an interrupt of the run that interrupted cancels that one too", async () => {
    await using busy = await aBusyThread("created", { store: freshStore() });
    const { story, first } = busy;
    const third = await busy.next("interrupt", "third");
    await busy.goOn();
    await story.expectOutcome(third, "completed");
    const fourth = await story.userSays("first", { thread: "t", key: "fourth" });
    await story.expectReply(fourth, "Begun.");
    expect(await cancels(busy, first)).toBe(1);
    expect(await cancels(busy, third)).toBe(0);
  });

  test("a supersede while a cancel is asked for leaves the cancel's reason, and is next all the same", async () => {
    await using busy = await aBusyThread("tool", { store: freshStore() });
    const { story, first, second } = busy;
    // By another process and without a hint: the run does not end before the supersede comes.
    const fact = { type: "cancel-requested", by: "ana", reason: "enough" } as const;
    await busy.store.post({ scope, run: first.id, key: "enough", fact });
    const third = await busy.next("supersede");
    expect(await story.expectOutcome(first, "cancelled")).toMatchObject({ reason: "enough" });
    expect(await cancels(busy, first)).toBe(1);
    await story.expectOutcome(second, "completed");
    expect(await startOrder(busy)).toEqual([first.id, third.id, second.id]);
  });

  test("on a thread that is free every choice starts a run at once", async () => {
    await using busy = await aBusyThread("created", { store: freshStore() });
    await busy.goOn();
    await busy.story.expectOutcome(busy.second, "completed");
    for (const choice of ["default", "queue", "steer", "interrupt", "supersede", "reject"] as const) {
      const run = await busy.next(choice, choice);
      await busy.story.expectOutcome(run, "completed");
    }
    expect(await busy.store.countRuns({ scope, thread })).toBe(8);
  });

  test("the commit that ends a run makes the next one the thread's", async () => {
    const seen: unknown[] = [];
    let store: Store | undefined;
    const intercept: Intercept = async (call, proceed) => {
      const answer = await proceed();
      const ends = call.method === "commit" && (call.args[0] as Commit).entries.at(-1)?.type === "run-ended";
      if (ends && store) seen.push((await store.thread({ scope, thread }))?.current);
      return answer;
    };
    await using busy = await aBusyThread("approval", { store: freshStore(), intercept });
    store = busy.store;
    const { story, first, second } = busy;
    const third = await busy.next("supersede");
    await story.expectOutcome(second, "completed");
    expect(seen).toEqual([{ run: third.id, status: "created" }, { run: second.id, status: "created" }, undefined]);
    expect(await store.thread({ scope, thread })).toMatchObject({ queued: 0, latest: third.id });
    expect(await startOrder(busy)).toEqual([first.id, third.id, second.id]);
  });

  test("of many answers to one question one counts, and the others are runs of their own", async () => {
    await using busy = await aBusyThread("input", { store: freshStore() });
    const { story, first, store } = busy;
    const keys = ["a", "b", "c", "d", "e"];
    const runs = await Promise.all(keys.map((key) => busy.next("default", key)));
    expect(runs.filter(({ id }) => id === first.id)).toHaveLength(1);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(5);
    await Promise.all(runs.map((run) => story.expectOutcome(run, "completed")));
    expect(await store.countRuns({ scope, thread })).toBe(6);
  });

  test("a message that comes after the answer and before the run has read it is queued", async () => {
    const gate = aGate();
    let held = false;
    const intercept: Intercept = async (call, proceed) => {
      if (held && call.method === "claim") await gate.opened;
      return proceed();
    };
    await using busy = await aBusyThread("input", { store: freshStore(), intercept });
    const { story, first } = busy;
    held = true;
    expect((await busy.next("default", "answer")).id).toBe(first.id);
    expect((await first.status()).status).toBe("waiting");
    const after = await busy.next("default", "after");
    expect(after.id).not.toBe(first.id);
    gate.open();
    await story.expectReply(first, "Heard first, next.");
    await story.expectReply(after, "Heard first, second, next, next.");
  });

  test("the same key at once, many times, steers once", async () => {
    await using busy = await aBusyThread("model", { store: freshStore() });
    const { story, first } = busy;
    const runs = await Promise.all(Array.from({ length: 10 }, () => busy.next("steer")));
    expect(new Set(runs.map(({ id }) => id))).toEqual(new Set([first.id]));
    await busy.goOn();
    await story.expectReply(first, "Heard first, next.");
  });

  test("whoever waits for the run to rest is told when a steer has left it waiting", async () => {
    const gate = aGate();
    let held = false;
    const intercept: Intercept = async (call, proceed) => {
      if (held && call.method === "release") await gate.opened;
      return proceed();
    };
    await using busy = await aBusyThread("approval", { store: freshStore(), intercept });
    const { story, first } = busy;
    held = true;
    await busy.next("steer");
    const seen = types(story.t.runtime.runs.get(first.id).watch({ until: "idle" }));
    const idle = first.idle({ signal: AbortSignal.timeout(5_000) });
    await aMoment();
    gate.open();
    expect(await idle).toMatchObject({ status: "waiting", tickets: [{ kind: "approval" }] });
    expect((await seen).at(-1)).toBe("input-received");
  });

  test("steers with keys of their own are all read, in the order they came", async () => {
    await using busy = await aBusyThread("approval", { store: freshStore() });
    const { story, first } = busy;
    for (const text of ["one", "two", "three"]) await story.userSays(text, { thread: "t", whenBusy: "steer" });
    await busy.goOn();
    await story.expectReply(first, "Heard first, one, two, three, ran.");
  });

  test.each([
    ["steer", "approval"],
    ["default", "input"],
    ["queue", "tool"],
    ["interrupt", "timer"],
  ] as const)(
    "%s on a run at %s: its key with another request is refused and names the run",
    async (choice, stands) => {
      await using busy = await aBusyThread(stands, { store: freshStore() });
      const run = await busy.next(choice);
      const facts = await outsideFacts(busy);
      const other = { thread: "t", key: "next", ...(choice === "default" ? {} : { whenBusy: choice }) };
      await expect(busy.story.userSays("another", other)).rejects.toMatchObject({
        code: "start-key-conflict",
        details: { key: "next", run: run.id },
      });
      expect(await outsideFacts(busy)).toEqual(facts);
    },
  );

  test("several messages at once cannot steer, and nothing is written; on a free thread they start a run", async () => {
    await using busy = await aBusyThread("approval", { store: freshStore() });
    const { story, store } = busy;
    const { runtime } = story.t;
    const before = await store.head();
    const messages = [said("m1"), said("m2")];
    const steered = runtime.start(story.agent, messages, { thread: "t", whenBusy: "steer" });
    await expect(steered).rejects.toMatchObject({ code: "invalid-input" });
    expect(await store.head()).toBe(before);
    const free = await runtime.start(story.agent, messages, { thread: "free", whenBusy: "steer" });
    await story.expectReply(free, "Heard m1, m2.");
  });

  test("a steer that comes as the run ends is a run of its own", async () => {
    const gate = aGate();
    let held = false;
    const intercept: Intercept = async (call, proceed) => {
      if (held && call.method === "post") await gate.opened;
      return proceed();
    };
    await using busy = await aBusyThread("approval", { store: freshStore(), intercept });
    const { story, first, second, store } = busy;
    const ticket = await story.expectWaitingFor(first, "approval");
    held = true;
    const steering = busy.next("steer");
    await store.post({
      scope,
      run: first.id,
      key: "elsewhere",
      hash: ticket.hash,
      fact: { type: "ticket-decided", ticket: ticket.id, decision: { kind: "approve" }, by: "ana", key: "elsewhere" },
    });
    await story.pass("1m");
    await story.expectOutcome(first, "completed");
    await until(async () => (await second.status()).status === "done");
    gate.open();
    const run = await steering;
    expect([first.id, second.id]).not.toContain(run.id);
    await story.expectReply(run, "Heard first, second, next, ran.");
  });
});
