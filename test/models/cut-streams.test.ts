/** A reply with text and three calls, cut after every part and in each way. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { HoldfastError } from "../../src/domain/errors.ts";
import { agent, createRuntime, type Message, textOf, tool, type WatchEvent } from "../../src/index.ts";
import type { Model, ModelPart, ModelRequest } from "../../src/ports/provider.ts";
import { testRuntime } from "../../src/testing.ts";

const said = "I will do it: größe 🎉, all three.";
const wanted = ["a", "b", "c"] as const;
const finish = { type: "finish", reason: "tool-calls", usage: { inputTokens: 1, outputTokens: 1 } } as const;

/** What a good model would say now: the rest of its text, and the calls that have no result yet. */
function* wholeReply({ messages, continues }: ModelRequest): Iterable<ModelPart> {
  const done = messages.flatMap(({ parts }) => parts).filter(({ type }) => type === "tool-result").length;
  if (done === wanted.length) {
    yield { type: "text-delta", text: "Done." };
    yield { ...finish, reason: "stop" };
    return;
  }
  const told = done === 0 ? said.slice(continues?.length ?? 0) : "";
  yield { type: "reasoning-delta", text: "Hm." };
  for (let at = 0; at < told.length; at += 5) yield { type: "text-delta", text: told.slice(at, at + 5) };
  for (const [index, letter] of wanted.slice(done).entries()) {
    const inputText = JSON.stringify({ letter });
    for (const text of [inputText.slice(0, 7), inputText.slice(7)]) {
      yield { type: "tool-input-delta", index, tool: "act", text };
    }
    yield { type: "tool-call", alias: letter, tool: "act", inputText };
  }
  yield finish;
}

const ways = {
  "the connection is reset": () => {
    throw new HoldfastError("model-unreachable", "ECONNRESET");
  },
  "the provider fails": () => {
    throw new Error("502 Bad Gateway");
  },
  "the stream just ends": () => undefined,
};

function cutModel(after: number, way: () => unknown): Model & { calls: () => number } {
  let calls = 0;
  return {
    description: { provider: "test", model: "cut" },
    calls: () => calls,
    async *call(request) {
      calls += 1;
      if (calls > 1) return yield* wholeReply(request);
      let count = 0;
      for (const part of wholeReply(request)) {
        if (count === after) {
          await way();
          return undefined;
        }
        count += 1;
        yield part;
      }
      return undefined;
    },
  };
}

/** As a watcher shows it: by message, forgotten when it is retracted. */
function fold(shown: Map<string, string>, event: WatchEvent): void {
  if (event.type === "text-delta") shown.set(event.message, (shown.get(event.message) ?? "") + event.text);
  if (event.type === "message-partial") shown.set(event.message, event.text);
  if (event.type === "message-retracted") shown.delete(event.message);
  if (event.type !== "message-appended") return;
  const { message } = event;
  if (message?.role !== "assistant" || textOf(message) === "") return;
  expect(shown.get(message.id), `what was shown of ${message.id}`).toBe(textOf(message));
}

function clerkOf(model: Model, acted: string[]) {
  const act = tool({
    name: "act",
    description: "Acts",
    input: z.object({ letter: z.string() }),
    execute: ({ letter }) => void acted.push(letter),
  });
  return agent({ name: "clerk", model, instructions: "", tools: [act] });
}

async function play(model: Model) {
  const acted: string[] = [];
  const clerk = clerkOf(model, acted);
  await using t = await testRuntime({ agents: [clerk] });
  const run = await t.runtime.start(clerk, "go", { thread: "t" });
  const shown = new Map<string, string>();
  const watching = (async () => {
    for await (const event of run.watch({ until: "end" })) fold(shown, event);
  })();
  await t.settle();
  for (let pause = 0; pause < 4; pause += 1) await t.advance("2s");
  const result = await run.result();
  await watching;
  const { items } = await t.runtime.threads.messages("t", { order: "oldest" });
  const messages = items.map(({ message }) => message).filter(({ role }) => role === "assistant");
  return { acted, result, messages };
}

const parts = [...wholeReply({ messages: [] } as unknown as ModelRequest)];

function textBefore(after: number): string {
  return parts
    .slice(0, after)
    .flatMap((part) => (part.type === "text-delta" ? [part.text] : []))
    .join("");
}

for (const [what, way] of Object.entries(ways)) {
  describe(`Y1, Y2 when ${what}`, () => {
    for (let after = 0; after < parts.length; after += 1) {
      test(`after ${after} of ${parts.length} parts, each call runs once and the text is whole`, async () => {
        const { acted, result, messages } = await play(cutModel(after, way));
        expect(result.outcome).toBe("completed");
        expect(acted).toEqual([...wanted]);
        expect(messages.map(textOf).join("")).toBe(`${said}Done.`);
        const whole = parts.slice(0, after).filter(({ type }) => type === "tool-call").length;
        expect(callsIn(messages[0])).toBe(whole > 0 ? whole : 3);
        if (whole === 0 && textBefore(after) !== "") expect(textOf(messages[0] as Message)).toBe(said);
      });
    }
  });
}

test("Y1, Y2 when nothing more comes, what has come is gone on from", async () => {
  const plays = [0, 3, 12, 15].map(async (after) => {
    const acted: string[] = [];
    const clerk = clerkOf(
      cutModel(after, () => new Promise<never>(() => undefined)),
      acted,
    );
    await using runtime = await createRuntime({ agents: [clerk], limits: { modelTimeoutMs: 200 } });
    expect((await runtime.run(clerk, "go", { thread: "t" })).outcome).toBe("completed");
    const { items } = await runtime.threads.messages("t", { order: "oldest" });
    const texts = items.filter(({ message }) => message.role === "assistant").map(({ message }) => textOf(message));
    expect([acted, texts.join("")]).toEqual([[...wanted], `${said}Done.`]);
  });
  await Promise.all(plays);
});

function callsIn(message: Message | undefined): number {
  return message?.parts.filter(({ type }) => type === "tool-call").length ?? 0;
}

test("Y3 nothing is kept of a reply that broke its protocol, and none of its calls runs", async () => {
  const model = cutModel(parts.length - 1, () => undefined);
  const broken: Model = {
    ...model,
    async *call(request, signal) {
      let first = false;
      for await (const part of model.call(request, signal)) yield part;
      if (model.calls() === 1) first = true;
      if (first) yield { type: "poem" } as never;
    },
  };
  const { acted, result, messages } = await play(broken);
  expect(result.outcome).toBe("completed");
  expect(acted).toEqual([...wanted]);
  expect(callsIn(messages[0])).toBe(3);
});
