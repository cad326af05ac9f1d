import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { describe, expect, test } from "vitest";
import type { ThreadId } from "../../src/domain/ids.ts";
import type { Model, ModelPart, ModelRequest } from "../../src/ports/provider.ts";
import { cassette } from "../../src/providers/cassette/cassette.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { forecaster, freshFolder, offline, play, realModel } from "./fixtures.ts";

const at = freshFolder();

const request: ModelRequest = {
  agent: "a",
  thread: "t" as ThreadId,
  step: 1,
  attempt: 1,
  instructions: "Be kind.",
  messages: [],
  tools: [],
};

async function partsOf(model: Model, more: Partial<ModelRequest> = {}): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.call({ ...request, ...more }, new AbortController().signal)) parts.push(part);
  return parts;
}

function problemWith(file: string): string {
  try {
    cassette(offline, { file, mode: "replay" });
  } catch (cause) {
    expect(cause).toMatchObject({ code: "cassette-unusable" });
    return (cause as Error).message;
  }
  return "usable";
}

describe("T3: what is not whole is not used", () => {
  test("a recording that was cut at any byte is found out", async () => {
    const whole = at("whole.jsonl");
    await partsOf(cassette(scripted([{ text: "Здравствуй", pieces: 4 }]), { file: whole, mode: "record" }));
    const bytes = readFileSync(whole);
    const file = at("cut.jsonl");
    for (let length = 0; length < bytes.length; length += 1) {
      writeFileSync(file, bytes.subarray(0, length));
      expect(problemWith(file), `cut after ${length} bytes`).toContain("record");
    }
    expect(problemWith(file)).toContain("its last line does not end");
    writeFileSync(file, bytes);
    expect(problemWith(file)).toBe("usable");
  });

  test("a line that is missing, broken, or cites what is not there is named", async () => {
    const file = at("broken.jsonl");
    await partsOf(cassette(scripted(["hi"]), { file, mode: "record" }));
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const written = (changed: readonly string[]): string => {
      writeFileSync(file, `${changed.join("\n")}\n`);
      return problemWith(file);
    };
    expect(written(lines.filter((_, index) => index !== 1))).toMatch(
      "it is cut: its first line counts 3 more lines, and there are 2",
    );
    expect(written(lines.with(3, "oh"))).toMatch("line 4 is no JSON");
    expect(written(lines.with(3, "{}"))).toMatch("line 4 is no whole call");
    expect(written(lines.with(1, '{"define":"other","value":1}'))).toMatch("line 4 is no whole call");
    const odd = (lines[3] ?? "").replace('{"kind":"done"}', '{"kind":"error","code":"nonsense","message":"x"}');
    expect(written(lines.with(3, odd))).toMatch("line 4 is no whole call");
  });

  test("another format, another file, none", () => {
    const file = at("format.jsonl");
    writeFileSync(file, '{"cassette":2,"lines":0}\n');
    expect(problemWith(file)).toMatch("it has format 2, and this version reads format 1; delete it and record again");
    writeFileSync(file, '{"key":"a sink"}\n');
    expect(problemWith(file)).toMatch("its first line is not that of a cassette");
    expect(problemWith(at("nothing.jsonl"))).toMatch('record it first with mode "record"');
    mkdirSync(at("folder"));
    expect(problemWith(at("folder"))).toMatch("it cannot be read");
  });

  test("an empty recording has no answers, and says so", async () => {
    const file = at("empty.jsonl");
    writeFileSync(file, '{"cassette":1,"lines":0}\n');
    await expect(partsOf(cassette(offline, { file, mode: "replay" }))).rejects.toThrow("it has no calls at all");
  });
});

test("T1: a call is in the file before its reader has the end", async () => {
  const file = at("before.jsonl");
  const model = cassette(scripted(["hi"]), { file, mode: "record" });
  expect(existsSync(file)).toBe(false);
  await partsOf(model);
  expect(problemWith(file)).toBe("usable");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("T4 of two that record into one file the newer one does, and the other is refused before it asks its model", async () => {
  const file = at("shared.jsonl");
  const seen: string[] = [];
  const said = (name: string): Model =>
    scripted([
      () => {
        seen.push(name);
        return name;
      },
    ]);
  const one = cassette(said("one"), { file, mode: "record" });
  await partsOf(one);
  const two = cassette(said("two"), { file: relative(process.cwd(), file), mode: "record" });
  await expect(partsOf(one)).rejects.toThrow("another cassette of this process records to it");
  await expect(partsOf(one)).rejects.toMatchObject({ code: "cassette-unusable" });
  await partsOf(two);
  expect(seen).toEqual(["one", "two"]);
  expect(problemWith(file)).toBe("usable");
});

test("a file that another process writes to is not spoiled further", async () => {
  const file = at("foreign.jsonl");
  const model = cassette(scripted(["one"]), { file, mode: "record" });
  await partsOf(model);
  appendFileSync(file, "{}\n");
  await expect(partsOf(model)).rejects.toThrow("somebody else writes to it");
});

test("a file that cannot be written fails the call", async () => {
  writeFileSync(at("plain"), "x");
  const model = cassette(scripted(["hi"]), { file: at("plain/in.jsonl"), mode: "record" });
  await expect(partsOf(model)).rejects.toMatchObject({ code: "cassette-unusable" });
});

describe("V4: secrets are not written", () => {
  const key = "sk-live-0123456789abcdefghij";

  test("in requests, replies, tool input, metadata and errors, also in pieces", async () => {
    const file = at("secrets.jsonl");
    const calls = [{ tool: "login", input: { key, note: "fine" } }];
    const replies = [
      { text: `Your key is ${key}, keep it.`, pieces: 4, reasoning: `The key ${key}?`, calls },
      { error: "model-refused", message: `Incorrect API key provided: ${key}` } as const,
    ];
    const model = cassette(scripted(replies), { file, mode: "record" });
    const told = await partsOf(model, {
      instructions: `Use ${key}.`,
      settings: { user: key },
      messages: [
        { id: "m", role: "user", visibility: "all", parts: [{ type: "text", text: `Bearer ${key}` }] },
      ] as never,
    });
    await expect(partsOf(model, { step: 2 })).rejects.toThrow(key);
    const text = readFileSync(file, "utf8");
    expect(text).not.toContain(key);
    for (let from = 0; from + 12 <= key.length; from += 1) expect(text).not.toContain(key.slice(from, from + 12));
    // What the reader was told is not touched, and what needed no redaction keeps its pieces.
    expect(told.map((part) => (part.type === "text-delta" ? part.text : "")).join("")).toContain(key);
    expect(text).toContain('"inputText":"{\\"key\\":\\"[redacted: api-key]\\",\\"note\\":\\"fine\\"}"');
    expect(text).toContain("Your key is [redacted: api-key], keep it.");
  });

  test("a key in tool input that comes in turns with another call's", async () => {
    const file = at("turns.jsonl");
    const half = key.length / 2;
    const pieces = (index: number, text: string): ModelPart => ({ type: "tool-input-delta", index, tool: "t", text });
    const parts: ModelPart[] = [
      pieces(0, `{"a":"${key.slice(0, half)}`),
      pieces(1, '{"b":1'),
      pieces(0, `${key.slice(half)}"}`),
      { type: "tool-call", alias: "x", tool: "t", inputText: `{"a":"${key}"}` },
      pieces(1, "}"),
      { type: "tool-call", alias: "y", tool: "t", inputText: '{"b":1}' },
      { type: "finish", reason: "tool-calls" },
    ];
    await partsOf(cassette(scripted([{ parts }]), { file, mode: "record" }));
    expect(readFileSync(file, "utf8")).not.toContain(key.slice(0, half));
    const replayed = await partsOf(cassette(scripted([]), { file, mode: "replay" }));
    expect(replayed).toEqual([
      pieces(0, '{"a":"[redacted: api-key]"}'),
      pieces(1, '{"b":1'),
      { type: "tool-call", alias: "x", tool: "t", inputText: '{"a":"[redacted: api-key]"}' },
      ...parts.slice(4),
    ]);
  });

  test("two texts that would be a key together are two texts", async () => {
    const file = at("begins.jsonl");
    const parts: ModelPart[] = [
      { type: "text-delta", text: "sk-12345678" },
      { type: "text-delta", text: "90abcdef", begins: true },
      { type: "finish", reason: "stop" },
    ];
    await partsOf(cassette(scripted([{ parts }]), { file, mode: "record" }));
    expect(await partsOf(cassette(scripted([]), { file, mode: "replay" }))).toEqual(parts);
  });

  test("a run whose words are redacted still replays: both sides are compared without them", async () => {
    const file = at("redacted-run.jsonl");
    const text = `{ "key": "${key}" }`; // JSON by chance: it is text to everybody else
    const answers = [{ text, calls: [{ tool: "weather", input: { city: key } }] }, "Done."];
    await play(forecaster(cassette(realModel(answers), { file, mode: "record" })), `My key is ${key}`);
    expect(readFileSync(file, "utf8")).not.toContain(key);
    const { outcome } = await play(forecaster(cassette(offline, { file, mode: "replay" })), `My key is ${key}`);
    expect(outcome).toBe("completed");
  });

  test("more is taken out when said, and what changes with every run can be", async () => {
    const file = at("more.jsonl");
    const redact = { detectors: ["email"], patterns: ["\\d{4}-\\d{2}-\\d{2}"] } as const;
    const said = (day: string): Partial<ModelRequest> => ({
      instructions: `Today is ${day}. Write to ana@example.com.`,
    });
    await partsOf(cassette(scripted(["ok"]), { file, mode: "record", redact }), said("2026-11-15"));
    expect(readFileSync(file, "utf8")).toContain("Today is [redacted: pattern]. Write to [redacted: email].");
    const replay = cassette(offlineAs("scripted"), { file, mode: "replay", redact });
    await expect(partsOf(replay, said("2027-01-01"))).resolves.toHaveLength(2);
  });

  function offlineAs(model: string): Model {
    return { ...offline, description: { provider: "scripted", model } };
  }
});

describe("bad input", () => {
  test("every problem is named at once", () => {
    const make = (): unknown =>
      cassette({} as never, { file: 7, mode: "rewind", redact: { paths: 1 }, speed: 2 } as never);
    expect(make).toThrow(
      "The cassette cannot be made: speed: unknown option; known are file, mode, redact; file: must be the path of a file; mode: must be one of record, replay, auto; redact.paths: must be a list of at most 1000; model: must be a model that can be called",
    );
    expect(() => cassette(offline, undefined as never)).toThrow("options must be an object");
    expect(() => cassette(offline, { file: "" })).toThrow("file: must be the path of a file");
  });

  test("a model that breaks its protocol is recorded as it is", async () => {
    const file = at("odd.jsonl");
    const parts = [
      { type: "text-delta", text: "a" },
      { type: "finish", reason: "stop" },
      { type: "ping" },
    ] as ModelPart[];
    await partsOf(cassette(scripted([{ parts }]), { file, mode: "record" }));
    expect(await partsOf(cassette(scripted([]), { file, mode: "replay" }))).toEqual(parts);
    const thrower: Model = {
      ...offline,
      call: () => {
        throw new Error("no host");
      },
    };
    const failing = at("thrower.jsonl");
    await expect(partsOf(cassette(thrower, { file: failing, mode: "record" }))).rejects.toThrow("no host");
    await expect(partsOf(cassette(offline, { file: failing, mode: "replay" }))).rejects.toMatchObject({
      code: "model-failed",
      message: "The provider failed: no host",
    });
  });
});
