import { expect, test } from "vitest";
import { z } from "zod";
import { textOf } from "../../src/domain/message.ts";
import { agent, createRuntime, type ModelRequest, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, callsTool, given, says } from "../../src/testing/story.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { aMoment } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const nothing = z.object({});
const ask = tool({ name: "ask", description: "Asks", input: nothing });
const texts = (request: ModelRequest | undefined) => request?.messages.map(textOf);

onEveryStore((freshStore) => {
  test("the same key and request give the same run, at once, later, after its end and after a restart", async () => {
    await using story = await given(anAgentWith(), aModelThat(says("Done.")), { store: freshStore() });
    const runs = await Promise.all(
      Array.from({ length: 20 }, () => story.userSays("hi", { key: "order-1", thread: "t" })),
    );
    expect(new Set(runs.map(({ id }) => id)).size).toBe(1);
    const [run] = runs;
    if (!run) throw new Error("no run");
    await story.expectReply(run, "Done.");
    await story.restart();
    expect((await story.userSays("hi", { key: "order-1", thread: "t" })).id).toBe(run.id);
    expect(story.modelSaw).toHaveLength(1);
  });

  test("the same key with another request is a conflict that names the run, and nothing is started", async () => {
    await using story = await given(anAgentWith(), aModelThat(says("Done.")), { store: freshStore() });
    const run = await story.userSays("hi", { key: "order-1" });
    await story.expectReply(run, "Done.");
    for (const other of [
      () => story.userSays("bye", { key: "order-1" }),
      () => story.userSays("hi", { key: "order-1", thread: "elsewhere" }),
    ]) {
      await expect(other()).rejects.toMatchObject({
        code: "start-key-conflict",
        details: { key: "order-1", run: run.id },
        message: expect.stringContaining(run.id),
      });
    }
    await story.pass("1m");
    expect(story.modelSaw).toHaveLength(1);
  });

  test("without a key every start is a run of its own", async () => {
    await using story = await given(anAgentWith(), aModelThat(says("Done.")), { store: freshStore() });
    const [one, two] = [await story.userSays("hi"), await story.userSays("hi")];
    expect(one.id).not.toBe(two.id);
    expect((await one.status()).thread).not.toBe((await two.status()).thread);
  });

  test("two runs on one thread queue: the second starts after the first and sees its messages", async () => {
    const model = aModelThat(
      ({ messages }) => (messages.length === 1 ? callsTool("ask") : says(`I saw ${messages.length} messages.`)),
      says("First done."),
    );
    await using story = await given(anAgentWith(ask), model, { store: freshStore() });
    const first = await story.userSays("one", { thread: "t" });
    const second = await story.userSays("two", { thread: "t", whenBusy: "queue" });
    const elsewhere = await story.userSays("other thread");
    await story.expectWaitingFor(first, "ask");
    await story.expectWaitingFor(elsewhere, "ask");
    expect((await second.status()).status).toBe("created");
    await story.restart();
    await story.answer(first, "ask", "yes");
    await story.expectReply(first, "First done.");
    await story.expectReply(second, "I saw 5 messages.");
    expect(texts(story.modelSaw.at(-1))).toEqual(["one", "", "", "First done.", "two"]);
    expect((await second.status()).input?.range).toEqual({ from: 5, to: 5 });
  });

  test("runs of a thread start in the order they were created", async () => {
    const model = aModelThat(({ messages }) => says(`answer to ${textOf(messages.at(-1) as never)}`));
    await using story = await given(anAgentWith(), model, { store: freshStore() });
    const runs = [];
    for (const n of [1, 2, 3, 4, 5]) runs.push(await story.userSays(`q${n}`, { thread: "t" }));
    for (const [index, run] of runs.entries()) await story.expectReply(run, `answer to q${index + 1}`);
    const last = story.modelSaw.at(-1);
    expect(texts(last)?.filter((text) => text.startsWith("q"))).toEqual(["q1", "q2", "q3", "q4", "q5"]);
  });

  test("a run may start with parts or messages; context is checked, durable and given to instructions and tools", async () => {
    const who = tool({
      name: "who",
      description: "Says who asks",
      input: nothing,
      effect: "pure",
      execute: (_input, { context }) => ({ context: context ?? null }),
    });
    const model = aModelThat(callsTool("who"), says("Done."));
    const teller = agent({
      name: "teller",
      model: model.model,
      instructions: ({ user, plan }) => `Serve ${user} (${plan}).`,
      context: z.object({ user: z.string(), plan: z.string().default("free") }),
      tools: [who],
    });
    await using t = await testRuntime({ agents: [teller], store: freshStore() });
    const input = [{ type: "text", text: "look at " } as const, { type: "text", text: "this" } as const];
    const run = await t.runtime.start(teller, input, { context: { user: "ada", plan: "pro" } });
    expect(await run.result()).toMatchObject({ outcome: "completed" });
    expect(model.saw[0]?.instructions).toBe("Serve ada (pro).");
    expect(texts(model.saw[0])).toEqual(["look at this"]);
    expect(JSON.stringify(model.saw[1]?.messages)).toContain('{"user":"ada","plan":"pro"}');
    const history = [
      { id: "m-1" as never, role: "user", parts: [{ type: "text", text: "before" }], visibility: "all" } as const,
      { id: "m-2" as never, role: "assistant", parts: [{ type: "text", text: "yes" }], visibility: "all" } as const,
    ];
    const second = await t.runtime.start(teller, history, { context: { user: "ben", plan: "free" } });
    await second.result();
    expect(texts(model.saw[2])).toEqual(["before", "yes"]);
  });

  test("R-002 a runtime without agents never executes, but starts, decides, reads and cancels", async () => {
    const store = freshStore();
    const model = aModelThat(callsTool("ask"), says("Done."));
    const asker = agent({ ...anAgentWith(ask), model: model.model });
    await using t = await testRuntime({ agents: [asker], store });
    await t.settle(); // its first look for work is over: it does not look again before time passes
    await using web = await createRuntime({ store, clock: t.clock, ids: { next: countedBy("web") } });
    const run = await web.start(asker, "hello", { key: "web-1" });
    await aMoment();
    expect(model.saw).toHaveLength(0);
    expect((await run.status()).status).toBe("created");
    await t.advance("1m");
    expect(model.saw).toHaveLength(1);
    const [ticket] = await web.tickets.list({ tool: ask, status: "open" });
    if (ticket?.kind !== "input") throw new Error("no input ticket");
    expect(await ticket.answer("yes", { by: "web" })).toMatchObject({ mine: true, by: "web" });
    await t.advance("1m");
    expect(await run.output()).toBe("Done.");
    const other = await web.start(asker, "again");
    const { receipt } = await other.cancel();
    await t.advance("1m");
    expect(await receipt()).toMatchObject({ outcome: "cancelled" });
  });

  test("R-013 a run id that is already known is refused, and names it", async () => {
    const greeter = agent({ name: "greeter", model: scripted(["Hi."]), instructions: "Greet." });
    await using web = await createRuntime({ store: freshStore(), ids: { next: () => "same" } });
    expect((await web.start(greeter, "hi", { key: "one" })).id).toBe("same");
    await expect(web.start(greeter, "hi", { key: "two" })).rejects.toMatchObject({
      code: "run-exists",
      retry: "never",
      details: { run: "same" },
    });
  });

  test("an agent that is not one of the runtime's is refused by name before anything is written", async () => {
    const stranger = agent({ name: "stranger", model: scripted(["Hi."]), instructions: "?" });
    await using story = await given(anAgentWith(), aModelThat(says("Done.")), { store: freshStore() });
    await expect(story.t.runtime.start(stranger, "hi")).rejects.toMatchObject({
      code: "unknown-agent",
      message: expect.stringContaining("stranger"),
    });
  });

  test("R-011 runtime.run is start and result in one; output() throws for any other outcome", async () => {
    const model = scripted([{ text: "Hi.", inputTokens: 3, outputTokens: 5 }]);
    const greeter = agent({ name: "greeter", model, instructions: "Greet." });
    await using t = await testRuntime({ agents: [greeter], store: freshStore() });
    expect(await t.runtime.run(greeter, "hello")).toMatchObject({
      outcome: "completed",
      output: "Hi.",
      reason: "natural",
      steps: 1,
      usage: { inputTokens: 3, outputTokens: 5 },
    });
    const broken = agent({ name: "greeter", model: scripted([]), instructions: "Greet." });
    await using u = await testRuntime({ agents: [broken], store: freshStore() });
    const run = await u.runtime.start(broken, "hello");
    await expect(run.output()).rejects.toMatchObject({
      code: "run-not-completed",
      details: { result: { run: run.id } },
    });
  });
});

function countedBy(prefix: string): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}-${last}`;
  };
}
