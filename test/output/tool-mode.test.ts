/** O1, O2 by the answer tool: a call of it is a candidate and no effect, and each call has its one result. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type AgentOptions, agent, type Message, plugin, policy, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";
import { asked, output, play } from "./play.ts";

const value = { note: "refunded", cents: 5 };
const good: ScriptedAnswer = { calls: [{ tool: "holdfast_answer", input: value }] };
const bad: ScriptedAnswer = { calls: [{ tool: "holdfast_answer", input: { ...value, cents: "five" } }] };
const look = tool({ name: "look", description: "Looks", input: z.object({}), effect: "pure", execute: () => "seen" });

function clerk(answers: readonly ScriptedAnswer[], more: Partial<AgentOptions<never, never>> = {}) {
  const model = scripted(answers, { description: { toolCalls: true } });
  return agent({ name: "clerk", model, instructions: "Help.", output, tools: [look], ...(more as object) });
}

/** `[call]`, `call!code` or its value, in the order in which the model reads them. */
function told(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ role, parts }) =>
    parts.map((part) => {
      if (part.type === "tool-call") return `[${part.tool}]`;
      if (part.type !== "tool-result") return `${role}: ${part.type === "text" ? part.text.slice(0, 30) : part.type}`;
      return part.result.kind === "error" ? `${part.tool}!${part.result.code}` : `${part.tool}=${part.result.value}`;
    }),
  );
}

/** What providers refuse: a call whose results do not all follow before anybody else speaks. */
function unanswered({ messages }: Pick<ModelRequest, "messages">): readonly string[] {
  let open: string[] = [];
  const wrong: string[] = [];
  for (const { role, parts } of messages) {
    if (role !== "tool") {
      wrong.push(...open);
      open = [];
    }
    for (const part of parts) {
      if (part.type === "tool-call") open.push(part.call);
      if (part.type === "tool-result") open = open.filter((call) => call !== part.call);
    }
  }
  return [...wrong, ...open];
}

describe("a call of the answer tool", () => {
  test("is the candidate: it is checked, and is the output", async () => {
    const { result, messages, events, reports } = await play(clerk([good]));
    expect(result).toMatchObject({ outcome: "completed", output: value, steps: 1 });
    expect(reports).toEqual([{ valid: true, value }]);
    expect(told(messages)).toEqual(["[holdfast_answer]", "holdfast_answer=The answer fits the schema"]);
    const types = events.map(({ type }) => type);
    expect(types.indexOf("output-validated")).toBeLessThan(types.lastIndexOf("message-appended"));
  });

  test("is no effect: it has no intent, no verdict and no ticket, and no plugin or policy is asked about it", async () => {
    const seen: string[] = [];
    const nosy = plugin({
      name: "nosy",
      create: () => ({
        hooks: {
          "after-model": ({ calls }) => void seen.push(`after-model ${calls.length}`),
          "tool-gate": () => void seen.push("tool-gate"),
          "before-tool": () => void seen.push("before-tool"),
          "after-tool": () => void seen.push("after-tool"),
          "after-step": ({ calls, tools }) => void seen.push(`after-step ${calls.length} of ${tools.join()}`),
        },
      }),
    });
    const closed = policy({ name: "closed", "tool-call": () => ({ deny: "nothing is allowed" }) });
    const { result, events } = await play(clerk([good], { plugins: [nosy()], policy: closed }));
    expect(result).toMatchObject({ outcome: "completed", output: value });
    expect(seen).toEqual(["after-model 0", "after-step 0 of look"]);
    const types = events.map((event) => (event.type === "effect-intended" ? event.kind : event.type));
    for (const type of ["tool", "call-gated", "ticket-opened"]) expect(types).not.toContain(type);
  });

  test("may have words beside it, which are no part of it", async () => {
    const { result } = await play(
      clerk([{ text: '{"note":"no","cents":1}', calls: [{ tool: "holdfast_answer", input: value }] }]),
    );
    expect(result).toMatchObject({ output: value });
  });

  test("O2 that does not fit is answered with what is wrong, as its result, and the second try counts", async () => {
    const { requests, answers } = asked([bad, good]);
    const { result, reports } = await play(clerk(answers));
    expect(result).toMatchObject({ outcome: "completed", output: value, steps: 2 });
    expect(reports.map(({ valid }) => valid)).toEqual([false, true]);
    const [, second] = requests;
    expect(told(second?.messages ?? [])).toEqual(["user: go", "[holdfast_answer]", "holdfast_answer!invalid-input"]);
    expect(JSON.stringify(second?.messages.at(-1))).toMatch(/does not fit the schema.*cents.*Call holdfast_answer/);
    expect(unanswered(second as ModelRequest)).toEqual([]);
  });

  test.each([0, 1, 3])("O2 with %i repairs is asked for so often again, and no more", async (repairs) => {
    const answers = [...Array.from({ length: repairs + 1 }, () => bad), good];
    const { result, reports, messages } = await play(clerk(answers, { repairs }));
    expect(reports).toHaveLength(repairs + 1);
    expect(result).toMatchObject({ outcome: "failed", error: { code: "output-invalid" }, steps: repairs + 1 });
    expect(result).not.toHaveProperty("output");
    const shown = messages.filter((message) => JSON.stringify(message).includes("Your answer does not fit"));
    expect(shown).toHaveLength(repairs);
  });

  test("whose input is not JSON does not fit", async () => {
    const { result, reports } = await play(
      clerk([{ calls: [{ tool: "holdfast_answer", inputText: '{"note":' }] }, good]),
    );
    expect(reports[0]).toMatchObject({ valid: false, problems: [expect.stringContaining("not JSON")] });
    expect(result).toMatchObject({ outcome: "completed", steps: 2 });
  });

  test.each([
    ["length", { outcome: "stopped", code: "length" }],
    ["content-filter", { outcome: "blocked", reason: "content-filter" }],
    ["error", { outcome: "failed", error: { code: "model-failed" } }],
  ] as const)("of a reply that ended by %s does not count, and is not checked", async (finish, outcome) => {
    const { result, reports, messages } = await play(clerk([{ ...(good as object), finish }]));
    expect(result).toMatchObject(outcome);
    expect(reports).toEqual([]);
    expect(told(messages)).toEqual(["[holdfast_answer]", "holdfast_answer!not-run"]);
  });
});

describe("what is not one call alone", () => {
  test("an answer beside calls of tools is put off: they run, and it is given again with their results known", async () => {
    const both: ScriptedAnswer = {
      calls: [{ tool: "holdfast_answer", input: { note: "guessed", cents: 1 } }, { tool: "look" }],
    };
    const { requests, answers } = asked([both, good]);
    const { result, reports } = await play(clerk(answers, { repairs: 0 }));
    expect(result).toMatchObject({ outcome: "completed", output: value, steps: 2 });
    expect(reports).toEqual([{ valid: true, value }]);
    expect(told(requests[1]?.messages ?? [])).toEqual([
      "user: go",
      "[holdfast_answer]",
      "[look]",
      "holdfast_answer!not-run",
      "look=seen",
    ]);
    expect(unanswered(requests[1] as ModelRequest)).toEqual([]);
  });

  test("several answers are none, even when they are the same: each is told so", async () => {
    const call = { tool: "holdfast_answer", input: value };
    const { requests, answers } = asked([{ calls: [call, call] }, good]);
    const { result, reports } = await play(clerk(answers));
    expect(reports[0]).toEqual({ valid: false, problems: ["It was given 2 times; one answer is wanted"] });
    expect(result).toMatchObject({ outcome: "completed", output: value, steps: 2 });
    const results = told(requests[1]?.messages ?? []).slice(-2);
    expect(results).toEqual(["holdfast_answer!invalid-input", "holdfast_answer!invalid-input"]);
    expect(unanswered(requests[1] as ModelRequest)).toEqual([]);
  });

  test("text is no answer, even if it would fit: the model is told to call", async () => {
    const { requests, answers } = asked([JSON.stringify(value), good]);
    const { result, reports } = await play(clerk(answers));
    expect(reports[0]).toMatchObject({ valid: false, problems: [expect.stringContaining("as text")] });
    expect(result).toMatchObject({ outcome: "completed", output: value, steps: 2 });
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: "user", visibility: "internal" });
  });

  test.each(["text", undefined] as const)("with the output mode %s there is no such tool", async (outputMode) => {
    const typed = outputMode ? { outputMode } : { output: undefined };
    const { messages, events } = await play(clerk([good, JSON.stringify(value)], typed as never));
    expect(told(messages)[1]).toBe("holdfast_answer!unknown-tool");
    expect(events.some(({ type }) => type === "call-gated")).toBe(true);
  });

  test("a reply that a plugin wants again is not checked", async () => {
    const again = plugin({
      name: "again",
      create: () => ({
        hooks: { "after-model": ({ step }) => (step === 1 ? { type: "retry", reason: "shorter" } : undefined) },
      }),
    });
    const { result, reports, messages } = await play(clerk([bad, good], { plugins: [again()] }));
    expect(reports).toEqual([{ valid: true, value }]);
    expect(told(messages)[1]).toBe("holdfast_answer!not-run");
    expect(result).toMatchObject({ outcome: "completed", output: value });
  });
});

/** A check that is answered when somebody says so. */
function slowCheck() {
  const waiting: (() => void)[] = [];
  const validate = (candidate: unknown) =>
    new Promise<Awaited<ReturnType<(typeof output)["~standard"]["validate"]>>>((resolve) => {
      waiting.push(() => resolve(output["~standard"].validate(candidate)));
    });
  return { waiting, schema: { "~standard": { ...output["~standard"], validate } } };
}

describe("while the check takes its time", () => {
  test("a cancel ends the run: the call has its result, and there is no output", async () => {
    const { schema, waiting } = slowCheck();
    const one = clerk([good], { output: schema as never });
    await using t = await testRuntime({ agents: [one] });
    const run = await t.runtime.start(one, "go", { thread: "t" });
    await t.settle();
    await run.cancel({ by: "ana" });
    expect(await run.result()).toMatchObject({ outcome: "cancelled" });
    for (const answer of waiting) answer();
    await t.settle();
    const { items } = await t.runtime.threads.messages("t");
    expect(told(items.map(({ message }) => message).reverse())).toEqual([
      "user: go",
      "[holdfast_answer]",
      "holdfast_answer!not-run",
    ]);
  });

  test("a process that dies leaves the answer: the next one checks it", async () => {
    const { schema, waiting } = slowCheck();
    const one = clerk([good], { output: schema as never });
    await using t = await testRuntime({ agents: [one] });
    const run = await t.runtime.start(one, "go");
    await t.settle();
    await t.restart();
    expect(waiting).toHaveLength(2);
    waiting[1]?.();
    expect(await t.runtime.runs.get(run.id, one).result()).toMatchObject({
      outcome: "completed",
      output: value,
      steps: 1,
    });
  });

  test("what somebody says meanwhile is read, and the answer is given again", async () => {
    const { schema, waiting } = slowCheck();
    const { requests, answers } = asked([
      good,
      { calls: [{ tool: "holdfast_answer", input: { note: "euros", cents: 4 } }] },
    ]);
    const one = clerk(answers, { output: schema as never });
    await using t = await testRuntime({ agents: [one] });
    const run = await t.runtime.start(one, "go");
    await t.settle();
    await run.send("In euros.");
    waiting[0]?.();
    await t.settle();
    waiting[1]?.();
    expect(await run.result()).toMatchObject({ outcome: "completed", output: { note: "euros" }, steps: 2 });
    expect(unanswered(requests[1] as ModelRequest)).toEqual([]);
  });

  test("O2 what somebody says meanwhile does not make a model answer that has used up its repairs", async () => {
    const { schema, waiting } = slowCheck();
    const { requests, answers } = asked([bad, good]);
    const one = clerk(answers, { output: schema as never, repairs: 0 });
    await using t = await testRuntime({ agents: [one] });
    const run = await t.runtime.start(one, "go");
    await t.settle();
    await run.send("In euros.");
    waiting[0]?.();
    expect(await run.result()).toMatchObject({ outcome: "failed", error: { code: "output-invalid" }, steps: 1 });
    expect(requests.filter(({ step }) => step === 2)).toEqual([]);
  });
});

test("O2 a plugin that wants to go on does not make a model answer that has used up its repairs", async () => {
  const eager = plugin({
    name: "eager",
    create: () => ({ hooks: { "after-step": () => ({ type: "continue", message: "Go on." }) } }),
  });
  const { result, reports } = await play(clerk([bad, good], { plugins: [eager()], repairs: 0 }));
  expect(result).toMatchObject({ outcome: "failed", error: { code: "output-invalid" }, steps: 1 });
  expect(reports).toHaveLength(1);
});

test("the next run of the thread reads an answer and its result", async () => {
  const { requests, answers } = asked([good]);
  const one = clerk(answers);
  await using t = await testRuntime({ agents: [one] });
  await (await t.runtime.start(one, "go", { thread: "t" })).result();
  expect(await (await t.runtime.start(one, "again", { thread: "t" })).result()).toMatchObject({ outcome: "completed" });
  expect(told(requests[1]?.messages ?? [])).toEqual([
    "user: go",
    "[holdfast_answer]",
    "holdfast_answer=The answer fits the schema",
    "user: again",
  ]);
});
