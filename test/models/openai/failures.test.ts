/** X1 and X2: what goes wrong with a server has one name, says when to try again, and shows no key. */
import { expect, test } from "vitest";
import { secret } from "../../../src/domain/secret.ts";
import { type OpenAiCompatibleOptions, openaiCompatible } from "../../../src/openai.ts";
import { retryAfterMs } from "../../../src/providers/shared/retry-after.ts";
import {
  callsIn,
  collect,
  failureOf,
  finishIn,
  requestWith,
  textIn,
} from "../../../src/testing/conformance/model-fixtures.ts";
import { type Dialect, dialects, eventsOf } from "./dialects.ts";
import { openPlayServer, type Play } from "./play-server.ts";

const key = "sk-very-secret-0001";
const openai = dialects["openai"] as Dialect;

async function fail(play: Play, options: Partial<OpenAiCompatibleOptions> = {}) {
  await using server = await openPlayServer([play]);
  const model = openaiCompatible({ baseURL: server.baseURL, model: "m", apiKey: key, ...options });
  return { ...(await failureOf(model)), requests: server.sent.length };
}

async function answer(chunks: readonly string[], after: Play["after"] = "end") {
  await using server = await openPlayServer([{ chunks, after }]);
  return await collect(openaiCompatible({ baseURL: server.baseURL, model: "m" }), requestWith());
}

const body = (said: unknown): readonly string[] => [typeof said === "string" ? said : JSON.stringify(said)];
const err = (error: object): object => ({ error });

const statuses: readonly (readonly [number, unknown, string, string])[] = [
  [400, err({ message: "bad" }), "model-refused", "never"],
  [400, err({ message: "This model's maximum context length is 8192 tokens" }), "model-context-overflow", "never"],
  [400, err({ code: "context_length_exceeded", message: "x" }), "model-context-overflow", "never"],
  [400, err({ code: "content_filter", message: "x" }), "model-content-filtered", "never"],
  [400, err({ innererror: { code: "ResponsibleAIPolicyViolation" } }), "model-content-filtered", "never"],
  [
    400,
    [{ error: { code: 400, status: "API_KEY_INVALID", message: "API key not valid" } }],
    "model-unauthorized",
    "never",
  ],
  [400, err({ code: "model_not_found", message: "x" }), "model-not-found", "never"],
  [400, { detail: [{ loc: ["body", "messages"], msg: "field required" }] }, "model-refused", "never"],
  [401, err({ message: "no" }), "model-unauthorized", "never"],
  [402, err({ message: "Insufficient Balance" }), "model-refused", "never"],
  [403, "forbidden", "model-unauthorized", "never"],
  [404, { detail: "Not Found" }, "model-not-found", "never"],
  [405, "", "model-not-found", "never"],
  [408, "", "model-timeout", "later"],
  [409, "", "model-failed", "later"],
  [413, "", "model-context-overflow", "never"],
  [422, { detail: "nonsense" }, "model-refused", "never"],
  [429, err({ message: "slow down" }), "model-rate-limited", "later"],
  [429, err({ code: "insufficient_quota", message: "pay" }), "model-refused", "never"],
  [418, "", "model-refused", "never"],
  [500, "<html>", "model-failed", "later"],
  [502, "", "model-failed", "later"],
  [503, err({ message: "busy" }), "model-overloaded", "later"],
  [504, "", "model-timeout", "later"],
  [529, err({ type: "overloaded_error" }), "model-overloaded", "later"],
  [599, "", "model-failed", "later"],
];

test.each(statuses)("X2 status %d with %j is %s, again: %s", async (...[status, said, code, retry]) => {
  const { error, requests } = await fail({ status, chunks: body(said) });
  expect(error).toMatchObject({ code, retry });
  expect(error.message).toContain(`status ${status}`);
  expect(requests).toBe(1);
});

test("X2 what the server says is told, in whatever shape it says it", async () => {
  for (const said of [
    err({ message: "odd-word" }),
    { error: "odd-word" },
    { message: "odd-word" },
    { detail: "odd-word" },
  ])
    expect((await fail({ status: 400, chunks: body(said) })).error.message).toContain("odd-word");
  const listed = { detail: [{ loc: ["body", "n"], msg: "odd-word" }] };
  expect((await fail({ status: 422, chunks: body(listed) })).error.message).toContain("body.n: odd-word");
});

test("X1 a server that repeats key and headers is not quoted with them", async () => {
  const text = `key ${key} and header hunter2222`;
  for (const status of [400, 401, 403, 404, 429, 500]) {
    const headers = { "x-pass": secret("hunter2222") };
    const { error } = await fail({ status, chunks: body(err({ message: text })) }, { headers });
    const written = JSON.stringify([error.message, error.details, String(error), error.stack]);
    expect(written).not.toContain(key);
    expect(written).not.toContain("hunter2222");
  }
  const inStream = await fail({ chunks: [`data: ${JSON.stringify(err({ message: text }))}\n\n`] });
  expect(inStream.error.message).toContain("[secret]");
});

test("X1 a header's value that is no secret, and a key that is escaped or encoded, are not quoted either", async () => {
  const odd = "a+b/c==key-5566";
  const options = { apiKey: odd, headers: { "x-api-key": "hdr-key-77-zz", "x-team": "team-value-77" } };
  const said = [odd, encodeURIComponent(odd), odd.replaceAll("/", "\\/"), "hdr-key-77-zz", "team-value-77"].join(
    " and ",
  );
  for (const chunks of [body(err({ message: said })), body(said)]) {
    const { error } = await fail({ status: 500, chunks }, options);
    expect(error.message).toBe(
      "openai-compatible/m answered with status 500: [secret] and [secret] and [secret] and [secret] and [secret]",
    );
  }
});

test("a redirect is not followed, so no key goes where nobody sent it", async () => {
  await using elsewhere = await openPlayServer([{ chunks: eventsOf({ text: "Hi." }, openai) }]);
  const location = `${elsewhere.baseURL}/chat/completions`;
  const { error } = await fail({ status: 307, headers: { location }, chunks: [] });
  expect(error).toMatchObject({ code: "model-not-found", retry: "never" });
  expect(elsewhere.sent).toEqual([]);
});

test("a web page instead of an answer says that the address is wrong", async () => {
  const { error } = await fail({ headers: { "content-type": "text/html" }, chunks: ["<html>"] });
  expect(error).toMatchObject({ code: "model-not-found", message: expect.stringContaining("base URL") });
});

test("a server that is not there is named with its address, and tried again", async () => {
  const server = await openPlayServer([{ chunks: [] }]);
  const { baseURL } = server;
  await server[Symbol.asyncDispose]();
  const { error } = await failureOf(openaiCompatible({ baseURL: `${baseURL}?key=${key}`, model: "m" }));
  expect(error).toMatchObject({ code: "model-unreachable", retry: "later" });
  expect(error.message).toContain("ECONNREFUSED");
  expect(error.message).toContain(baseURL);
  expect(error.message).not.toContain(key);
});

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const broken: Record<string, readonly [readonly string[], string]> = {
  "a chunk that is no JSON": [["data: {nope\n\n"], "model-malformed"],
  "JSON that is cut": [['data: {"choices":[{"delta":{"content":"Ha'], "model-interrupted"],
  "a chunk that is a list": [["data: []\n\n"], "model-malformed"],
  "an end before the finish": [[chunk({ content: "Half" })], "model-interrupted"],
  "no bytes at all": [[], "model-interrupted"],
  "an error in the middle": [[chunk({ content: "Half" }), 'data: {"error":{"message":"x"}}\n\n'], "model-failed"],
  "an overload in the middle": [['data: {"error":{"message":"x","code":503}}\n\n'], "model-overloaded"],
  "a rate limit in the middle": [['data: {"error":{"message":"x","code":"429"}}\n\n'], "model-rate-limited"],
  "a finish by error": [[chunk({ content: "Half" }), chunk({}, "error")], "model-failed"],
  "a finish by abort": [[chunk({}, "abort")], "model-failed"],
  "a finish for lack of machines": [[chunk({}, "insufficient_system_resource")], "model-overloaded"],
};
test.each(Object.entries(broken))(
  "a stream with %s is told by its name, without its text",
  async (_what, [chunks, code]) => {
    const { error } = await fail({ chunks });
    expect(error).toMatchObject({ code, retry: "later" });
    expect(error.message).not.toContain("Ha");
  },
);

test("an event of 10 MB is refused before it is whole, in a stream or not", { timeout: 60_000 }, async () => {
  const megabyte = "x".repeat(1_000_000);
  const pieces = Array.from({ length: 10 }, () => megabyte);
  const streamed = await fail({ chunks: ['data: {"choices":[{"delta":{"content":"', ...pieces] });
  expect(streamed.error).toMatchObject({ code: "model-malformed", message: expect.stringContaining("more than") });
  const json = { "content-type": "application/json" };
  const whole = await fail({ headers: json, chunks: ['{"choices":[{"message":{"content":"', ...pieces] });
  expect(whole.error).toMatchObject({ code: "model-malformed", message: expect.stringContaining("more than") });
});

test("an error page of 10 MB is not read to its end", async () => {
  const megabyte = "x".repeat(1_000_000);
  const { error } = await fail({ status: 500, chunks: Array.from({ length: 10 }, () => megabyte) });
  expect(error).toMatchObject({ code: "model-failed" });
  expect(error.message.length).toBeLessThan(5_000);
});

test("a connection that is lost after the finish has lost nothing", async () => {
  const parts = await answer([chunk({ content: "Whole." }), chunk({}, "stop")], "cut");
  expect(textIn(parts)).toBe("Whole.");
  expect(finishIn(parts).reason).toBe("stop");
});

const finishes: Record<string, string> = {
  stop: "stop",
  STOP: "stop",
  end_turn: "stop",
  eos: "stop",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  max_tokens: "length",
  content_filter: "content-filter",
  SAFETY: "content-filter",
  refusal: "content-filter",
  constructor: "other",
  load: "other",
};
test.each(Object.entries(finishes))("the finish %s is %s", async (word, reason) => {
  expect(finishIn(await answer([chunk({ content: "x" }), chunk({}, word)])).reason).toBe(reason);
});

test("a refusal is text that is no success", async () => {
  const parts = await answer([chunk({ refusal: "I will not." }), chunk({}, "stop"), "data: [DONE]\n\n"]);
  expect(textIn(parts)).toBe("I will not.");
  expect(finishIn(parts).reason).toBe("content-filter");
});

test("[DONE] without a reason is no success either", async () => {
  expect(finishIn(await answer([chunk({ content: "x" }), "data: [DONE]\n\n"])).reason).toBe("other");
});

const usages: Record<string, readonly [object, object | undefined]> = {
  "negative numbers": [{ usage: { prompt_tokens: -1, completion_tokens: 5 } }, undefined],
  texts: [{ usage: { prompt_tokens: "7", completion_tokens: 5 } }, undefined],
  "an empty record": [{ usage: {} }, undefined],
  "groq's own place": [
    { x_groq: { usage: { prompt_tokens: 3, completion_tokens: 5 } } },
    { inputTokens: 3, outputTokens: 5 },
  ],
  "a choice": [
    { choices: [{ usage: { prompt_tokens: 3, completion_tokens: 5, cached_tokens: 2 } }] },
    { inputTokens: 3, outputTokens: 5, cacheReadTokens: 2 },
  ],
  "what was written into the cache": [
    { usage: { prompt_tokens: 3, completion_tokens: 5, prompt_tokens_details: { cache_write_tokens: 1 } } },
    { inputTokens: 3, outputTokens: 5, cacheWriteTokens: 1 },
  ],
};
test.each(Object.entries(usages))("a count in %s is read, or is unknown", async (_where, [said, usage]) => {
  const parts = await answer([chunk({ content: "x" }), `data: ${JSON.stringify(said)}\n\n`, chunk({}, "stop")]);
  expect(finishIn(parts).usage).toEqual(usage);
});

const call = (piece: object): string => chunk({ tool_calls: [piece] });
const odd: Record<string, readonly [readonly string[], readonly string[]]> = {
  "pieces of two calls that take turns": [
    [
      call({ index: 0, id: "a", function: { name: "f", arguments: '{"n"' } }),
      call({ index: 1, id: "b", function: { name: "g", arguments: '{"m"' } }),
      call({ index: 0, function: { arguments: ":1}" } }),
      call({ index: 1, function: { arguments: ":2}" } }),
    ],
    ['f{"n":1}', 'g{"m":2}'],
  ],
  "the same id and index for two whole calls": [
    [
      call({ index: 0, id: "a", function: { name: "f", arguments: '{"n":1}' } }),
      call({ index: 0, id: "a", function: { name: "f", arguments: '{"n":2}' } }),
    ],
    ['f{"n":1}', 'f{"n":2}'],
  ],
  "no index and no id, in pieces": [
    [
      call({ function: { name: "f", arguments: "" } }),
      call({ function: { arguments: '{"n":' } }),
      call({ function: { arguments: "1}" } }),
      call({ function: { name: "g", arguments: "{}" } }),
    ],
    ['f{"n":1}', "g{}"],
  ],
  "arguments that are an object already": [
    [call({ index: 0, id: "a", function: { name: "f", arguments: { n: 1 } } })],
    ['f{"n":1}'],
  ],
  "no arguments at all": [[call({ index: 0, id: "a", function: { name: "f" } })], ["f{}"]],
  "indexes that do not begin at 0": [[call({ index: 7, id: "a", function: { name: "f", arguments: "{}" } })], ["f{}"]],
};
test.each(Object.entries(odd))("calls with %s are put together", async (_what, [chunks, calls]) => {
  const parts = await answer([...chunks, chunk({}, "tool_calls")]);
  expect(callsIn(parts).map(({ tool, inputText }) => tool + inputText)).toEqual(calls);
});

test("content in parts, thoughts among them, is text and reasoning", async () => {
  const content = [
    { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
    { type: "text", text: "Yes." },
  ];
  const parts = await answer([chunk({ content }), chunk({}, "stop")]);
  expect(textIn(parts, "reasoning-delta")).toBe("Hm.");
  expect(textIn(parts)).toBe("Yes.");
});

test("an apiKey function that throws or answers nothing is told without its words", async () => {
  const throwing = () => {
    throw new Error(`vault says ${key}`);
  };
  for (const [apiKey, code] of [
    [throwing, "model-failed"],
    [() => "", "model-unauthorized"],
    [() => "two\nlines", "model-unauthorized"],
  ] as const) {
    const { error } = await failureOf(openaiCompatible({ baseURL: "http://127.0.0.1:9/v1", model: "m", apiKey }));
    expect(error.code).toBe(code);
    expect(error.message).not.toContain(key);
  }
});

test.each([
  ["7", 7_000],
  ["0.25", 250],
  ["-1", 0],
  ["1000000000", 86_400_000],
  ["Sun, 15 Nov 2026 10:00:30 GMT", 30_000],
  ["Sun, 15 Nov 2026 09:00:00 GMT", 0],
  ["soon", undefined],
  ["", undefined],
])("Retry-After: %s is %s ms", (value, ms) => {
  expect(retryAfterMs(new Headers({ "retry-after": value }), Date.parse("2026-11-15T10:00:00Z"))).toBe(ms);
});

test("milliseconds are more exact than seconds", () => {
  expect(retryAfterMs(new Headers({ "retry-after-ms": "1234", "retry-after": "9" }), 0)).toBe(1_234);
});

test("every wrong option is named at once, and no key with it", () => {
  const wrong = {
    baseURL: `https://user:${key}@host/v1`,
    model: "",
    apiKey: 7,
    headers: { ok: "1", "no no": "x", empty: "" },
    name: "",
    description: { contextWindow: 0, accepts: ["smell"], prices: { inputPerMillion: -1 } },
    settings: { n: 2 },
    maxTokensField: "tokens",
    countTokens: "yes",
    returnReasoning: 1,
    fetch: "fetch",
    modle: "typo",
  };
  let problems: readonly string[] = [];
  try {
    openaiCompatible(wrong as never);
  } catch (error) {
    problems = (error as { problems: readonly string[] }).problems;
  }
  const names = problems.map((problem) => problem.split(":")[0]);
  expect(names.sort()).toEqual(
    [
      "apiKey",
      "baseURL",
      "countTokens",
      "description.accepts",
      "description.contextWindow",
      "description.prices.inputPerMillion",
      "description.prices.outputPerMillion",
      "fetch",
      "headers.empty",
      "headers.no no",
      "maxTokensField",
      "model",
      "modle",
      "name",
      "returnReasoning",
      "settings.n",
    ].sort(),
  );
  expect(problems.join()).not.toContain(key);
});

test("a key that cannot be sent is refused when the model is made, without being shown", () => {
  for (const apiKey of [`${key}\n`, secret(`${key}\r\n`), `${key} `, "ключ"]) {
    const make = () => openaiCompatible({ baseURL: "http://127.0.0.1:9/v1", model: "m", apiKey });
    expect(make).toThrow(expect.objectContaining({ problems: [expect.stringMatching(/^apiKey: .*line/)] }));
    expect(make).not.toThrow(key);
  }
});

test("X1 what is in the query of the address is in no message, as it is or as it is written", async () => {
  const query = `key=${key}%2Bmore&api-version=2024-10-21&v=7&sig=`;
  const play: Play = {
    status: 400,
    chunks: body(err({ message: `no: ?${query} or ${key}+more, version 2024-10-21` })),
  };
  await using server = await openPlayServer([play]);
  const model = openaiCompatible({ baseURL: `${server.baseURL}?${query}`, model: "m" });
  const { message } = (await failureOf(model)).error;
  expect(server.sent[0]?.path).toContain(key);
  expect(message).not.toContain("sk-very");
  expect(message).toContain("version 2024-10-21");
  expect(message).toContain("v=7");
});
