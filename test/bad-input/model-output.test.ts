/** Models that misbehave: arguments that are not JSON, and streams that break their protocol. */
import { expect, test } from "vitest";
import { z } from "zod";
import { type ModelPart, tool } from "../../src/index.ts";
import type { ScriptedAnswer } from "../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, given, resultsOf, type StoryModel, says } from "../../src/testing/story.ts";
import { aMoment, never } from "../scenarios/moments.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const echo = tool({
  name: "echo",
  description: "Echoes",
  input: z.object({ a: z.unknown() }),
  effect: "pure",
  execute: ({ a }) => ({ echoed: a }),
});

const badArguments: Record<string, { text: string; says: RegExp }> = {
  "truncated JSON": { text: '{"a": [1, 2', says: /^The input is not JSON: / },
  nothing: { text: "", says: /^The input is not JSON: / },
  "a bare NaN": { text: '{"a": NaN}', says: /^The input is not JSON: / },
  "a trailing comma": { text: '{"a": 1,}', says: /^The input is not JSON: / },
  prose: { text: "Sure! Here you go: {}", says: /^The input is not JSON: / },
  "a lone surrogate, raw": { text: '{"a": "\ud800"}', says: /lone surrogate at \$\.a/ },
  "a lone surrogate, escaped": { text: '{"a": "\\ud800"}', says: /lone surrogate at \$\.a/ },
  "a lone surrogate outside JSON": { text: "\ud800", says: /^The input is not JSON: / },
  "nesting of 10,000": { text: `{"a": ${"[".repeat(10_000)}${"]".repeat(10_000)}}`, says: /nesting deeper than 64/ },
  "nesting of 10,000, unclosed": { text: `{"a": ${"[".repeat(10_000)}`, says: /^The input is not JSON: / },
  "2 MB of JSON": { text: JSON.stringify({ a: "x".repeat(2_000_000) }), says: /bytes of JSON, the limit is 1048576/ },
  "2 MB of prose": { text: "x".repeat(2_000_000), says: /^The input is not JSON: / },
  "a number too large": { text: '{"a": 1e999}', says: /the number Infinity at \$\.a/ },
  "what the schema refuses": { text: '["not an object"]', says: /^\$: / },
};

const calling = (inputText: string, name = "echo"): ScriptedAnswer => ({ calls: [{ tool: name, inputText }] });

onEveryStore((freshStore) => {
  for (const [what, { text, says: problem }] of Object.entries(badArguments)) {
    test(`arguments that are ${what} are told to the model, which may try again`, async () => {
      const model = aModelThat(calling(text), calling('{"a": 1}'), says("Done."));
      await using story = await given(anAgentWith(echo), model, { store: freshStore() });
      const run = await story.userSays("go");
      await story.expectReply(run, "Done.");
      const [first, second, ...more] = await story.results(run);
      expect(more).toEqual([]);
      expect(first).toEqual({ kind: "error", code: "invalid-input", message: expect.stringMatching(problem) });
      expect(second).toEqual({ kind: "value", value: { echoed: 1 } });
      expect(story.modelSaw[1]?.messages.flatMap(resultsOf)).toEqual([first]);
      expect(story.effects(echo)).toHaveLength(1);
      const stored = JSON.stringify(await story.journal(run));
      expect(stored.length).toBeLessThan(100_000);
    });
  }

  test("duplicate keys are JSON: the last one counts", async () => {
    const model = aModelThat(calling('{"a": 1, "a": 2}'), says("Done."));
    await using story = await given(anAgentWith(echo), model, { store: freshStore() });
    const run = await story.userSays("go");
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toEqual([{ kind: "value", value: { echoed: 2 } }]);
  });

  for (const name of ["nobody", "", "__proto__", "constructor", "toString", "\ud800", "x".repeat(100_000)]) {
    test(`a call of the unknown tool ${JSON.stringify(name.slice(0, 20))} is a result that names it and the known ones`, async () => {
      const model = aModelThat(calling("{}", name), says("Done."));
      await using story = await given(anAgentWith(echo), model, { store: freshStore() });
      const run = await story.userSays("go");
      await story.expectReply(run, "Done.");
      const [result] = await story.results(run);
      expect(result).toMatchObject({ kind: "error", code: "unknown-tool", message: expect.stringContaining("echo") });
      expect(result?.kind === "error" && result.message.isWellFormed()).toBe(true);
      expect(JSON.stringify(await story.journal(run)).length).toBeLessThan(100_000);
    });
  }

  test("an agent without tools tells the model so", async () => {
    await using story = await given(anAgentWith(), aModelThat(calling("{}"), says("Done.")), { store: freshStore() });
    const run = await story.userSays("go");
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toMatchObject([{ message: expect.stringContaining("no tools") }]);
  });

  const finish: ModelPart = { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
  const text: ModelPart = { type: "text-delta", text: "half" };
  const malformed: Record<string, readonly unknown[]> = {
    "has text after its finish": [text, finish, text],
    "has two finishes": [text, finish, finish],
    "has a part of an unknown type": [{ type: "poem", text: "roses" }, finish],
    "has a part that is null": [null, finish],
    "has a part that is text": ["hello", finish],
    "has text that is no text": [{ type: "text-delta", text: 7 }, finish],
    "has reasoning that is no text": [{ type: "reasoning-delta" }, finish],
    "has a call without a name": [{ type: "tool-call", alias: "a", inputText: "{}" }, finish],
    "has a call whose input is an object": [{ type: "tool-call", alias: "a", tool: "echo", inputText: {} }, finish],
    "has metadata that is no JSON": [{ ...text, metadata: { p: { at: Number.NaN } } }, finish],
    "has metadata that is no object of objects": [{ ...text, metadata: { p: "x" } }, finish],
    "has a call with metadata that is text": [
      { type: "tool-call", alias: "a", tool: "echo", inputText: "{}", metadata: "x" },
      finish,
    ],
    "has an unknown finish reason": [text, { ...finish, reason: "boredom" }],
  };

  for (const [what, parts] of Object.entries(malformed)) {
    test(`a stream that ${what} is malformed, tried again, and leaves nothing behind`, async () => {
      const broken = { parts: parts as readonly ModelPart[] };
      const model = aModelThat({ attempts: [broken, says("Whole.")] });
      await using story = await given(anAgentWith(echo), model, { store: freshStore() });
      const run = await story.userSays("go");
      await aMoment();
      await story.pass("2s");
      await story.expectReply(run, "Whole.");
      const journal = await story.journal(run);
      const failed = journal.filter((entry) => entry.type === "effect-settled" && entry.result.kind === "failed");
      expect(failed).toMatchObject([{ result: { error: { code: "model-malformed" }, retry: "later" } }]);
      expect(JSON.stringify(journal)).not.toContain("half");
      expect((await run.status()).inputTokens).toBe(1);
    });
  }

  for (const [what, parts] of Object.entries({ "ends without a finish": [text], "is empty": [] })) {
    test(`a stream that ${what} broke off, and goes on from what has come`, async () => {
      const model = aModelThat({ attempts: [{ parts }, says("Whole.")] });
      await using story = await given(anAgentWith(echo), model, { store: freshStore() });
      const run = await story.userSays("go");
      await aMoment();
      await story.pass("2s");
      await story.expectReply(run, parts.length > 0 ? "halfWhole." : "Whole.");
      const failed = (await story.journal(run)).filter(
        (entry) => entry.type === "effect-settled" && entry.result.kind === "failed",
      );
      expect(failed).toMatchObject([{ result: { error: { code: "model-interrupted" }, retry: "later" } }]);
    });
  }

  const thrown: Record<string, unknown> = {
    "an Error": new Error("ECONNRESET"),
    "a string": "ECONNRESET",
    null: null,
    "an object without a prototype": Object.create(null),
    "a proxy that throws": new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail }),
    "what looks like an error of ours and is none": { [Symbol.for("holdfast.error")]: true },
  };
  for (const [what, cause] of Object.entries(thrown)) {
    test(`a provider that throws ${what} has failed, and is tried again`, async () => {
      const model = aModelThat({ attempts: [thrower(cause), says("Whole.")] });
      await using story = await given(anAgentWith(), model, { store: freshStore() });
      const run = await story.userSays("go");
      await aMoment();
      await story.pass("2s");
      await story.expectReply(run, "Whole.");
      const failed = (await story.journal(run)).filter(
        (e) => e.type === "effect-settled" && e.result.kind === "failed",
      );
      expect(failed).toMatchObject([{ result: { error: { code: "model-failed" }, retry: "later" } }]);
    });
  }

  test("a provider that throws instead of returning a stream, or returns none, has failed", async () => {
    for (const call of [fail, () => undefined, () => ({}), () => ({ [Symbol.asyncIterator]: () => ({}) })]) {
      let calls = 0;
      const whole = aModelThat(says("Whole."));
      const model: StoryModel = {
        saw: [],
        model: {
          ...whole.model,
          call: (request, signal) => {
            calls += 1;
            return calls === 1 ? (call() as never) : whole.model.call(request, signal);
          },
        },
      };
      await using story = await given(anAgentWith(), model, { store: freshStore() });
      const run = await story.userSays("go");
      await aMoment();
      await story.pass("2s");
      await story.expectReply(run, "Whole.");
    }
  });

  test("a stream that never ends is given up after the model's timeout, aborted and tried again", async () => {
    const signals: AbortSignal[] = [];
    const { model: whole } = aModelThat(says("Whole."));
    const model: StoryModel = {
      saw: [],
      model: {
        ...whole,
        async *call(request, signal) {
          signals.push(signal);
          if (signals.length > 1) return yield* whole.call(request, signal);
          yield { type: "text-delta", text: "half" };
          await never();
        },
      },
    };
    const settings = { limits: { modelTimeoutMs: 20_000 } };
    await using story = await given(anAgentWith(), model, { store: freshStore(), settings });
    const run = await story.userSays("go");
    await aMoment();
    await story.pass(19_999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await story.pass(1);
    expect(signals[0]?.aborted).toBe(true);
    await story.pass("2s");
    const failed = (await story.journal(run)).filter((e) => e.type === "effect-settled" && e.result.kind === "failed");
    expect(failed).toMatchObject([{ result: { error: { code: "model-timeout" } } }]);
    expect(signals).toHaveLength(2);
  });

  test("a pair of surrogates cut in two by the stream is one character; a lone one is replaced", async () => {
    const parts: ModelPart[] = [
      { type: "text-delta", text: "a\ud83d" },
      { type: "text-delta", text: "\ude00b\ud800" },
      finish,
    ];
    await using story = await given(anAgentWith(), aModelThat({ parts }), { store: freshStore() });
    await story.expectReply(await story.userSays("go"), "a😀b\ufffd");
  });

  test("instructions that throw fail the run by name and disturb no other", async () => {
    const moody = {
      ...anAgentWith(),
      instructions: () => {
        throw new Error("no mood");
      },
    };
    await using story = await given(moody, aModelThat(says("never")), { store: freshStore() });
    const run = await story.userSays("go");
    await story.pass("5m");
    const end = await story.expectOutcome(run, "failed");
    expect(end.error.message).toContain("no mood");
  });
});

function fail(): never {
  throw new Error("trapped");
}

function thrower(cause: unknown): () => never {
  return () => {
    throw cause;
  };
}
