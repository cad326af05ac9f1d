import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { agent } from "../../src/domain/agent.ts";
import type { ThreadId } from "../../src/domain/ids.ts";
import type { Model, ModelPart, ModelRequest } from "../../src/ports/provider.ts";
import { cassette } from "../../src/providers/cassette/cassette.ts";
import { pool } from "../../src/providers/pool/pool.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { forecaster, freshFolder, offline, play, realModel } from "./fixtures.ts";

const at = freshFolder();

const request: ModelRequest = {
  agent: "a",
  thread: "t" as ThreadId,
  step: 1,
  attempt: 1,
  instructions: "",
  messages: [],
  tools: [],
};

async function partsOf(model: Model, more: Partial<ModelRequest> = {}): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.call({ ...request, ...more }, new AbortController().signal)) parts.push(part);
  return parts;
}

test("a recorded run and 100 replays without a network write the same journal, byte for byte", async () => {
  const file = at("hundred.jsonl");
  const real = realModel();
  const recorded = await play(forecaster(cassette(real, { file, mode: "record" })));
  expect(recorded).toMatchObject({ outcome: "completed", output: "Snow in Oslo – sun in Rome. ☀️ 天気" });
  expect(real.asked).toBe(3);
  const journal = JSON.stringify(recorded.journal);
  const bytes = readFileSync(file, "utf8");
  for (let time = 0; time < 100; time += 1) {
    const replayed = await play(forecaster(cassette(offline, { file, mode: "replay" })));
    expect(JSON.stringify(replayed.journal)).toBe(journal);
  }
  expect(readFileSync(file, "utf8")).toBe(bytes);
});

test("one cassette object replays as often as it is asked, failed attempts included", async () => {
  const file = at("again.jsonl");
  const recorded = await play(forecaster(cassette(realModel(), { file, mode: "record" })));
  const model = cassette(offline, { file, mode: "replay" });
  for (let time = 0; time < 3; time += 1) {
    expect(JSON.stringify((await play(forecaster(model))).journal)).toBe(JSON.stringify(recorded.journal));
  }
});

test("auto records when there is nothing, and replays from then on", async () => {
  const file = at("folder/that/is/new/auto.jsonl");
  const first = realModel();
  await play(forecaster(cassette(first, { file })));
  const second = realModel();
  const { output } = await play(forecaster(cassette(second, { file })));
  expect(output).toBe("Snow in Oslo – sun in Rome. ☀️ 天気");
  expect([first.asked, second.asked]).toEqual([3, 0]);
});

test("record takes the place of an older recording", async () => {
  const file = at("over.jsonl");
  await play(forecaster(cassette(realModel(), { file, mode: "record" })));
  await partsOf(cassette(scripted(["new"]), { file, mode: "record" }));
  const calls = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith('{"call"'));
  expect(calls).toHaveLength(1);
});

test("the file is readable: a header, every message once, one line per call", async () => {
  const file = at("readable.jsonl");
  await play(forecaster(cassette(realModel(), { file, mode: "record" })));
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  expect(lines[0]).toMatch(/^\{"cassette":1,"lines": +\d+\}$/);
  const names = lines.slice(1).map((line) => JSON.parse(line) as { define?: string; call?: number; end?: unknown });
  expect(names.map(({ define, call }) => define ?? call)).toEqual([
    "instructions-1",
    "tools-1",
    "message-1",
    1,
    2,
    "message-2",
    "message-3",
    "message-4",
    3,
  ]);
  expect(names[3]?.end).toEqual({
    kind: "error",
    code: "model-rate-limited",
    message: "429 slow down",
    retryAfterMs: 1_200,
  });
});

test("V2: runs recorded side by side are replayed in another order, each with its own answer", async () => {
  const file = at("parallel.jsonl");
  const echo = scripted([(asked) => `You said ${JSON.stringify(asked.messages.at(-1)?.parts)}`]);
  const inputs = Array.from({ length: 20 }, (_, index) => `number ${index}`);
  const runAll = async (model: Model, order: readonly string[]): Promise<Map<string, unknown>> => {
    const parrot = agent({ name: "parrot", instructions: "Repeat.", model });
    await using t = await testRuntime({ agents: [parrot] });
    const results = await Promise.all(order.map(async (input) => [input, await t.runtime.run(parrot, input)] as const));
    return new Map(results.map(([input, result]) => [input, result.outcome === "completed" ? result.output : result]));
  };
  const recorded = await runAll(cassette(echo, { file, mode: "record" }), inputs);
  const replayed = await runAll(cassette(offlineLike(echo), { file, mode: "replay" }), [...inputs].reverse());
  for (const input of inputs) expect(replayed.get(input)).toBe(recorded.get(input));
  expect(recorded.get("number 7")).toContain("number 7");
});

function offlineLike({ description }: Model): Model {
  return { description, call: offline.call };
}

test("V2: the same request again gets its answers in the order in which they were asked for, not ended", async () => {
  const file = at("same.jsonl");
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let count = 0;
  const slowFirst: Model = {
    description: { provider: "p", model: "m" },
    async *call() {
      count += 1;
      const text = `answer ${count}`;
      if (count === 1) await gate;
      yield { type: "text-delta", text };
      yield { type: "finish", reason: "stop" };
    },
  };
  const recording = cassette(slowFirst, { file, mode: "record" });
  const first = partsOf(recording);
  await partsOf(recording);
  release();
  await first;
  const replay = cassette(slowFirst, { file, mode: "replay" });
  const texts = [];
  for (let time = 0; time < 4; time += 1) texts.push((await partsOf(replay))[0]);
  expect(texts.map((part) => (part as { text: string }).text)).toEqual([
    "answer 1",
    "answer 2",
    "answer 1",
    "answer 2",
  ]);
});

test("a call that was given up hangs in the replay too, until it is given up", async () => {
  const file = at("aborted.jsonl");
  const deaf: Model = {
    description: { provider: "p", model: "m" },
    async *call() {
      yield { type: "text-delta", text: "Well" };
      await new Promise(() => undefined);
    },
  };
  const abortAfterFirst = async (model: Model): Promise<unknown[]> => {
    const controller = new AbortController();
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const part of model.call(request, controller.signal)) seen.push(part);
    })();
    reading.catch((cause: unknown) => seen.push(cause));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort("given up");
    for (let time = 0; time < 20; time += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    return seen;
  };
  await abortAfterFirst(cassette(deaf, { file, mode: "record" }));
  const replayed = await abortAfterFirst(cassette(deaf, { file, mode: "replay" }));
  expect(replayed).toEqual([{ type: "text-delta", text: "Well" }, "given up"]);
});

test("a reader that stops early leaves a recording that hangs where it stopped", async () => {
  const file = at("left.jsonl");
  const model = cassette(scripted([{ text: "abc", pieces: 1 }]), { file, mode: "record" });
  for await (const _part of model.call(request, new AbortController().signal)) break;
  expect(readFileSync(file, "utf8")).toContain('"end":{"kind":"aborted"}');
});

test("a reader that stops at the finish has heard all of it; a stream without one just ends", async () => {
  const file = at("ends.jsonl");
  const reader = cassette(scripted(["whole"]), { file, mode: "record" });
  for await (const part of reader.call(request, new AbortController().signal)) if (part.type === "finish") break;
  expect(readFileSync(file, "utf8")).toContain('"end":{"kind":"done"}');
  const parts: ModelPart[] = [{ type: "text-delta", text: "ha" }];
  await partsOf(cassette(scripted([{ parts }]), { file, mode: "record" }));
  expect(await partsOf(cassette(scripted([]), { file, mode: "replay" }))).toEqual(parts);
});

test("a pool can be recorded: who answered is part of it", async () => {
  const file = at("pool.jsonl");
  const members = pool([scripted(["hi"], { name: "inner" })]);
  const recorded = await partsOf(cassette(members, { file, mode: "record" }));
  expect(await partsOf(cassette(offlineLike(members), { file, mode: "replay" }))).toEqual(recorded);
  expect(recorded.at(-1)).toMatchObject({ answeredBy: { model: "inner" } });
});

test("T2: a long conversation costs what it adds", async () => {
  const file = at("long.jsonl");
  const model = cassette(scripted(Array.from({ length: 40 }, () => "ok")), { file, mode: "record" });
  const sizes: number[] = [];
  const messages: ModelRequest["messages"][number][] = [];
  for (let step = 1; step <= 40; step += 1) {
    const text = `${step} ${"long ".repeat(400)}`;
    messages.push({ id: `m${step}` as never, role: "user", visibility: "all", parts: [{ type: "text", text }] });
    await partsOf(model, { step, messages: [...messages] });
    sizes.push(readFileSync(file).length);
  }
  const added = (step: number): number => (sizes[step] ?? 0) - (sizes[step - 1] ?? 0);
  expect(added(39)).toBeLessThan(added(2) * 1.5);
});
