import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Agent, agent, textOf } from "../../src/index.ts";
import { scripted, type TestRuntime, testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const cut = (text: string) => ({ text, finish: "length" as const, inputTokens: 10, outputTokens: 5 });

async function answerOf(t: TestRuntime, thread: string): Promise<string> {
  const { items } = await t.runtime.threads.messages(thread, { order: "oldest" });
  return items
    .filter(({ message }) => message.role === "assistant")
    .map(({ message }) => textOf(message))
    .join("|");
}

function teller(
  answers: Parameters<typeof scripted>[0],
  more: Partial<Parameters<typeof agent>[0]> = {},
): Agent<unknown> {
  const description = { prices: { inputPerMillion: 1, outputPerMillion: 1 }, maxOutputTokens: 100 };
  return agent({ name: "teller", model: scripted(answers, { description }), instructions: "", ...more } as never);
}

onEveryStore((freshStore) => {
  test("Y2 an answer that was cut at the output limit goes on, over a restart too, and is one message", async () => {
    const tale = teller([{ attempts: [cut("Once upon"), cut("Once upon a time"), "Once upon a time, the end."] }]);
    await using t = await testRuntime({ agents: [tale], store: freshStore() });
    const run = await t.runtime.start(tale, "Tell me.", { thread: "t" });
    await t.settle();
    expect((await run.result()).outcome).toBe("completed");
    expect(await answerOf(t, "t")).toBe("Once upon a time, the end.");
    expect(await run.status()).toMatchObject({ inputTokens: 21, outputTokens: 11 });
  });

  test("Y2 what had come is gone on from by another process", async () => {
    const tale = teller([{ attempts: [{ parts: [{ type: "text-delta", text: "Once upon" }] }, "Once upon a time."] }]);
    await using t = await testRuntime({ agents: [tale], store: freshStore() });
    const run = await t.runtime.start(tale, "Tell me.", { thread: "t" });
    await t.settle();
    expect((await run.status()).status).toBe("running");
    await t.restart();
    await t.advance("2s");
    expect((await t.runtime.runs.get(run.id).result()).outcome).toBe("completed");
    expect(await answerOf(t, "t")).toBe("Once upon a time.");
  });
});

describe("bounds", () => {
  test("it goes on as often as a call is tried, then the run says that the answer is not whole", async () => {
    const tale = teller([(request) => cut(`${"x".repeat(request.attempt)}`)]);
    await using t = await testRuntime({ agents: [tale], settings: { limits: { modelAttempts: 3 } } });
    const run = await t.runtime.start(tale, "Tell me.", { thread: "t" });
    await t.settle();
    expect(await run.result()).toMatchObject({ outcome: "stopped", code: "length" });
    expect(await answerOf(t, "t")).toBe("xxx");
  });

  test("what went on is paid for: counted where it was counted, else as much as was held", async () => {
    const counted = teller([{ attempts: [cut("Once"), "Once more."] }], { budget: { steps: 5, tokens: 5_000 } });
    await using t = await testRuntime({ agents: [counted] });
    const run = await t.runtime.start(counted, "Tell me.");
    await t.settle();
    expect((await run.status()).spent).toMatchObject({ tokens: 17 });
    const uncounted = teller([{ attempts: [{ parts: [{ type: "text-delta", text: "On" }] }, "Once."] }], {
      budget: { steps: 5, tokens: 5_000 },
    });
    await using u = await testRuntime({ agents: [uncounted] });
    const other = await u.runtime.start(uncounted, "Tell me.");
    await u.advance("2s");
    await other.result();
    const { spent } = await other.status();
    expect(spent?.tokens).toBeGreaterThan(100); // the longest answer that it may give
  });

  test("what cannot be paid to go on is the answer as far as it came: nothing that was paid for is lost", async () => {
    const long = (text: string) => ({ ...cut(text), outputTokens: 80 });
    const tale = teller([{ attempts: [long("Once"), long("Once upon"), "Once upon a time."] }], {
      budget: { steps: 5, tokens: 190 },
    });
    await using t = await testRuntime({ agents: [tale] });
    const run = await t.runtime.start(tale, "Tell me.", { thread: "t" });
    await t.settle();
    expect(await run.result()).toMatchObject({ outcome: "stopped", code: "length" });
    expect(await answerOf(t, "t")).toBe("Once upon");
  });

  test("a model that is bound to a schema begins anew: its answer is the last one alone", async () => {
    const asked = { output: z.object({ n: z.number() }) };
    const bound = agent({
      name: "bound",
      model: scripted([{ attempts: [{ parts: [{ type: "text-delta", text: '{"n"' }] }, '{"n":1}'] }], {
        description: { structuredOutput: true },
      }),
      instructions: "",
      ...asked,
    });
    await using t = await testRuntime({ agents: [bound] });
    const run = await t.runtime.start(bound, "go", { thread: "t" });
    await t.advance("2s");
    expect(await run.result()).toMatchObject({ outcome: "completed", output: { n: 1 } });
    expect(await answerOf(t, "t")).toBe('{"n":1}');
  });

  test("a reply with calls that was cut at the limit ends the run: none of its calls runs, and it is not asked for again", async () => {
    const calls = [
      { tool: "act", inputText: '{"letter":"a"}' },
      { tool: "act", inputText: '{"let' },
    ];
    const caller = teller([{ text: "Now.", calls, finish: "length" }]);
    await using t = await testRuntime({ agents: [caller] });
    const run = await t.runtime.start(caller, "go");
    await t.settle();
    expect(await run.result()).toMatchObject({ outcome: "stopped", code: "length", steps: 1 });
  });

  test("reasoning alone is nothing to go on from, and a refusal is no answer", async () => {
    const thinker = teller([{ reasoning: "Hm.", finish: "length" }]);
    await using t = await testRuntime({ agents: [thinker] });
    const run = await t.runtime.start(thinker, "go");
    await t.settle();
    expect(await run.result()).toMatchObject({ outcome: "stopped", code: "length" });
    const filtered = teller([{ text: "I will n", finish: "content-filter" }]);
    await using u = await testRuntime({ agents: [filtered] });
    const other = await u.runtime.start(filtered, "go");
    await u.settle();
    expect(await other.result()).toMatchObject({ outcome: "blocked" });
  });
});
