/** Bad answers from the wire to the end of the run: each has its name, is tried again by rule, and ends in clear words. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, memory, secret, tool } from "../../src/index.ts";
import { openaiCompatible } from "../../src/openai.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";
import { type Dialect, dialects, eventsOf, playOf } from "./openai/dialects.ts";
import { openPlayServer, type Play } from "./openai/play-server.ts";

const key = "sk-bad-day-key-0099";
const openai = dialects["openai"] as Dialect;
const whole: Play = { chunks: eventsOf({ text: "Whole." }, openai) };
const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "ok" });

/** On a clock that is moved by hand, so that waiting costs nothing. */
async function play(plays: readonly Play[], limits: object = {}) {
  await using server = await openPlayServer(plays);
  const model = openaiCompatible({ baseURL: server.baseURL, model: "m", apiKey: secret(key) });
  const one = agent({ name: "caller", instructions: "Look.", model, tools: [look], budget: { steps: 6 } });
  const settings = { limits: { modelAttempts: 3, ...limits } };
  await using t = await testRuntime({ agents: [one], settings });
  const run = await t.runtime.start(one, "go");
  let done = false;
  const ended = run.result().finally(() => {
    done = true;
  });
  while (!done) {
    await new Promise((turn) => setTimeout(turn, 2));
    await t.advance("1s");
  }
  const result = await ended;
  const events: unknown[] = [];
  for await (const event of run.watch({ until: "end" })) events.push(event);
  const written = JSON.stringify([result, events]);
  expect(written).not.toContain(key);
  return { result, requests: server.sent.length, written };
}

const once: Record<string, readonly [Play, string]> = {
  "a wrong key": [playOf({ fails: "model-unauthorized" }, openai, key), "model-unauthorized"],
  "an unknown model": [playOf({ fails: "model-not-found" }, openai, key), "model-not-found"],
  "a request that is too long": [playOf({ fails: "model-context-overflow" }, openai, key), "model-context-overflow"],
};
test.each(Object.entries(once))("%s ends the run at once, in words without the key", async (_what, [bad, code]) => {
  const { result, requests } = await play([bad, whole]);
  expect(result).toMatchObject({ outcome: "failed", error: { code }, retry: "never" });
  expect(requests).toBe(1);
});

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const again: Record<string, readonly [Play, string]> = {
  "malformed events": [{ chunks: ["data: {nope\n\n"] }, "model-malformed"],
  "JSON that is cut": [{ chunks: [chunk({ content: "Half" }), 'data: {"choices":[{"del'] }, "model-interrupted"],
  "a connection that breaks": [{ chunks: [chunk({ content: "Half" })], after: "cut" }, "model-unreachable"],
  "an empty answer": [{ chunks: [chunk({}, "stop")] }, "model-empty"],
  "nothing but thoughts": [{ chunks: [chunk({ reasoning_content: "Hm." }), chunk({}, "stop")] }, "model-empty"],
  "a delta of 10 MB": [
    { chunks: ['data: {"choices":[{"delta":{"content":"', ...Array.from({ length: 10 }, () => "x".repeat(1_000_000))] },
    "model-malformed",
  ],
  "10 MB in small deltas": [
    { chunks: [...Array.from({ length: 100 }, () => chunk({ content: "x".repeat(100_000) })), chunk({}, "stop")] },
    "model-malformed",
  ],
  "an overload": [playOf({ fails: "model-overloaded" }, openai, key), "model-overloaded"],
  "a rate limit": [playOf({ fails: "model-rate-limited", retryAfterMs: 2_000 }, openai, key), "model-rate-limited"],
};
const broken = ["a connection that breaks", "JSON that is cut"];
test.each(Object.entries(again))("%s is tried again, and the next answer counts", async (what, [bad]) => {
  const { result, requests, written } = await play([bad, whole]);
  const goesOn = broken.includes(what); // from what has come
  expect(result).toMatchObject({ outcome: "completed", output: goesOn ? "HalfWhole." : "Whole." });
  expect(requests).toBe(2);
  if (!goesOn) expect(written).not.toContain("Half");
});
test.each(Object.entries(again))(
  "%s every time ends the run by its name",
  { timeout: 60_000 },
  async (_what, [bad, code]) => {
    const { result, requests } = await play([bad]);
    expect(result).toMatchObject({ outcome: "failed", error: { code, message: expect.stringContaining("/m") } });
    expect(requests).toBe(3);
  },
);

test("a server that takes the request and never answers is given up, and tried again", async () => {
  await using server = await openPlayServer([{ chunks: [], after: "hang" }, whole]);
  const model = openaiCompatible({ baseURL: server.baseURL, model: "m" });
  const one = agent({ name: "caller", instructions: "", model });
  await using runtime = await createRuntime({ agents: [one], limits: { modelIdleMs: 500 } });
  expect(await runtime.run(one, "go")).toMatchObject({ outcome: "completed", output: "Whole." });
  expect(server.sent.length).toBeGreaterThan(1);
});

test("a refusal blocks the run and is no output", async () => {
  const { result } = await play([{ chunks: [chunk({ refusal: "No." }), chunk({}, "stop")] }]);
  expect(result).toMatchObject({ outcome: "blocked", reason: "content-filter" });
});

test("the same call for ever ends with the budget of steps", async () => {
  const calls = [{ tool: "look", inputText: "{}" }];
  const { result, requests } = await play([{ chunks: eventsOf({ calls }, openai) }]);
  expect(result).toMatchObject({ outcome: "stopped", code: "steps" });
  expect(requests).toBe(6);
});

test("unknown tools and ids that come twice are results of their own, each with its call", async () => {
  const dialect = dialects["lm studio (the same id for every call)"] as Dialect;
  const calls = [
    { tool: "look", inputText: "{}" },
    { tool: "nobody", inputText: "{}" },
    { tool: "look", inputText: '{"cut":' },
  ];
  await using server = await openPlayServer([{ chunks: eventsOf({ calls }, dialect) }, whole]);
  const model = openaiCompatible({ baseURL: server.baseURL, model: "m" });
  const one = agent({ name: "caller", instructions: "", model, tools: [look] });
  await using runtime = await createRuntime({ agents: [one], store: memory() });
  expect(await runtime.run(one, "go")).toMatchObject({ outcome: "completed", output: "Whole." });
  const { messages } = JSON.parse(server.sent[1]?.body ?? "null");
  const results = messages.filter(({ role }: { role: string }) => role === "tool");
  const ids = messages.flatMap((m: { tool_calls?: { id: string }[] }) => (m.tool_calls ?? []).map(({ id }) => id));
  expect(results.map((m: { tool_call_id: string }) => m.tool_call_id)).toEqual(ids);
  expect(new Set(ids).size).toBe(3);
  expect(results.map((m: { content: string }) => m.content)).toEqual([
    "ok",
    expect.stringContaining("no tool nobody"),
    expect.stringContaining("not JSON"),
  ]);
});

test("an empty answer after a tool is asked for again, as often as attempts allow", async () => {
  const calls: ScriptedAnswer = { calls: [{ tool: "look" }] };
  const model = scripted([calls, { attempts: [{ text: " \n" }, { reasoning: "Hm." }, "Done."] }]);
  const one = agent({ name: "caller", instructions: "", model, tools: [look] });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  const result = run.result();
  await t.advance("1m");
  expect(await result).toMatchObject({ outcome: "completed", output: "Done.", steps: 2 });
});
