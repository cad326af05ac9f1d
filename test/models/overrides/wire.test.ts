/** What overrides are on the wire: the bodies that real servers get, through our adapter and through the real packages. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { expect, test } from "vitest";
import {
  type AiSdkModel,
  agent,
  createRuntime,
  fromAiSdk,
  type Model,
  type Overrides,
  pool,
  type RunResult,
} from "../../../src/index.ts";
import { openaiCompatible } from "../../../src/openai.ts";
import { collect, requestWith } from "../../../src/testing/conformance/model-fixtures.ts";
import { cassette } from "../../../src/testing.ts";
import { anthropicEvents } from "../ai-sdk/anthropic-wire.ts";
import { objectModel } from "../ai-sdk/objects.ts";
import { responsesEvents } from "../ai-sdk/responses-wire.ts";
import { type Dialect, dialects, eventsOf } from "../openai/dialects.ts";
import { openPlayServer, type Play } from "../openai/play-server.ts";

type Body = Readonly<Record<string, unknown>>;
interface Played {
  readonly body: Body;
  readonly result: RunResult;
}

/** The body of the one call of a run with these overrides. */
async function play(
  chunks: Play["chunks"],
  modelAt: (baseURL: string) => Model | AiSdkModel,
  overrides: Overrides,
): Promise<Played> {
  await using server = await openPlayServer([{ chunks }]);
  const helper = agent({ name: "helper", instructions: "", model: modelAt(server.baseURL) });
  await using runtime = await createRuntime({ agents: [helper], limits: { modelAttempts: 1 } });
  const result = await runtime.run(helper, "go", { overrides });
  return { result, body: JSON.parse(server.sent[0]?.body ?? "{}") as Body };
}

const chat = eventsOf({ text: "Hi." }, dialects["openai"] as Dialect);
const own =
  (more: object = {}) =>
  (baseURL: string) =>
    openaiCompatible({ baseURL, model: "m", ...more });
const named: Overrides = { temperature: 0.25, maxOutputTokens: 77, topP: 0.5, reasoningEffort: "high" };

test("openai-compatible: each field by the server's own name, and settings as they are", async () => {
  const { body } = await play(chat, own(), { ...named, settings: { seed: 7, logit_bias: { "1": 2 } } });
  expect(body).toMatchObject({
    temperature: 0.25,
    max_tokens: 77,
    top_p: 0.5,
    reasoning_effort: "high",
    seed: 7,
    logit_bias: { "1": 2 },
  });
  for (const name of ["topP", "reasoningEffort", "maxOutputTokens", "settings"]) expect(body).not.toHaveProperty(name);
});

test("openai-compatible: the field that bounds the answer is the dialect's", async () => {
  const { body } = await play(chat, own({ maxTokensField: "max_completion_tokens" }), named);
  expect(body).toMatchObject({ max_completion_tokens: 77 });
  expect(body).not.toHaveProperty("max_tokens");
});

test("openai-compatible: without overrides the model's own settings stay, and with them the later word counts", async () => {
  const settings = { temperature: 1, top_p: 1, reasoning_effort: "low", seed: 1 };
  const { body: plain } = await play(chat, own({ settings }), {});
  expect(plain).toMatchObject(settings);
  const { body } = await play(chat, own({ settings }), { temperature: 0, settings: { top_p: 0.1 } });
  expect(body).toMatchObject({ temperature: 0, top_p: 0.1, reasoning_effort: "low", seed: 1 });
});

const gpt = (name: string) => (baseURL: string) => createOpenAI({ baseURL, apiKey: "sk-0123456789abcdef" })(name);
const claude = (name: string) => (baseURL: string) => createAnthropic({ baseURL, apiKey: "sk-ant-0123456789" })(name);

test("@ai-sdk/openai: each field as the responses API calls it", async () => {
  const warm = await play(responsesEvents({ text: "Hi." }), gpt("gpt-4.1"), { ...named, reasoningEffort: "none" });
  expect(warm.result).toMatchObject({ output: "Hi." });
  expect(warm.body).toMatchObject({ model: "gpt-4.1", temperature: 0.25, top_p: 0.5, max_output_tokens: 77 });
  const { body } = await play(responsesEvents({ text: "Hi." }), gpt("gpt-5"), { reasoningEffort: "high" });
  expect(body).toMatchObject({ reasoning: { effort: "high" } });
});

test("@ai-sdk/anthropic: each field as the messages API calls it", async () => {
  const cool = { temperature: 0.25, maxOutputTokens: 77 };
  const warm = await play(anthropicEvents({ text: "Hi." }), claude("claude-sonnet-4-5"), cool);
  expect(warm.result).toMatchObject({ output: "Hi." });
  expect(warm.body).toMatchObject({ model: "claude-sonnet-4-5", temperature: 0.25, max_tokens: 77 });
  expect(warm.body).not.toHaveProperty("thinking");
  const topP = await play(anthropicEvents({ text: "Hi." }), claude("claude-sonnet-4-5"), { topP: 0.5 });
  expect(topP.body).toMatchObject({ top_p: 0.5 });
  const { body } = await play(anthropicEvents({ text: "Hi." }), claude("claude-sonnet-4-5"), {
    reasoningEffort: "high",
  });
  expect(body).toMatchObject({ thinking: { type: "enabled", budget_tokens: expect.any(Number) } });
});

const parts = [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Hi." },
  { type: "text-end", id: "1" },
  { type: "finish", finishReason: { unified: "stop" }, usage: {} },
];
const asked = { temperature: 0.25, topP: 0.5, reasoningEffort: "low", maxOutputTokens: 77 } as const;

test("an AI SDK object of specification v4 gets the call options of that name", async () => {
  const model = objectModel("v4", [{ parts }]);
  await collect(fromAiSdk(model), requestWith(asked));
  expect(model.asked[0]).toMatchObject({ temperature: 0.25, topP: 0.5, reasoning: "low", maxOutputTokens: 77 });
});

test("one of v3 gets the effort by its vendor's name, where that is known, and is refused by name where it is not", async () => {
  const known = { ...objectModel("v3", [{ parts }]), provider: "openai.chat" };
  const settings = { providerOptions: { openai: { user: "ana" } } };
  await collect(fromAiSdk(known), requestWith({ ...asked, settings }));
  expect(known.asked[0]).toMatchObject({
    temperature: 0.25,
    providerOptions: { openai: { reasoningEffort: "low", user: "ana" } },
  });
  expect(known.asked[0]).not.toHaveProperty("reasoning");
  const foreign = objectModel("v3", [{ parts }]);
  const problem = "reasoningEffort: hand.written of specification v3 has no name for it here";
  expect(fromAiSdk(foreign).problemsWith?.(asked)).toEqual([expect.stringContaining(problem)]);
  await expect(collect(fromAiSdk(foreign), requestWith(asked))).rejects.toThrow(problem);
  expect(foreign.asked).toEqual([]);
});

test("what stands for other models is asked for their problems", async () => {
  const model = openaiCompatible({ baseURL: "http://127.0.0.1:9/v1", model: "m" });
  const both = pool([model, fromAiSdk(objectModel("v3", [{ parts }]))]);
  const wrong = { reasoningEffort: "low", settings: { stream: true } } as const;
  expect(both.problemsWith?.(wrong)).toEqual([
    "settings.stream: is decided by each request, not by settings",
    expect.stringContaining("settings.stream: unknown option"),
    expect.stringContaining("reasoningEffort:"),
  ]);
  const taped = cassette(model, { file: "never-written.jsonl", mode: "record" });
  expect(taped.problemsWith?.(wrong)).toHaveLength(1);
  expect(both.problemsWith?.({ temperature: 1 })).toEqual([]);
});
