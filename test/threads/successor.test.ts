/** Messages that a run has not read when it ends: a successor, born with the end, reads them; a cancel ends them too. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { Entry } from "../../src/domain/entry.ts";
import {
  defaultScope,
  type InputId,
  type MessageId,
  type RunId,
  successorId,
  successorKey,
} from "../../src/domain/ids.ts";
import { textOf } from "../../src/domain/message.ts";
import { HoldfastError, tool } from "../../src/index.ts";
import { nodeHash } from "../../src/platform/node-hash.ts";
import type { Model, ModelRequest } from "../../src/ports/provider.ts";
import type { Commit, Store, StoreDefinition } from "../../src/ports/store.ts";
import { type ScriptedAnswer, scripted } from "../../src/providers/scripted.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { anAgentWith, callsTool, given, type Story, type StoryAgent } from "../../src/testing/story.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import { aGate } from "../scenarios/moments.ts";
import { onEveryStore } from "../scenarios/stores.ts";
import { aBusyThread, until } from "./busy-story.ts";

const scope = defaultScope;
const onT = { thread: "t" };
const guarded = tool({
  name: "guarded",
  description: "Asks",
  input: z.object({}),
  needsApproval: true,
  execute: () => "ran",
});

/** Calls the tool when the last thing it hears is "first" or "again", and else repeats what people have said. */
function answer({ messages }: ModelRequest): ScriptedAnswer {
  const last = messages.at(-1);
  const said = messages.filter(({ role }) => role === "user").map(textOf);
  const asks = last?.role === "user" && ["first", "again"].includes(textOf(last));
  return asks ? callsTool("guarded") : `Heard ${said.join(", ")}.`;
}

const repeating: Model = scripted(Array.from({ length: 8 }, () => answer));

interface Stage {
  readonly store: StoreDefinition;
  readonly agent?: Partial<StoryAgent>;
  readonly model?: Model;
  readonly intercept?: Intercept;
}

function aStory({ store, agent = {}, model = repeating, intercept }: Stage): Promise<Story> {
  const saw: ModelRequest[] = [];
  const options = { store, ...(intercept ? { intercept } : {}) };
  return given({ ...anAgentWith(guarded), ...agent }, { model, saw }, options);
}

async function endOf(story: Story, run: { readonly id: RunId }): Promise<Extract<Entry, { type: "run-ended" }>> {
  const last = (await story.journal(run)).at(-1);
  if (last?.type !== "run-ended") throw new Error(`Run ${run.id} ends with ${last?.type}`);
  return last;
}

async function birthOf(story: Story, id: RunId): Promise<Extract<Entry, { type: "run-created" }>> {
  const [created] = await story.journal({ id });
  if (created?.type !== "run-created") throw new Error(`Run ${id} is not there`);
  return created;
}

function nextOf({ id }: { readonly id: RunId }): { readonly id: RunId } {
  return { id: `${id}.next` as RunId };
}

onEveryStore((freshStore) => {
  test("steps are spent: the successor reads what was left in its order, before those that are queued", async () => {
    await using story = await aStory({ store: freshStore(), agent: { budget: { steps: 1 } } });
    const first = await story.userSays("first", onT);
    await story.expectWaitingFor(first, "approval");
    const second = await story.userSays("second", { ...onT, whenBusy: "queue" });
    await first.send("one");
    const two = await first.send("two");
    await (await first.send("gone")).withdraw();
    await story.userSays("three", { ...onT, whenBusy: "steer" });
    await two.edit("dos");
    await story.approve(first, "guarded");
    expect(await story.expectOutcome(first, "stopped")).toMatchObject({ code: "steps" });
    const next = nextOf(first);
    await story.expectReply(next, "Heard first, one, dos, three.");
    await story.expectReply(second, "Heard first, one, dos, three, second.");
    expect((await endOf(story, first)).successor).toBe(next.id);
    const [before, after] = [await birthOf(story, first.id), await birthOf(story, next.id)];
    expect(after.identity).toEqual({
      ...before.identity,
      run: next.id,
      rootRun: next.id,
      origin: "internal",
      mode: "internal_wake",
    });
    expect(after.request).toMatchObject({ origin: "internal", key: `next:${first.id}`, inputCount: 3 });
    expect([after.manifest, after.budget]).toEqual([before.manifest, before.budget]);
  });

  test("time is up: the successor has the same context and a time of its own", async () => {
    const wallTime = 60_000;
    const agent = { budget: { wallTime }, context: z.object({ who: z.string() }) };
    await using story = await aStory({ store: freshStore(), agent });
    const first = await story.userSays("first", { ...onT, context: { who: "ana" } } as never);
    await story.expectWaitingFor(first, "approval");
    await first.send("one");
    await story.pass("2m");
    await story.expectOutcome(first, "timed-out");
    const next = nextOf(first);
    await story.expectReply(next, "Heard first, one.");
    const ended = await endOf(story, first);
    expect(ended).toMatchObject({ successor: next.id });
    expect(await birthOf(story, next.id)).toMatchObject({
      context: { who: "ana" },
      deadlineAt: ended.at + wallTime,
      at: ended.at,
    });
  });

  test("the model fails for good: what came meanwhile is read by the successor, steers and sends after the end too", async () => {
    const gate = aGate();
    let calls = 0;
    const model: Model = {
      description: repeating.description,
      async *call(request, signal) {
        calls += 1;
        if (calls === 1) {
          await gate.opened;
          throw new HoldfastError("model-refused", "No");
        }
        yield* repeating.call(request, signal);
      },
    };
    await using story = await aStory({ store: freshStore(), model });
    const first = await story.userSays("first", onT);
    await until(() => calls === 1);
    await first.send("again");
    gate.open();
    await story.expectOutcome(first, "failed");
    const next = nextOf(first);
    await story.expectWaitingFor(next, "approval");
    await expect(first.send("late")).rejects.toMatchObject({ code: "run-ended" });
    expect((await story.userSays("more", { ...onT, whenBusy: "steer" })).id).toBe(next.id);
    await story.approve(next, "guarded");
    await story.expectReply(next, "Heard first, again, more.");
  });

  test("a successor that ends early has a successor", async () => {
    await using story = await aStory({ store: freshStore(), agent: { budget: { steps: 1 } } });
    const first = await story.userSays("first", onT);
    await story.expectWaitingFor(first, "approval");
    await first.send("again");
    await story.approve(first, "guarded");
    await story.expectOutcome(first, "stopped");
    const next = nextOf(first);
    await story.expectWaitingFor(next, "approval");
    await story.userSays("bye", { ...onT, whenBusy: "steer" });
    await story.approve(next, "guarded");
    await story.expectOutcome(next, "stopped");
    await story.expectReply(nextOf(next), "Heard first, again, bye.");
    expect("successor" in (await endOf(story, nextOf(next)))).toBe(false);
  });

  test("an input that comes while the end is being written is read by the successor", async () => {
    const definition = freshStore();
    let store: Store | undefined;
    let ends = 0;
    const intercept: Intercept = async (call, proceed) => {
      const { entries, run } = (call.args[0] ?? {}) as Partial<Commit>;
      if (store && run && call.method === "commit" && entries?.at(-1)?.type === "run-ended") {
        ends += 1;
        const message = { id: "m" as MessageId, role: "user", visibility: "all" } as const;
        const parts = [{ type: "text", text: "just now" }] as const;
        const fact = {
          type: "input-received",
          input: "i" as InputId,
          message: { ...message, parts },
          by: "ana",
        } as const;
        if (ends === 1) await store.post({ scope, run, key: "k", fact });
      }
      return proceed();
    };
    await using story = await aStory({ store: definition, agent: { budget: { steps: 1 } }, intercept });
    store = await definition.open({ clock: story.t.clock, logger: silentLogger });
    const first = await story.userSays("first", onT);
    await story.approve(first, "guarded");
    await story.expectOutcome(first, "stopped");
    await story.expectReply(nextOf(first), "Heard first, just now.");
    await store.close();
  });

  test("a cancelled run has no successor: its unread inputs end with it, and are named", async () => {
    await using busy = await aBusyThread("approval", { store: freshStore() });
    const { story, first, second, store } = busy;
    const one = await first.send("one");
    await (await first.send("gone")).withdraw();
    const two = await (await first.send("two")).edit("dos");
    await first.cancel();
    await story.expectOutcome(first, "cancelled");
    await story.expectReply(second, "Heard first, second.");
    const ended = await endOf(story, first);
    expect(ended.unread).toEqual([one.id, two.id]);
    expect("successor" in ended).toBe(false);
    expect(await store.countRuns({ scope })).toBe(2);
    expect(await first.terminalEvent()).toMatchObject({ type: "run-ended", unread: [one.id, two.id] });
  });

  test("an end that leaves nothing unread says so by saying nothing", async () => {
    await using busy = await aBusyThread("approval", { store: freshStore() });
    const { story, first, second } = busy;
    await (await first.send("gone")).withdraw();
    await first.cancel();
    for (const run of [first, second]) {
      await run.result();
      expect(Object.keys(await endOf(story, run))).not.toEqual(expect.arrayContaining(["unread"]));
      expect(Object.keys(await endOf(story, run))).not.toEqual(expect.arrayContaining(["successor"]));
    }
  });

  test("a run that is cancelling takes nothing more: a steer is queued as a run of its own", async () => {
    const claims = heldClaims();
    await using busy = await aBusyThread("approval", { store: freshStore(), intercept: claims.intercept });
    const { story, first, second, store } = busy;
    const sent = await first.send("one");
    await story.expectWaitingFor(first, "approval");
    claims.hold();
    await first.cancel();
    expect((await first.status()).status).toBe("waiting");
    await expect(first.send("late")).rejects.toMatchObject({ code: "run-ended", details: { run: first.id } });
    await expect(sent.edit("uno")).rejects.toMatchObject({ code: "run-ended" });
    const own = await busy.next("steer");
    expect([first.id, second.id]).not.toContain(own.id);
    expect((await busy.next("steer")).id).toBe(own.id);
    expect(await store.run({ scope, run: own.id })).toMatchObject({ queued: true, status: "created" });
    claims.letGo();
    await story.expectReply(own, "Heard first, second, next.");
    expect((await endOf(story, first)).unread).toEqual([sent.id]);
  });

  test("an answer for a run that is cancelling is queued as a run of its own", async () => {
    const claims = heldClaims();
    await using busy = await aBusyThread("input", { store: freshStore(), intercept: claims.intercept });
    const { story, first, second, store } = busy;
    claims.hold();
    await first.cancel();
    const own = await busy.next("default");
    expect([first.id, second.id]).not.toContain(own.id);
    expect(await store.run({ scope, run: own.id })).toMatchObject({ queued: true, status: "created" });
    claims.letGo();
    await story.expectReply(own, "Heard first, second, next.");
    expect(await story.expectOutcome(first, "cancelled")).toBeDefined();
  });
});

/** A run that waits stays as it is while nobody claims it. */
function heldClaims(): { readonly intercept: Intercept; readonly hold: () => void; readonly letGo: () => void } {
  const gate = aGate();
  let held = false;
  return {
    intercept: async (call, proceed) => {
      if (held && call.method === "claim") await gate.opened;
      return proceed();
    },
    hold: () => {
      held = true;
    },
    letGo: () => gate.open(),
  };
}

test("the ids of successors are the same every time and never too long, however many there are", () => {
  const hash = (text: string): string => nodeHash.sha256(text);
  let run = "r" as RunId;
  const seen = new Set<string>();
  for (let count = 0; count < 300; count += 1) {
    const next = successorId(run, hash);
    expect(successorId(run, hash)).toBe(next);
    for (const id of [next, successorKey(run, hash)]) expect(Buffer.byteLength(id)).toBeLessThanOrEqual(448);
    seen.add(next);
    run = next;
  }
  expect(seen.size).toBe(300);
  expect(successorId("ü".repeat(256) as RunId, hash)).toMatch(/^[0-9a-f]{64}$/);
});
