import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { agent } from "../../src/domain/agent.ts";
import type { MessageId, ThreadId } from "../../src/domain/ids.ts";
import { tool } from "../../src/domain/tool.ts";
import type { Model, ModelPart, ModelRequest } from "../../src/ports/provider.ts";
import { cassette } from "../../src/providers/cassette/cassette.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { testRuntime } from "../../src/testing.ts";
import { city, forecaster, freshFolder, offline, play, realModel } from "./fixtures.ts";

const at = freshFolder();

async function recorded(name: string): Promise<string> {
  const file = at(name);
  await play(forecaster(cassette(realModel(), { file, mode: "record" })));
  return file;
}

test("changed instructions fail the run, and the error names the field, both values and what to do", async () => {
  const file = await recorded("instructions.jsonl");
  const { outcome, error } = await play(forecaster(cassette(offline, { file, mode: "replay" }), "Tell the news."));
  expect(outcome).toBe("failed");
  expect(error?.code).toBe("cassette-diverged");
  expect(error?.message).toBe(
    `Step 1 of agent forecaster asks what the cassette ${file} has no answer to: instructions differs from call 1 (agent forecaster, step 1): recorded "Tell the weather.", now "Tell the news.". If the change is meant, record again with mode "record"; if not, undo it`,
  );
});

test("a changed prompt names the text, from shortly before it differs", async () => {
  const file = await recorded("prompt.jsonl");
  const input = `How is it in Oslo and Rome?${" Really".repeat(40)}`;
  const { error } = await play(forecaster(cassette(offline, { file, mode: "replay" })), input);
  expect(error?.message).toContain("messages[0].parts[0].text differs from call 1");
  expect(error?.message).toContain('recorded "How is it in Oslo and Rome?", now "How is it in Oslo and Rome? Really');
});

test("a tool that answers otherwise diverges at the next step, in the result", async () => {
  const file = await recorded("result.jsonl");
  const hail = tool({
    name: "weather",
    description: "The weather of a city",
    input: z.object({ city: z.string() }),
    effect: "pure",
    execute: ({ city: name }) => ({ city: name, sky: "hail" }),
  });
  const model = cassette(offline, { file, mode: "replay" });
  const { error } = await play(agent({ name: "forecaster", instructions: "Tell the weather.", model, tools: [hail] }));
  expect(error?.message).toContain("Step 2 of agent forecaster");
  expect(error?.message).toContain(
    "messages[2].parts[0].result.value.sky differs from call 3 (agent forecaster, step 2)",
  );
  expect(error?.message).toContain('recorded "snow", now "hail"');
});

const asked: ModelRequest = {
  agent: "a",
  thread: "t" as ThreadId,
  step: 1,
  attempt: 1,
  instructions: "Be kind.",
  messages: [{ id: "m-1" as MessageId, role: "user", visibility: "all", parts: [{ type: "text", text: "hi" }] }],
  tools: [{ name: "weather", description: "d", inputSchema: { type: "object" } }],
  output: { schema: { type: "string" } },
  settings: { temperature: 0 },
  maxOutputTokens: 100,
};

async function partsOf(model: Model, request: ModelRequest): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.call(request, new AbortController().signal)) parts.push(part);
  return parts;
}

const real = scripted(["yes", "no"], { name: "m" });

test.each<[string, Partial<ModelRequest>]>([
  ["instructions", { instructions: "Be cruel." }],
  ["tools[0].description", { tools: [{ name: "weather", description: "other", inputSchema: { type: "object" } }] }],
  ["tools[1]", { tools: [...asked.tools, { name: "b", description: "", inputSchema: {} }] }],
  ["output.schema.type", { output: { schema: { type: "number" } } }],
  ["settings.temperature", { settings: { temperature: 1 } }],
  ["settings.topP", { settings: { temperature: 0, topP: 1 } }],
  ["maxOutputTokens", { maxOutputTokens: 99 }],
  ["continues", { continues: "Once upon" }],
  [
    "messages[0].parts[0].text",
    { messages: [{ ...asked.messages[0], parts: [{ type: "text", text: "ho" }] } as never] },
  ],
  ["messages[0].role", { messages: [{ ...asked.messages[0], role: "system" } as never] }],
  ["messages[0]", { messages: [] }],
])("a change of %s is seen and named", async (path, change) => {
  const file = at(`field-${path.replaceAll(/\W/g, "-")}.jsonl`);
  await partsOf(cassette(real, { file, mode: "record" }), asked);
  const replay = cassette(real, { file, mode: "replay" });
  await expect(partsOf(replay, { ...asked, ...change })).rejects.toMatchObject({
    code: "cassette-diverged",
    details: { path, call: 1 },
  });
  expect(await partsOf(replay, asked)).toEqual(await partsOf(real, asked));
});

test("what is said for a prompt cache is neither written nor compared: a recording serves every thread", async () => {
  const file = at("cache.jsonl");
  const cache = { key: "key-canary", stable: 1 };
  await partsOf(cassette(real, { file, mode: "record" }), { ...asked, cache });
  expect(readFileSync(file, "utf8")).not.toMatch(/key-canary|stable/);
  const replay = cassette(offlineNamed("m"), { file, mode: "replay" });
  const answers = [asked, { ...asked, cache }, { ...asked, cache: { key: "another", stable: 0 } }];
  for (const request of answers) expect((await partsOf(replay, request)).at(-1)).toMatchObject({ reason: "stop" });
});

function offlineNamed(model: string): Model {
  return { ...offline, description: { ...offline.description, model } };
}

test("of recordings that differ alike, the one of the same agent and step is named", async () => {
  const file = at("tie.jsonl");
  const recording = cassette(real, { file, mode: "record" });
  await partsOf(recording, asked);
  await partsOf(recording, { ...asked, step: 2 });
  const replay = cassette(real, { file, mode: "replay" });
  const changed = { ...asked, instructions: "Be cruel." };
  await expect(partsOf(replay, { ...changed, step: 2 })).rejects.toMatchObject({ details: { call: 2 } });
  await expect(partsOf(replay, changed)).rejects.toMatchObject({ details: { call: 1 } });
});

test("another model is another request", async () => {
  const file = at("model.jsonl");
  await partsOf(cassette(real, { file, mode: "record" }), asked);
  const other = cassette(scripted([], { name: "n" }), { file, mode: "replay" });
  await expect(partsOf(other, asked)).rejects.toMatchObject({
    details: { path: "model", recorded: "scripted/m", now: "scripted/n" },
  });
});

test("what the provider never sees is no difference: ids, thread, agent, step, attempt, order of fields", async () => {
  const file = at("unseen.jsonl");
  await partsOf(cassette(real, { file, mode: "record" }), { ...asked, settings: { a: 1, b: 2 } });
  const [message] = asked.messages;
  const same: ModelRequest = {
    ...asked,
    agent: "b",
    thread: "u" as ThreadId,
    step: 2,
    attempt: 7,
    messages: [{ ...message, id: "other" } as never],
    settings: { b: 2, a: 1 },
  };
  expect(await partsOf(cassette(real, { file, mode: "replay" }), same)).toEqual(await partsOf(real, asked));
});

test("ids of calls are their numbers: a call that is answered under another number differs", async () => {
  const file = at("calls.jsonl");
  const call = (id: string) => ({
    type: "tool-call",
    call: id,
    tool: city.spec.name,
    input: { kind: "json", value: {} },
  });
  const result = (id: string) => ({
    type: "tool-result",
    call: id,
    tool: "weather",
    result: { kind: "value", value: 1 },
  });
  const talk = (first: string, second: string, answered: string): ModelRequest => ({
    ...asked,
    messages: [
      { id: "a", role: "assistant", visibility: "all", parts: [call(first), call(second)] },
      { id: "b", role: "tool", visibility: "all", parts: [result(answered)] },
    ] as never,
  });
  await partsOf(cassette(real, { file, mode: "record" }), talk("run-1.1.0", "run-1.1.1", "run-1.1.0"));
  const replay = cassette(real, { file, mode: "replay" });
  await partsOf(replay, talk("run-2.1.0", "run-2.1.1", "run-2.1.0"));
  await expect(partsOf(replay, talk("run-2.1.0", "run-2.1.1", "run-2.1.1"))).rejects.toMatchObject({
    details: { path: "messages[1].parts[0].call", recorded: "call-1", now: "call-2" },
  });
});

test("long bytes are on the tape by their hash, and other bytes diverge", async () => {
  const file = at("bytes.jsonl");
  const eye = (mode: "record" | "replay") =>
    agent({ name: "eye", instructions: "", model: cassette(scripted(["A cat."]), { file, mode }) });
  const seen = async (mode: "record" | "replay", first: number) => {
    const body = new Uint8Array(200_000).fill(first);
    await using t = await testRuntime({ agents: [eye(mode)] });
    return await (await t.runtime.start("eye", [{ type: "image", mediaType: "image/png", body }])).result();
  };
  expect(await seen("record", 1)).toMatchObject({ outcome: "completed" });
  expect(readFileSync(file, "utf8").length).toBeLessThan(4_000);
  expect(await seen("replay", 1)).toMatchObject({ outcome: "completed", output: "A cat." });
  const other = await seen("replay", 2);
  expect(JSON.stringify(other)).toContain("messages[0].parts[0].url differs from call 1");
});

test("a file that a model makes comes from the tape as it came", async () => {
  const file = at("made.jsonl");
  const made = { mediaType: "image/png", url: `data:image/png;base64,${"AAAA".repeat(3_000)}` };
  for (const mode of ["record", "replay"] as const) {
    const model = cassette(scripted([{ text: "Here.", files: [made] }]), { file, mode });
    const parts: ModelPart[] = [];
    const request = {
      agent: "a",
      thread: "t" as ThreadId,
      step: 1,
      attempt: 1,
      instructions: "",
      messages: [],
      tools: [],
    };
    for await (const part of model.call(request, new AbortController().signal)) parts.push(part);
    expect(parts).toContainEqual({ type: "file", ...made });
  }
});
