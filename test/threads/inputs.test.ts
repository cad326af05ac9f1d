/** Inputs of a run: sent, changed and taken back until they are read, and each read at most once. */
import { expect, test } from "vitest";
import { z } from "zod";
import { defaultScope, type InputId } from "../../src/domain/ids.ts";
import { tool } from "../../src/index.ts";
import { inboxLimit } from "../../src/ports/store.ts";
import { aModelThat, anAgentWith, callsTool, given, says } from "../../src/testing/story.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import { onEveryStore } from "../scenarios/stores.ts";
import { aBusyThread, until } from "./busy-story.ts";

const scope = defaultScope;

onEveryStore((freshStore) => {
  test("an input of a running run is read at its next step", async () => {
    await using busy = await aBusyThread("tool", { store: freshStore() });
    const { story, first } = busy;
    await first.send("also", { by: "ana" });
    await busy.goOn();
    await story.expectReply(first, "Heard first, also, worked.");
    const journal = await story.journal(first);
    const [received] = journal.filter((entry) => entry.type === "input-received");
    expect(received).toMatchObject({ by: "ana", epoch: null });
    const read = journal.filter((entry) => entry.type === "message-appended" && entry.body.kind === "input");
    expect(read).toMatchObject([{ body: { from: received?.seq } }]);
    const step = journal.find((entry) => entry.type === "step-started" && entry.step === 2);
    expect(read[0]?.seq).toBeLessThan(step?.seq ?? 0);
  });

  test("an input of a run that was about to end makes it take another step", async () => {
    await using busy = await aBusyThread("model", { store: freshStore() });
    const { story, first } = busy;
    await first.send("wait");
    await busy.goOn();
    await story.expectReply(first, "Heard first, wait.");
    expect(await story.expectOutcome(first, "completed")).toMatchObject({ steps: 2 });
  });

  test("an edit keeps the place of what it replaces, and a withdrawn input is never read", async () => {
    await using busy = await aBusyThread("approval", { store: freshStore() });
    const { story, first } = busy;
    const one = await first.send("one");
    const two = await first.send("two");
    await first.send("three");
    const four = await first.send("four");
    const edited = await (await one.edit("1")).edit("uno");
    await two.withdraw({ by: "ana" });
    await four.edit("cuatro");
    expect(edited.id).not.toBe(one.id);
    await busy.restart();
    await busy.goOn();
    await story.expectReply(first, "Heard first, uno, three, cuatro, ran.");
  });

  test("the same key sends, edits and withdraws once", async () => {
    await using busy = await aBusyThread("approval", { store: freshStore() });
    const { story, first, store } = busy;
    const sent = await first.send("one", { key: "k1" });
    expect((await first.send("one", { key: "k1" })).id).toBe(sent.id);
    const edited = await sent.edit("uno", { key: "k2" });
    const before = await store.head();
    expect((await sent.edit("uno", { key: "k2" })).id).toBe(edited.id);
    expect(await store.head()).toBe(before);
    const gone = await first.send("gone", { key: "k3" });
    await gone.withdraw({ key: "k4" });
    await gone.withdraw({ key: "k4" });
    await gone.withdraw();
    expect(await store.head()).toBe(before + 2);
    await busy.goOn();
    await story.expectReply(first, "Heard first, uno, ran.");
  });

  test("what was read can be neither changed nor taken back, and nothing is written", async () => {
    const guarded = tool({
      name: "guarded",
      description: "Asks",
      input: z.object({}),
      needsApproval: true,
      execute: () => 1,
    });
    const model = aModelThat(callsTool("guarded"), callsTool("guarded"), says("Done."));
    const definition = freshStore();
    await using story = await given(anAgentWith(guarded), model, { store: definition });
    const store = await definition.open({ clock: story.t.clock, logger: silentLogger });
    const run = await story.userSays("go");
    await story.expectWaitingFor(run, "guarded");
    const sent = await run.send("also");
    await story.approve(run, "guarded");
    await until(async () => story.modelSaw.length === 2);
    await story.expectWaitingFor(run, "guarded");
    const before = await store.head();
    await expect(sent.edit("late")).rejects.toMatchObject({ code: "input-taken", details: { run: run.id } });
    await expect(sent.withdraw()).rejects.toMatchObject({ code: "input-taken", details: { run: run.id } });
    expect(await store.head()).toBe(before);
    await story.approve(run, "guarded");
    await story.expectReply(run, "Done.");
    const ended = await store.head();
    await expect(sent.edit("later")).rejects.toMatchObject({ code: "run-ended" });
    expect(await store.head()).toBe(ended);
    await store.close();
  });

  test("an edit of what was taken back, and a withdrawal of what never was, are refused as not found", async () => {
    await using busy = await aBusyThread("approval", { store: freshStore() });
    const { first, store } = busy;
    const sent = await first.send("one");
    await sent.withdraw();
    const before = await store.head();
    await expect(sent.edit("uno")).rejects.toMatchObject({ code: "input-not-found", details: { run: first.id } });
    const fact = { type: "input-withdrawn", input: "nothing" as InputId, by: "ana" } as const;
    expect(await store.post({ scope, run: first.id, key: "k", fact })).toEqual({
      kind: "refused",
      code: "input-not-found",
    });
    expect(await store.head()).toBe(before);
  });

  test("what was replaced by an edit can be neither changed nor taken back: it is there no more", async () => {
    await using busy = await aBusyThread("approval", { store: freshStore() });
    const { story, first, store } = busy;
    const sent = await first.send("one");
    const edited = await sent.edit("uno");
    const before = await store.head();
    for (const act of [() => sent.withdraw(), () => sent.edit("eins")]) {
      await expect(act()).rejects.toMatchObject({ code: "input-not-found", details: { run: first.id } });
    }
    expect(await store.head()).toBe(before);
    await edited.withdraw();
    await expect(sent.withdraw()).rejects.toMatchObject({ code: "input-not-found" });
    await busy.goOn();
    await story.expectReply(first, "Heard first, ran.");
  });

  test("an ended run and an unknown one take no input", async () => {
    await using busy = await aBusyThread("created", { store: freshStore() });
    const { first, second, story, store } = busy;
    await busy.goOn();
    await story.expectOutcome(second, "completed");
    const before = await store.head();
    await expect(first.send("late")).rejects.toMatchObject({ code: "run-ended", details: { run: first.id } });
    await expect(story.t.runtime.runs.get("nobody").send("hello")).rejects.toMatchObject({ code: "run-not-found" });
    expect(await store.head()).toBe(before);
  });

  test("a full inbox refuses sends and steers, still takes an edit, and has room again after a withdrawal", async () => {
    await using busy = await aBusyThread("created", { store: freshStore() });
    const { first, store } = busy;
    const many = Array.from({ length: inboxLimit }, (_, index) => first.send(`message ${index}`));
    const [one] = await Promise.all(many);
    const before = await store.head();
    await expect(first.send("one too many")).rejects.toMatchObject({ code: "inbox-full", retry: "later" });
    await expect(busy.next("steer")).rejects.toMatchObject({ code: "inbox-full", details: { run: first.id } });
    expect(await store.head()).toBe(before);
    const edited = await one?.edit("changed");
    await expect(first.send("still too many")).rejects.toMatchObject({ code: "inbox-full" });
    await edited?.withdraw();
    expect((await busy.next("steer")).id).toBe(first.id);
    await expect(first.send("full again")).rejects.toMatchObject({ code: "inbox-full" });
  });

  test("options that do not fit and several messages at once are refused before anything is written", async () => {
    await using busy = await aBusyThread("approval", { store: freshStore() });
    const { first, store } = busy;
    const sent = await first.send("one");
    await busy.story.t.settle();
    const before = await store.head();
    const messages = ["a", "b"].map((id) => ({ id, role: "user", parts: [], visibility: "all" }));
    await expect(first.send(messages as never)).rejects.toMatchObject({ code: "invalid-input" });
    for (const wrong of [{ by: 7 }, { by: "" }, { key: "" }, { key: 7 }, { reason: "x" }, null, "fast"]) {
      const what = JSON.stringify(wrong);
      await expect(first.send("two", wrong as never), what).rejects.toMatchObject({ code: "invalid-options" });
      await expect(sent.edit("uno", wrong as never), what).rejects.toMatchObject({ code: "invalid-options" });
      await expect(sent.withdraw(wrong as never), what).rejects.toMatchObject({ code: "invalid-options" });
    }
    expect(await store.head()).toBe(before);
  });
});
