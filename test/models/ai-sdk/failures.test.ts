/** What goes wrong with a model of the AI SDK: each has one class, and no message shows what it must not. */
import { expect, test } from "vitest";
import { HoldfastError } from "../../../src/domain/errors.ts";
import { fromAiSdk, secret } from "../../../src/index.ts";
import { collect, failureOf, requestWith } from "../../../src/testing/conformance/model-fixtures.ts";
import { objectModel, streamOf, wholeParts } from "./objects.ts";

const named = (name: string, fields: object = {}): Error =>
  Object.assign(new Error(`${name} said so`), { name, ...fields });
const api = (fields: object): Error => named("AI_APICallError", fields);
const body = (error: object): string => JSON.stringify({ type: "error", error });

test.each([
  // By the name that the AI SDK gives it.
  [named("AI_LoadAPIKeyError"), "model-unauthorized"],
  [named("AI_LoadSettingError"), "model-refused"],
  [named("AI_NoSuchModelError"), "model-not-found"],
  [named("AI_InvalidPromptError"), "model-refused"],
  [named("AI_InvalidArgumentError"), "model-refused"],
  [named("AI_UnsupportedFunctionalityError"), "model-refused"],
  [named("AI_EmptyResponseBodyError"), "model-malformed"],
  [named("AI_InvalidResponseDataError"), "model-malformed"],
  [named("AI_JSONParseError"), "model-malformed"],
  [named("AI_TypeValidationError"), "model-malformed"],
  [named("AI_NoContentGeneratedError"), "model-malformed"],
  [named("TimeoutError"), "model-timeout"],
  // By the status, and by words that are more exact.
  [api({ statusCode: 401 }), "model-unauthorized"],
  [api({ statusCode: 403 }), "model-unauthorized"],
  [api({ statusCode: 402 }), "model-refused"],
  [api({ statusCode: 404 }), "model-not-found"],
  [api({ statusCode: 408 }), "model-timeout"],
  [api({ statusCode: 409, isRetryable: true }), "model-failed"],
  [api({ statusCode: 413 }), "model-context-overflow"],
  [api({ statusCode: 422, isRetryable: false }), "model-refused"],
  [api({ statusCode: 422, isRetryable: true }), "model-failed"],
  [api({ statusCode: 429 }), "model-rate-limited"],
  [api({ statusCode: 429, data: { error: { code: "insufficient_quota" } } }), "model-refused"],
  [api({ statusCode: 500 }), "model-failed"],
  [api({ statusCode: 503 }), "model-overloaded"],
  [api({ statusCode: 529 }), "model-overloaded"],
  [api({ statusCode: 400, responseBody: body({ code: "context_length_exceeded" }) }), "model-context-overflow"],
  [api({ statusCode: 400, data: { error: { code: "content_filter" } } }), "model-content-filtered"],
  [api({ statusCode: 400, data: { error: { type: "overloaded_error" } } }), "model-overloaded"],
  // Without a status: what the network said, or what the code knows.
  [api({ isRetryable: true }), "model-unreachable"],
  [api({ isRetryable: false }), "model-refused"],
  [api({ isRetryable: true, cause: { code: "ECONNREFUSED" } }), "model-unreachable"],
  [Object.assign(new TypeError("fetch failed"), { cause: { code: "ENOTFOUND" } }), "model-unreachable"],
  [Object.assign(new TypeError("terminated"), { cause: { cause: { code: "UND_ERR_SOCKET" } } }), "model-unreachable"],
  [Object.assign(new TypeError("fetch failed"), { cause: { code: "UND_ERR_HEADERS_TIMEOUT" } }), "model-timeout"],
  // As servers write them into a stream.
  [{ type: "overloaded_error", message: "Overloaded" }, "model-overloaded"],
  [{ type: "rate_limit_error" }, "model-rate-limited"],
  [{ type: "authentication_error" }, "model-unauthorized"],
  // Anything else.
  [new Error("who knows"), "model-failed"],
  ["a text", "model-failed"],
  [undefined, "model-failed"],
  [null, "model-failed"],
  [42, "model-failed"],
  [new HoldfastError("model-content-filtered", "said a wrapper of ours"), "model-content-filtered"],
])("%o is %s, thrown, rejected or in the stream", async (cause, code) => {
  const throws = objectModel("v4", [
    () => {
      throw cause;
    },
  ]);
  const sync = Object.assign(objectModel("v4", []), {
    doStream: () => {
      throw cause;
    },
  });
  const streams = objectModel("v4", [{ parts: [{ type: "error", error: cause }, ...wholeParts({ text: "x" })] }]);
  const breaks = objectModel("v4", [() => ({ stream: new ReadableStream({ start: (c) => c.error(cause) }) })]);
  for (const model of [throws, sync, streams, breaks]) {
    const { error, before } = await failureOf(fromAiSdk(model));
    expect(error.code).toBe(code);
    expect(error.cause).toBeUndefined(); // it may hold the whole request
    expect(before.filter(({ type }) => type !== "ping")).toEqual([]);
  }
});

test("an error that throws when it is looked at is an error like any other", async () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error("do not look");
      },
      has: () => {
        throw new Error("do not look");
      },
    },
  );
  const model = objectModel("v4", [() => Promise.reject(hostile)]);
  expect((await failureOf(fromAiSdk(model))).error.code).toBe("model-failed");
});

test.each([
  [{ "retry-after": "7" }, 7_000],
  [{ "Retry-After-Ms": "1500" }, 1_500],
  [{ "retry-after": "a while" }, undefined],
  [{ "retry-after": 7, "not a header": "x" }, undefined],
  [undefined, undefined],
])("how long to wait is read from %o", async (responseHeaders, wait) => {
  const model = objectModel("v4", [() => Promise.reject(api({ statusCode: 429, responseHeaders }))]);
  expect((await failureOf(fromAiSdk(model))).error.details.retryAfterMs).toBe(wait);
});

test("no message shows a header's value, a key, a body or an address with a query", async () => {
  const message = "Bearer abcdef123456 sk-1234567890abcdef and hidden-header-value";
  const url = "https://api.example.test/v1?key=query-canary";
  for (const statusCode of [400, 404, 500, undefined]) {
    const cause = api({ statusCode, message, url, requestBodyValues: "prompt-canary", isRetryable: true });
    const model = objectModel("v4", [() => Promise.reject(cause)]);
    const options = { headers: { "x-secret": secret("hidden-header-value") } };
    const { error } = await failureOf(fromAiSdk(model, options));
    expect(error.message).not.toMatch(/abcdef|hidden-header|query-canary|prompt-canary/);
    if (statusCode === 404) expect(error.message).toContain("https://api.example.test/v1");
  }
  const refused = objectModel("v4", [() => Promise.reject(api({ statusCode: 401, message: "key kk11 is wrong" }))]);
  expect((await failureOf(fromAiSdk(refused))).error.message).toBe("hand.written/m failed with status 401");
});

test("a gateway that repeats headers is quoted without their values, those of a key that nobody here knows among them", async () => {
  const sent = {
    host: "h",
    "x-api-key": "zq-7781-plainkey",
    authorization: "Bearer tok_live_7781",
    "x-org": "org-7781-x",
  };
  const message = `gateway saw headers ${JSON.stringify(sent)} and ${encodeURIComponent("hidden/7781")}`;
  const model = objectModel("v4", [() => Promise.reject(api({ statusCode: 500, message }))]);
  const options = { headers: { "x-org": "org-7781-x" }, settings: { headers: { "x-more": "hidden/7781" } } };
  const { error } = await failureOf(fromAiSdk(model, options));
  expect(error.message).toContain('gateway saw headers {"host":"h","x-api-key":"[secret]"');
  expect(error.message).not.toContain("7781");
});

test.each([
  ["nothing", undefined],
  ["no stream", {}],
  ["a stream that is none", { stream: {} }],
  ["a list", { stream: [] }],
])("doStream that gives %s broke its protocol", async (_, result) => {
  const { error } = await failureOf(fromAiSdk(objectModel("v4", [() => result])));
  expect(error).toMatchObject({ code: "model-malformed", message: expect.stringContaining("doStream gave no stream") });
});

test("a stream that somebody else reads is no stream for us", async () => {
  const stream = streamOf({ parts: [] });
  stream.getReader();
  expect((await failureOf(fromAiSdk(objectModel("v3", [() => ({ stream })])))).error.code).toBe("model-failed");
});

test.each([
  [null],
  [undefined],
  [7],
  ["text"],
  [[]],
  [{}],
  [{ type: 5 }],
  [{ type: "text-delta", id: "1" }],
  [{ type: "reasoning-delta", id: "1", delta: 5 }],
  [{ type: "tool-call", toolName: "x", input: "{}" }],
  [{ type: "tool-call", toolCallId: "1", toolName: "x", input: {} }],
])("the part %o breaks the protocol", async (part) => {
  const { error } = await failureOf(fromAiSdk(objectModel("v4", [{ parts: [part, ...wholeParts({})] }])));
  expect(error).toMatchObject({ code: "model-malformed", retry: "later" });
});

test("a stream that ends without a finish broke off", async () => {
  const { error } = await failureOf(fromAiSdk(objectModel("v4", [{ parts: wholeParts({ text: "x" }).slice(0, -1) }])));
  expect(error).toMatchObject({ code: "model-interrupted", retry: "later" });
});

const unread = ["", " ", "{", '{"a":1', '{"a":"}'];
test.each(unread)("R4 a call whose input is %j is no call where the stream ended early", async (input) => {
  const calls = [
    { tool: "one", inputText: '{"a":1}' },
    { tool: "two", inputText: input },
  ];
  const given = wholeParts({ text: "x", calls }).slice(0, -1);
  const cut = { type: "finish", finishReason: { unified: "other", raw: undefined }, usage: {} };
  const { before } = await failureOf(fromAiSdk(objectModel("v4", [{ parts: [...given, cut] }])));
  expect(before.flatMap((part) => (part.type === "tool-call" ? [part.tool] : []))).toEqual(["one"]);
  const whole = await collect(fromAiSdk(objectModel("v4", [{ parts: wholeParts({ text: "x", calls }) }])));
  expect(whole.flatMap((part) => (part.type === "tool-call" ? [part.tool] : []))).toEqual(["one", "two"]);
});

test("what comes after the finish counts for nothing, and the stream is left", async () => {
  const late = { type: "error", error: new Error("late") };
  const model = objectModel("v4", [{ parts: [...wholeParts({ text: "x" }), late], after: "hang" }]);
  expect((await collect(fromAiSdk(model))).at(-1)?.type).toBe("finish");
  expect(model.left()).toBe(1);
});

const never = (): Promise<never> => new Promise(() => undefined);

test.each([
  ["doStream never answers", objectModel("v4", [never])],
  ["its addresses never come", Object.assign(objectModel("v4", []), { supportedUrls: never() })],
  ["the stream never goes on", objectModel("v4", [{ parts: [], after: "hang" }])],
  [
    "the reader is deaf to everything",
    objectModel("v4", [() => ({ stream: { getReader: () => ({ read: never, cancel: never }) } })]),
  ],
  [
    "the reader throws when it is left",
    objectModel("v4", [
      () => ({
        stream: {
          getReader: () => ({
            read: never,
            cancel: () => {
              throw new Error("no");
            },
          }),
        },
      }),
    ]),
  ],
])("an abort ends the call though %s", async (_, model) => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const call = (async () => {
    for await (const part of fromAiSdk(model).call(requestWith(), controller.signal)) void part;
  })();
  setImmediate(() => controller.abort(reason));
  await expect(call).rejects.toBe(reason);
});

test("a stream that comes after the abort is left at once", async () => {
  const controller = new AbortController();
  let left = 0;
  let answer: (result: unknown) => void = () => undefined;
  const model = objectModel("v4", [() => new Promise((resolve) => (answer = resolve))]);
  const call = fromAiSdk(model).call(requestWith(), controller.signal)[Symbol.asyncIterator]().next();
  await new Promise(setImmediate);
  controller.abort();
  await expect(call).rejects.toBe(controller.signal.reason);
  answer({ stream: streamOf({ parts: [], after: "hang" }, () => (left += 1)) });
  await new Promise(setImmediate);
  expect(left).toBe(1);
});

test("whoever leaves early leaves the stream", async () => {
  const model = objectModel("v4", [{ parts: wholeParts({ text: "long" }), after: "hang" }]);
  for await (const part of fromAiSdk(model).call(requestWith(), new AbortController().signal)) {
    if (part.type === "text-delta") break;
  }
  expect(model.left()).toBe(1);
});
