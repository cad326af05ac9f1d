/** Prompt caches on the wire: what is sent for them, and that what they keep comes again byte for byte. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, fromAiSdk, type Model, plugin, tool } from "../../../src/index.ts";
import { openaiCompatible } from "../../../src/openai.ts";
import type { ModelRequest } from "../../../src/ports/provider.ts";
import { collect, requestWith, said } from "../../../src/testing/conformance/model-fixtures.ts";
import { objectModel, wholeParts } from "../ai-sdk/objects.ts";
import type { PlayServer } from "../openai/play-server.ts";
import { type Body, bodiesOf, serve, type Wire, wires } from "./wires.ts";

const look = tool({
  name: "look",
  description: "Looks at a place",
  input: z.object({ at: z.string() }),
  effect: "pure",
  execute: ({ at }) => ({ seen: `the ${at}` }),
});

const call = (at: string) => ({ tool: "look", inputText: JSON.stringify({ at }) });
const steps = [
  { reasoning: "Where?", text: "I look.", calls: [call("attic"), call("cellar")] },
  { calls: [call("garden")] },
  { text: "Nothing." },
];

const clock = plugin({
  name: "clock",
  version: "1",
  create: () => ({
    hooks: {
      "before-step": ({ step }) => [{ type: "add-context", key: "now", text: `It is ${step}.`, target: "suffix" }],
    },
  }),
});

/** Two runs of three steps on one thread. */
async function played(server: PlayServer, model: Model, plugins: Parameters<typeof agent>[0]["plugins"] = []) {
  const helper = agent({ name: "helper", instructions: "Look around.", model, tools: [look], plugins });
  await using runtime = await createRuntime({ agents: [helper] });
  for (const input of ["Where is the cat?", "And now?"]) {
    expect(await runtime.run(helper, input, { thread: "ana@example.com" })).toMatchObject({ output: "Nothing." });
  }
  expect(server.sent).toHaveLength(6);
}

const marked = ',"cache_control":{"type":"ephemeral"}';

describe.each(Object.entries<Wire>(wires))("%s", (_, wire) => {
  test("a request begins with all that the one before it had, byte for byte, over steps and runs", async () => {
    await using server = await serve(wire, [...steps, ...steps]);
    await played(server, wire.model(server.baseURL));
    // Where a mark stands is no part of what is cached.
    const sent = server.sent.map(({ body }) => body.replaceAll(marked, ""));
    let before: { readonly rest: Body; readonly bytes: string } | undefined;
    for (const body of sent) {
      const { [wire.conversation]: conversation, ...rest } = JSON.parse(body);
      const bytes = JSON.stringify(conversation);
      expect(body).toContain(`"${wire.conversation}":${bytes}`);
      expect(bytes.startsWith(before?.bytes.slice(0, -1) ?? "[")).toBe(true);
      expect(bytes.length).toBeGreaterThan((before?.bytes.length ?? 0) + 50);
      if (before) expect(rest).toEqual(before.rest);
      before = { rest, bytes };
    }
  });

  test("no thread and no agent is named", async () => {
    await using server = await serve(wire, [...steps, ...steps]);
    await played(server, wire.model(server.baseURL));
    for (const { body } of server.sent) expect(body).not.toMatch(/ana@|helper/);
  });
});

test.each(["openai-compatible", "@ai-sdk/openai, responses", "@ai-sdk/openai, chat completions"] as const)(
  "%s: every call of an agent on a thread has the same key, and no mark",
  async (name) => {
    await using server = await serve(wires[name], [...steps, ...steps]);
    await played(server, wires[name].model(server.baseURL));
    const keys = bodiesOf(server).map((body) => body.prompt_cache_key);
    expect(keys[0]).toMatch(/^[0-9a-f]{40}$/);
    expect(new Set(keys).size).toBe(1);
    for (const { body } of server.sent) expect(body).not.toContain("cache_control");
  },
);

/** The texts, or names, of what has a mark, in the order of a request. */
function marksIn(value: Body): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(marksIn);
  return value.cache_control ? [...inner, value.text ?? value.name ?? value.tool_use_id] : inner;
}

test("@ai-sdk/anthropic: tools, instructions, the end of the request and that of the one before it are marked", async () => {
  const wire = wires["@ai-sdk/anthropic"];
  await using server = await serve(wire, [...steps, ...steps]);
  await played(server, wire.model(server.baseURL));
  const bodies = bodiesOf(server);
  for (const { tools, system } of bodies)
    expect([marksIn(tools), marksIn(system)]).toEqual([["look"], ["Look around."]]);
  const marks = bodies.map(({ messages }) => marksIn(messages));
  expect(marks[0]).toEqual(["Where is the cat?"]);
  expect(marks[1]).toEqual(["Where is the cat?", "toolu_01"]);
  for (const [at, each] of marks.entries()) {
    if (at > 0) expect(each).toEqual([marks[at - 1]?.at(-1), expect.any(String)]);
    expect(bodies[at].messages.at(-1).content.at(-1)).toMatchObject({ cache_control: { type: "ephemeral" } });
  }
  expect(marks[3]?.at(-1)).toBe("And now?");
  for (const { body } of server.sent) expect(body).not.toContain("prompt_cache_key");
});

test("openai-compatible, with marks: the same, on the last text of each message", async () => {
  const wire = wires["openai-compatible, with marks"];
  await using server = await serve(wire, [...steps, ...steps]);
  await played(server, wire.model(server.baseURL));
  const bodies = bodiesOf(server);
  expect(bodies[1].messages.map((message: Body) => [message.role, marksIn(message)])).toEqual([
    ["system", ["Look around."]],
    ["user", ["Where is the cat?"]],
    ["assistant", []],
    ["tool", []],
    ["tool", ['{"seen":"the cellar"}']],
  ]);
  const marks = bodies.map(({ messages }) => marksIn(messages).slice(1));
  for (const [at, each] of marks.entries())
    if (at > 0) expect(each).toEqual([marks[at - 1]?.at(-1), expect.any(String)]);
  expect(bodies[0]).not.toHaveProperty("prompt_cache_key");
});

test.each(["@ai-sdk/anthropic", "openai-compatible, with marks"] as const)(
  "%s: what is said for one step only comes after the last mark",
  async (name) => {
    await using server = await serve(wires[name], [...steps, ...steps]);
    await played(server, wires[name].model(server.baseURL), [clock()]);
    for (const [at, { messages }] of bodiesOf(server).entries()) {
      const text = JSON.stringify(messages);
      expect(marksIn(messages).join()).not.toContain("It is");
      expect(text.indexOf(`It is ${(at % 3) + 1}.`)).toBeGreaterThan(text.lastIndexOf("cache_control"));
    }
  },
);

const hello = said("user", { type: "text", text: "Hello" });
const cache = { key: "k".repeat(40), stable: 1 };

async function bodyOf(wire: Wire, model: (baseURL: string) => Model, more: Partial<ModelRequest> = {}): Promise<Body> {
  await using server = await serve(wire, [{ text: "Hi." }]);
  await collect(model(server.baseURL), requestWith({ messages: [hello], cache, ...more }));
  return bodiesOf(server)[0];
}

describe("openai-compatible", () => {
  const wire = wires["openai-compatible"];

  test("a server that nobody knows is sent nothing for it, OpenAI's own is sent the key", async () => {
    const body = await bodyOf(wire, (baseURL) => openaiCompatible({ baseURL, model: "m" }));
    expect(JSON.stringify(body)).not.toContain("cache");
    const sent: Body[] = [];
    const send = (_: unknown, { body }: RequestInit): Promise<Response> => {
      sent.push(JSON.parse(String(body)));
      return Promise.resolve(new Response("", { status: 500 }));
    };
    const model = (promptCache?: "none") =>
      openaiCompatible({
        baseURL: "https://api.openai.com/v1",
        model: "m",
        fetch: send as typeof fetch,
        ...(promptCache ? { promptCache } : {}),
      });
    await expect(collect(model(), requestWith({ cache }))).rejects.toThrow();
    await expect(collect(model("none"), requestWith({ cache }))).rejects.toThrow();
    expect(sent.map((each) => each.prompt_cache_key)).toEqual([cache.key, undefined]);
  });

  test("who sets a key in settings keeps it", async () => {
    const settings = { prompt_cache_key: "mine" };
    const body = await bodyOf(wire, (baseURL) =>
      openaiCompatible({ baseURL, model: "m", promptCache: "key", settings }),
    );
    expect(body.prompt_cache_key).toBe("mine");
  });

  test("a word that nobody knows is refused", () => {
    const options = { baseURL: "http://h/v1", model: "m", promptCache: "always" as "key" };
    expect(() => openaiCompatible(options)).toThrow("promptCache");
  });

  test("only words are marked: no empty text, no picture, nothing where nothing comes again", async () => {
    const marks = (more: Partial<ModelRequest>) => bodyOf(wire, wires["openai-compatible, with marks"].model, more);
    const picture = { type: "image", mediaType: "image/png", url: "data:image/png;base64,AAEC" } as const;
    const seen = await marks({ messages: [said("user", { type: "text", text: "What is it?" }, picture)] });
    expect(seen.messages[1].content).toEqual([
      { type: "text", text: "What is it?", cache_control: { type: "ephemeral" } },
      { type: "image_url", image_url: { url: picture.url } },
    ]);
    const [bare, reply] = [said("user", picture), said("assistant", { type: "text", text: "Hm." })];
    const asked = said("user", { type: "text", text: "And this?" });
    const before = await marks({ messages: [hello, reply, asked, bare], cache: { ...cache, stable: 4 } });
    expect(marksIn(before)).toEqual(["Be brief.", "Hello", "And this?"]);
    expect(before.messages.at(-1).content).toEqual([{ type: "image_url", image_url: { url: picture.url } }]);
    const wordless = await marks({ messages: [hello, reply, bare, reply, bare], cache: { ...cache, stable: 5 } });
    expect(marksIn(wordless)).toEqual(["Be brief.", "Hello"]);
    const empty = await marks({ instructions: "", messages: [said("user", { type: "text", text: "" })] });
    expect(JSON.stringify(empty)).not.toContain("cache_control");
    const none = await marks({ cache: { ...cache, stable: 0 } });
    expect(marksIn(none)).toEqual(["Be brief."]);
    const { cache: _, ...plain } = requestWith();
    await using server = await serve(wire, [{ text: "Hi." }]);
    await collect(wires["openai-compatible, with marks"].model(server.baseURL), plain);
    expect(server.sent[0]?.body).not.toContain("cache_control");
  });
});

describe("the AI SDK", () => {
  const key = { apiKey: "sk-ant-0123456789" };
  const claude = (options: Parameters<typeof fromAiSdk>[1]) => (baseURL: string) =>
    fromAiSdk(createAnthropic({ baseURL, ...key })("claude-sonnet-4-5"), options);
  const gpt = (options: Parameters<typeof fromAiSdk>[1]) => (baseURL: string) =>
    fromAiSdk(createOpenAI({ baseURL, ...key })("gpt-5"), options);

  test("it can be left out, and a word that nobody knows is refused", async () => {
    const none = await bodyOf(wires["@ai-sdk/anthropic"], claude({ promptCache: "none" }));
    expect(JSON.stringify(none)).not.toContain("cache");
    const silent = await bodyOf(wires["@ai-sdk/openai, responses"], gpt({ promptCache: "none" }));
    expect(JSON.stringify(silent)).not.toContain("cache");
    expect(() => fromAiSdk(objectModel("v4", []), { promptCache: "always" as "key" })).toThrow("promptCache");
  });

  test("a package that nobody knows is told nothing, unless somebody says what it reads", async () => {
    const asked = async (options: Parameters<typeof fromAiSdk>[1], version: "v3" | "v4" = "v4"): Promise<Body> => {
      const model = objectModel(version, [{ parts: wholeParts({ text: "Hi." }) }]);
      const inputSchema = { type: "object" };
      const tools = [{ name: "look", description: "Looks", inputSchema }];
      await collect(fromAiSdk(model, options), requestWith({ messages: [hello], cache, tools }));
      return model.asked[0];
    };
    expect(JSON.stringify((await asked({})).prompt)).not.toContain("providerOptions");
    expect(await asked({})).not.toHaveProperty("providerOptions");
    expect(await asked({ promptCache: "key" })).toMatchObject({
      providerOptions: { openai: { promptCacheKey: cache.key } },
    });
    for (const version of ["v3", "v4"] as const) {
      const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
      expect(await asked({ promptCache: "marks" }, version)).toMatchObject({
        prompt: [
          { role: "system", providerOptions },
          { role: "user", content: [{ type: "text", text: "Hello", providerOptions }] },
        ],
        tools: [{ name: "look", providerOptions }],
      });
    }
  });

  test("who sets cacheControl or a key for the whole call decides alone", async () => {
    const cacheControl = { type: "ephemeral", ttl: "1h" };
    const settings = { providerOptions: { anthropic: { cacheControl } } };
    const body = await bodyOf(wires["@ai-sdk/anthropic"], claude({ settings }));
    expect(body.cache_control).toEqual(cacheControl);
    expect(JSON.stringify(body).split("cache_control")).toHaveLength(2);
    const own = { providerOptions: { openai: { promptCacheKey: "mine" } } };
    const keyed = await bodyOf(wires["@ai-sdk/openai, responses"], gpt({ settings: own }));
    expect(keyed.prompt_cache_key).toBe("mine");
  });

  test("a thought is never marked: the part before it is, and what it wants back is kept", async () => {
    const own = { "anthropic.messages": { anthropic: { signature: "s" } } };
    const messages = [
      hello,
      said("assistant", { type: "text", text: "So." }, { type: "reasoning", text: "Hm.", metadata: own }),
      said("user", { type: "text", text: "" }),
    ];
    const warnings: string[] = [];
    const model = claude({ onWarning: (warning) => warnings.push(warning) });
    const body = await bodyOf(wires["@ai-sdk/anthropic"], model, { messages, cache: { ...cache, stable: 3 } });
    expect(marksIn(body.messages)).toEqual(["Hello", "So."]);
    expect(body.messages[1].content[1]).toEqual({ type: "thinking", thinking: "Hm.", signature: "s" });
    expect(warnings).toEqual([]);
  });

  test("what a part wants back stays beside its mark, and what is stored has none", async () => {
    const metadata = { "hand.written": { anthropic: { id: "t1" }, other: { id: "t2" } } };
    const messages = [hello, said("assistant", { type: "text", text: "So.", metadata }), said("tool")];
    const model = objectModel("v4", [{ parts: wholeParts({ text: "Hi." }) }]);
    const request = requestWith({ messages, cache: { ...cache, stable: 3 } });
    await collect(fromAiSdk(model, { promptCache: "marks" }), request);
    const { content }: Body = model.asked[0]?.prompt.at(-1) ?? {};
    const cacheControl = { type: "ephemeral" };
    expect(content[0].providerOptions).toEqual({ anthropic: { id: "t1", cacheControl }, other: { id: "t2" } });
    expect(JSON.stringify(messages)).not.toContain("cacheControl");
  });
});
