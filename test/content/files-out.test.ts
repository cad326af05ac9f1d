/** Files that models make and tools show: kept as content, part of the message, and shown to a model that says it reads them. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  agent,
  asContent,
  type Message,
  type ModelDescription,
  type ModelRequest,
  type RunEvent,
  tellModel,
  tool,
} from "../../src/index.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const png = Uint8Array.from([137, 80, 78, 71]);
const hash = createHash("sha256").update(png).digest("hex");
const data = `data:image/png;base64,${Buffer.from(png).toString("base64")}`;
const content = { hash, bytes: 4, mediaType: "image/png" };

type Accepts = ModelDescription["accepts"];

/** The answers, with what was asked before each. */
function recorded(answers: readonly ScriptedAnswer[], accepts?: Accepts) {
  const requests: ModelRequest[] = [];
  const watched = answers.map((answer) => (request: ModelRequest) => {
    requests.push(request);
    return answer;
  });
  return { requests, model: scripted(watched, { description: accepts ? { accepts } : {} }) };
}

const chart = tool({
  name: "chart",
  description: "Draws",
  input: z.object({}),
  effect: "pure",
  execute: () => tellModel({ points: 3 }, ["The chart:", asContent(png, { mediaType: "image/png" }), "Three points."]),
});

async function drawn(accepts?: Accepts) {
  const call = { calls: [{ tool: "chart" }, { tool: "chart" }] };
  const { requests, model } = recorded([call, "Nice."], accepts);
  const painter = agent({ name: "painter", instructions: "", model, tools: [chart] });
  await using t = await testRuntime({ agents: [painter] });
  await (await t.runtime.start(painter, "Draw", { thread: "t" })).output();
  const stored = (await t.runtime.threads.messages("t", { order: "oldest" })).items.map(({ message }) => message);
  return { stored, sent: requests[1]?.messages ?? [], request: requests[1] };
}

onEveryStore((freshStore) => {
  test("a file in a reply is content, and goes on with the conversation", async () => {
    const file = { mediaType: "image/png", url: data };
    const one = agent({ name: "painter", instructions: "", model: scripted([{ text: "Here.", files: [file] }]) });
    const { requests, model } = recorded(["Yours."], ["text", "image"]);
    const two = agent({ name: "critic", instructions: "", model });
    await using t = await testRuntime({ agents: [one, two], store: freshStore() });
    expect(await (await t.runtime.start(one, "Draw", { thread: "t" })).output()).toBe("Here.");
    const [, reply] = (await t.runtime.threads.messages("t", { order: "oldest" })).items.map(({ message }) => message);
    expect(reply?.parts).toEqual([
      { type: "text", text: "Here." },
      { type: "file", mediaType: "image/png", content },
    ]);
    await t.advance("11m");
    await t.runtime.content.collect({ olderThanMs: 600_000 });
    expect((await t.runtime.content.get(content)).body).toEqual(png);
    await (await t.runtime.start(two, "Whose is it?", { thread: "t" })).output();
    expect(requests[0]?.messages[1]?.parts).toEqual([
      { type: "text", text: "Here." },
      { type: "file", mediaType: "image/png", url: data },
    ]);
  });
});

test.each([
  ["nobody has said what it reads", undefined],
  ["it reads text", ["text"]],
] as const)("a model's own file is named to one of another make: %s", async (_, accepts) => {
  const { requests, model } = recorded(
    [{ files: [{ mediaType: "image/png", url: data }], calls: [{ tool: "chart" }] }, "Yes."],
    accepts,
  );
  const one = agent({ name: "painter", instructions: "", model, tools: [chart] });
  await using t = await testRuntime({ agents: [one] });
  expect(await (await t.runtime.start(one, "Draw")).output()).toBe("Yes.");
  expect(requests[1]?.messages[1]?.parts[0]).toEqual({
    type: "text",
    text: "[Not shown: image (image/png, 4 bytes), which was part of this reply]",
  });
});

test("what the same provider has marked as its own goes back to it", async () => {
  const file = { type: "file", mediaType: "image/png", url: data, metadata: { scripted: { thought: "x" } } } as const;
  const call = { type: "tool-call", alias: "a", tool: "chart", inputText: "{}" } as const;
  const { requests, model } = recorded([{ parts: [file, call, { type: "finish", reason: "tool-calls" }] }, "Yes."]);
  const one = agent({ name: "painter", instructions: "", model, tools: [chart] });
  await using t = await testRuntime({ agents: [one] });
  await (await t.runtime.start(one, "Draw")).output();
  expect(requests[1]?.messages[1]?.parts[0]).toEqual(file);
});

test("a file of a reply that broke off is kept with what came before, and cited until the rest has come", async () => {
  const file = { type: "file", mediaType: "image/png", url: data } as const;
  const half = { parts: [{ type: "text-delta", text: "Half" }, file] } as const;
  const rest = { text: " and the rest." };
  const one = agent({ name: "painter", instructions: "", model: scripted([{ attempts: [half, rest] }]) });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Draw", { thread: "t" });
  await t.advance("1m");
  const events: RunEvent[] = [];
  for await (const event of run.watch({ until: "end" })) if ("cursor" in event) events.push(event as RunEvent);
  const [, reply] = (await t.runtime.threads.messages("t", { order: "oldest" })).items;
  expect(reply?.message.parts).toEqual([
    { type: "text", text: "Half" },
    { type: "file", mediaType: "image/png", content },
    { type: "text", text: " and the rest." },
  ]);
  expect(JSON.stringify(events.find(({ type }) => type === "effect-settled"))).toContain(hash);
  expect((await t.runtime.content.get(hash)).body).toEqual(png);
});

test("a reply that is only a file is an answer", async () => {
  const { model } = recorded([{ files: [{ mediaType: "image/png", url: data }] }]);
  const one = agent({ name: "painter", instructions: "", model });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "Draw", { thread: "t" });
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "" });
});

test("F1 a reply with a huge file fails for good, and says what to do", async () => {
  let calls = 0;
  const answer = (): ScriptedAnswer => {
    calls += 1;
    return { files: [{ mediaType: "image/png", url: `data:image/png;base64,${"AAAA".repeat(5_000)}` }] };
  };
  const one = agent({ name: "painter", instructions: "", model: scripted([answer]) });
  await using t = await testRuntime({ agents: [one], settings: { limits: { contentBytes: 10_000 } } });
  const result = await (await t.runtime.start(one, "Draw")).result();
  expect(result).toMatchObject({ outcome: "failed", error: { code: "model-refused" }, retry: "never" });
  expect(JSON.stringify(result)).toContain("files of 15000 bytes, and at most 10000 are kept");
  expect(calls).toBe(1);
});

test.each([
  [{ mediaType: "png", url: data }, "without a media type"],
  [{ mediaType: "image/png", url: "" }, "without an address"],
  [{ mediaType: "image/png", url: "data:image/png;base64,A*" }, "characters that are none"],
  [{ mediaType: "image/png", url: "data:image/png;base64," }, "without bytes"],
])("F1 a file that cannot be read breaks the reply: %j", async (file, problem) => {
  const one = agent({ name: "painter", instructions: "", model: scripted([{ files: [file] }]) });
  await using t = await testRuntime({ agents: [one], settings: { limits: { modelAttempts: 1 } } });
  const result = await (await t.runtime.start(one, "Draw")).result();
  expect(result).toMatchObject({ outcome: "failed", error: { code: "model-malformed" } });
  expect(JSON.stringify(result)).toContain(problem);
});

test("a file at an address stays there", async () => {
  const url = "https://files.example/a.png";
  const one = agent({
    name: "painter",
    instructions: "",
    model: scripted([{ files: [{ mediaType: "image/png", url }] }]),
  });
  await using t = await testRuntime({ agents: [one] });
  await (await t.runtime.start(one, "Draw", { thread: "t" })).result();
  const [, reply] = (await t.runtime.threads.messages("t", { order: "oldest" })).items;
  expect(reply?.message.parts).toEqual([{ type: "file", mediaType: "image/png", url }]);
});

test("what a tool shows is content of its result, and named in its words", async () => {
  const { stored } = await drawn();
  expect(stored[2]?.parts[0]).toMatchObject({
    type: "tool-result",
    result: {
      kind: "value",
      value: { points: 3 },
      say: "The chart:\n(image (image/png, 4 bytes))\nThree points.",
      shown: [{ type: "image", mediaType: "image/png", content }],
    },
  });
});

test("K1 what a tool shows stays as long as its run", async () => {
  const { model } = recorded([{ calls: [{ tool: "chart" }] }, "Nice."]);
  const painter = agent({ name: "painter", instructions: "", model, tools: [chart] });
  await using t = await testRuntime({ agents: [painter] });
  const run = await t.runtime.start(painter, "Draw");
  await run.output();
  await t.advance("11m");
  await t.runtime.content.collect({ olderThanMs: 600_000 });
  expect((await t.runtime.content.get(hash)).body).toEqual(png);
  await t.runtime.runs.erase(run.id);
  expect(await t.runtime.content.collect({ olderThanMs: 600_000 })).toBe(1);
});

test("a model that reads images is shown those of a step after all its results", async () => {
  const { sent, request } = await drawn(["text", "image"]);
  expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "user"]);
  const shown = [
    { type: "text", text: "[Shown by the tool chart]" },
    { type: "image", mediaType: "image/png", url: data },
  ];
  expect(sent[4]?.parts).toEqual([...shown, ...shown]);
  expect(said(sent[2])).toBe(
    "The chart:\n(image (image/png, 4 bytes))\nThree points.\n[What it shows is in the next message]",
  );
  expect(request?.cache?.stable).toBe(5);
});

test.each([
  ["a model that reads text", ["text"]],
  ["a model of which nobody has said what it reads", undefined],
] as const)("%s is told what it is not shown", async (_, accepts) => {
  const { sent } = await drawn(accepts);
  expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
  expect(said(sent[2])).toContain("[Not shown, for this model is not said to read it: image (image/png, 4 bytes)]");
  expect(JSON.stringify(sent)).not.toContain(hash);
});

function said(message: Message | undefined): string | undefined {
  const part = message?.parts[0];
  return part?.type === "tool-result" && part.result.kind === "value" ? part.result.say : undefined;
}

test("a result may be a file that is shown as well", async () => {
  const photo = tool({
    name: "photo",
    description: "Takes one",
    input: z.object({}),
    effect: "pure",
    execute: () => {
      const file = asContent(png, { mediaType: "image/png" });
      return tellModel(file, [file]);
    },
  });
  const { requests, model } = recorded([{ calls: [{ tool: "photo" }] }, "Seen."], ["text", "image"]);
  const one = agent({ name: "camera", instructions: "", model, tools: [photo] });
  await using t = await testRuntime({ agents: [one] });
  await (await t.runtime.start(one, "Go", { thread: "t" })).output();
  const result = (await t.runtime.threads.messages("t", { order: "oldest" })).items[2]?.message.parts[0];
  const shown = [{ type: "image", mediaType: "image/png", content }];
  expect(result).toMatchObject({ result: { value: null, content, say: "(image (image/png, 4 bytes))", shown } });
  expect(requests[1]?.messages[3]?.parts[1]).toEqual({ type: "image", mediaType: "image/png", url: data });
});

test("what is shown counts against the limit of a result", async () => {
  const flood = tool({
    name: "flood",
    description: "Too much",
    input: z.object({}),
    effect: "pure",
    execute: () =>
      tellModel(
        1,
        [1, 2, 3].map((n) => asContent(new Uint8Array(400).fill(n))),
      ),
  });
  const { requests, model } = recorded([{ calls: [{ tool: "flood" }] }, "Well."]);
  const one = agent({ name: "a", instructions: "", model, tools: [flood] });
  await using t = await testRuntime({ agents: [one], settings: { limits: { contentBytes: 1_000 } } });
  expect(await (await t.runtime.start(one, "Go")).output()).toBe("Well.");
  expect(JSON.stringify(requests[1]?.messages[2])).toContain("1200 bytes of content, the limit is 1000");
});
