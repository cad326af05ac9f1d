import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { HoldfastError } from "../../src/domain/errors.ts";
import type { CallResult } from "../../src/domain/message.ts";
import {
  agent,
  asContent,
  createRuntime,
  type Message,
  memory,
  type RuntimeOptions,
  type Tool,
  tellModel,
  tool,
} from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { type Intercept, interceptStore } from "../../src/testing/intercept.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const quiet = { warn: () => undefined, note: () => undefined };
const limits = { inlineBytes: 1_000, contentBytes: 10_000, previewBytes: 100 };

function fetching(execute: () => unknown): Tool {
  return tool({ name: "fetch", description: "Fetches", input: z.object({}), effect: "pure", execute });
}

/** Plays one call of the tool, and answers its result and what the model was shown of it. */
async function play(options: Partial<RuntimeOptions>, tools: readonly Tool[]) {
  const seen: ModelRequest[] = [];
  const model = scripted([
    { calls: [{ tool: tools[0]?.spec.name ?? "", input: {} }] },
    (request) => (seen.push(request), "Done."),
  ]);
  const reader = agent({ name: "reader", model, instructions: "", tools });
  const runtime = await createRuntime({ logger: quiet, limits, agents: [reader], ...options });
  onTestFinished(() => runtime.close());
  const run = await runtime.start(reader, "go", { thread: "t" });
  const { outcome } = await run.result();
  expect(outcome).toBe("completed");
  const messages = (await runtime.threads.messages("t")).items.map(({ message }) => message);
  return { runtime, run, reader, result: resultIn(messages), shown: resultIn(seen[0]?.messages ?? []) };
}

function resultIn(messages: readonly Message[]): CallResult {
  const part = messages.flatMap(({ parts }) => parts).find(({ type }) => type === "tool-result");
  if (part?.type !== "tool-result") throw new Error("no result");
  return part.result;
}

onEveryStore((freshStore) => {
  test("K1, K2 a large result is content: the model reads its beginning, the bytes stay whole", async () => {
    const rows = Array.from({ length: 200 }, (_, n) => ({ n, word: "größe" }));
    const { runtime, result, shown } = await play({ store: freshStore() }, [fetching(() => rows)]);
    if (result.kind !== "value" || !result.content) throw new Error("not content");
    const { content, say } = result;
    expect(result.value).toBe(null);
    expect(shown).toEqual(result);
    expect(say).toMatch(
      /^\[Shortened: the whole result is \d+ bytes of application\/json, kept as content [0-9a-f]{64}; /,
    );
    // 100 bytes are 92 characters: eight of them take two.
    expect(say?.split("\n")[1]).toBe(JSON.stringify(rows).slice(0, 92));
    const kept = await runtime.content.get(content);
    expect(kept.json()).toEqual(rows);
    expect(kept).toMatchObject({ hash: content.hash, mediaType: "application/json" });
    expect(kept.body.length).toBe(content.bytes);
  });
});

test("the limits are exact: what just fits is in the journal, one byte more is content, one more than all is told", async () => {
  const text = (bytes: number): string => "x".repeat(bytes - 2); // the quotes
  const within = await play({}, [fetching(() => text(1_000))]);
  expect(within.result).toEqual({ kind: "value", value: text(1_000) });
  const above = await play({}, [fetching(() => text(1_001))]);
  expect(above.result).toMatchObject({ value: null, content: { bytes: 1_001 } });
  const most = await play({}, [fetching(() => text(10_000))]);
  expect(most.result).toMatchObject({ content: { bytes: 10_000 } });
  const tooMuch = await play({}, [fetching(() => text(10_001))]);
  expect(tooMuch.result).toEqual({
    kind: "error",
    code: "invalid-result",
    message: "The tool ran, but its result cannot be stored: 10001 bytes of JSON, the limit is 10000 at $",
  });
});

test("a result of 100 MB is told by name and kept nowhere, and the run goes on", async () => {
  const { result } = await play({ limits: {} }, [fetching(() => "x".repeat(100_000_000))]);
  expect(result).toMatchObject({ kind: "error", code: "invalid-result" });
  expect(result).toMatchObject({ message: expect.stringMatching(/more than 16777216 bytes/) });
  const bytes = await play({ limits: {} }, [fetching(() => asContent(new Uint8Array(100_000_000)))]);
  expect(bytes.result).toMatchObject({
    message: expect.stringMatching(/100000000 bytes of content, the limit is 16777216/),
  });
});

test("what a tool tells the model takes the place of the beginning", async () => {
  const { result, runtime } = await play({}, [fetching(() => tellModel("y".repeat(2_000), "2,000 times y"))]);
  expect(result).toMatchObject({ value: null, say: "2,000 times y" });
  if (result.kind === "value" && result.content) {
    expect((await runtime.content.get(result.content.hash)).json()).toBe("y".repeat(2_000));
  }
});

describe("asContent", () => {
  test("keeps bytes and text as they are, with their media type, whatever their size", async () => {
    const bytes = Uint8Array.from([0, 255, 1, 254]);
    const image = await play({}, [fetching(() => asContent(bytes, { mediaType: "image/png" }))]);
    expect(image.result).toMatchObject({ say: expect.stringMatching(/^\[Not shown: .* 4 bytes of image\/png/) });
    const text = await play({}, [fetching(() => asContent("grüezi", { say: "A greeting." }))]);
    expect(text.result).toMatchObject({ say: "A greeting.", content: { mediaType: "text/plain", bytes: 7 } });
    for (const { result, runtime } of [image, text]) {
      if (result.kind !== "value" || !result.content) throw new Error("not content");
      const kept = await runtime.content.get(result.content);
      expect([...kept.body]).toEqual([
        ...(kept.mediaType === "image/png" ? bytes : new TextEncoder().encode("grüezi")),
      ]);
    }
  });

  test("refuses every wrong option at once", () => {
    const wrong = (): unknown => asContent(7 as never, { mediaType: "png", say: 1, size: 3 } as never);
    expect(wrong).toThrow(
      expect.objectContaining({
        code: "invalid-content",
        problems: [
          "size: unknown option; known are mediaType, say",
          "body: must be a string or a Uint8Array",
          "mediaType: must be a media type",
          "say: must be a string",
        ],
      }),
    );
  });
});

describe("reading", () => {
  test("a hash that is none, and one that this scope does not have, are refused by name", async () => {
    const { runtime, result } = await play({}, [fetching(() => "z".repeat(2_000))]);
    await expect(runtime.content.get("nonsense")).rejects.toMatchObject({ code: "content-not-found" });
    await expect(runtime.content.get("0".repeat(64))).rejects.toMatchObject({ code: "content-not-found" });
    if (result.kind !== "value" || !result.content) throw new Error("not content");
    await expect(runtime.content.get(result.content.hash.toUpperCase())).rejects.toMatchObject({
      code: "content-not-found",
    });
    await expect(runtime.content.collect({ olderThanMs: 1 })).rejects.toMatchObject({ code: "invalid-options" });
  });

  test("watchers without access to content see how much there is, and not by which hash", async () => {
    const { run } = await play({}, [fetching(() => "z".repeat(2_000))]);
    const told: unknown[] = [];
    for await (const event of run.watch({ content: false, until: "end" })) told.push(event);
    const text = JSON.stringify(told);
    expect(text).toContain('"bytes":2002');
    expect(text).not.toMatch(/zzz|"hash":"[0-9a-f]{64}"/);
  });
});

describe("a store that does not take it", () => {
  function failing(intercept: Intercept): (store: StoreDefinition) => StoreDefinition {
    return (store) => ({ ...store, open: async (deps) => interceptStore(await store.open(deps), intercept) });
  }

  onEveryStore((freshStore) => {
    test("for a while is asked again, also when nobody can tell whether it was put", async () => {
      const causes = ["store-busy", "commit-unknown", "store-full"] as const;
      let puts = 0;
      const store = failing(async (call, proceed) => {
        if (call.method !== "putContent") return proceed();
        const code = causes[puts++];
        if (code === "commit-unknown") await proceed();
        if (code) throw new HoldfastError(code, "not now");
        return proceed();
      })(freshStore());
      const { result, runtime } = await play({ store }, [fetching(() => "z".repeat(2_000))]);
      expect(puts).toBe(4);
      if (result.kind !== "value" || !result.content) throw new Error("not content");
      expect((await runtime.content.get(result.content)).json()).toBe("z".repeat(2_000));
    });
  });

  test("for good is told, for the tool has run all the same", async () => {
    const store = failing((call, proceed) => {
      if (call.method === "putContent") throw new HoldfastError("store-unusable", "no table");
      return proceed();
    })(memory());
    const { result } = await play({ store }, [fetching(() => "z".repeat(2_000))]);
    expect(result).toMatchObject({
      code: "invalid-result",
      message: "The tool ran, but its result was not kept: no table",
    });
  });
});
