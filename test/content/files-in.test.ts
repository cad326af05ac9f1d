/** Images and files that come in: small ones in the message, larger ones as content, and the model gets the bytes of both. */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  agent,
  createRuntime,
  type Message,
  type ModelRequest,
  memory,
  type NewPart,
  plugin,
} from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const small = Uint8Array.from([1, 2, 3]);
const large = Uint8Array.from({ length: 200_000 }, (_, n) => n % 251);

function url(body: Uint8Array, mediaType = "image/png"): string {
  return `data:${mediaType};base64,${Buffer.from(body).toString("base64")}`;
}

/** What a model was sent, call by call. */
function watching(answers: readonly string[] = ["Seen.", "Seen."]) {
  const requests: ModelRequest[] = [];
  const model = scripted(
    answers.map((text) => (request) => {
      requests.push(request);
      return text;
    }),
  );
  return { requests, eye: agent({ name: "eye", instructions: "", model }) };
}

function files(messages: readonly Message[]) {
  return messages.flatMap(({ parts }) => parts.filter((part) => part.type === "image" || part.type === "file"));
}

onEveryStore((freshStore) => {
  test("K3 bytes and data addresses stay in the message while they are small, and become content when they are not", async () => {
    const { requests, eye } = watching();
    await using t = await testRuntime({ agents: [eye], store: freshStore() });
    const parts: readonly NewPart[] = [
      { type: "text", text: "What is it?" },
      { type: "image", mediaType: "image/png", body: small },
      { type: "image", mediaType: "image/png", url: url(large) },
      { type: "file", mediaType: "audio/wav", body: large.slice(1), name: "a.wav" },
      { type: "file", mediaType: "application/pdf", url: "https://example.com/a.pdf" },
    ];
    const run = await t.runtime.start(eye, parts, { thread: "t" });
    expect(await run.output()).toBe("Seen.");
    const stored = files((await t.runtime.threads.messages("t")).items.map(({ message }) => message));
    expect(stored).toEqual([
      { type: "image", mediaType: "image/png", url: url(small) },
      {
        type: "image",
        mediaType: "image/png",
        content: { hash: expect.any(String), bytes: 200_000, mediaType: "image/png" },
      },
      {
        type: "file",
        mediaType: "audio/wav",
        name: "a.wav",
        content: { hash: expect.any(String), bytes: 199_999, mediaType: "audio/wav" },
      },
      { type: "file", mediaType: "application/pdf", url: "https://example.com/a.pdf" },
    ]);
    expect(files(requests[0]?.messages ?? [])).toEqual([
      stored[0],
      { type: "image", mediaType: "image/png", url: url(large) },
      { type: "file", mediaType: "audio/wav", name: "a.wav", url: url(large.slice(1), "audio/wav") },
      stored[3],
    ]);
  });

  test("K1 what a run was given is cited: it stays while the run does, also through a fork", async () => {
    const { requests, eye } = watching();
    await using t = await testRuntime({ agents: [eye], store: freshStore() });
    const run = await t.runtime.start(eye, [{ type: "image", mediaType: "image/png", body: large }]);
    await run.result();
    const fork = await t.runtime.runs.fork(run.id, eye, { atStep: 1 });
    await fork.result();
    await t.runtime.runs.erase(run.id);
    await t.advance("11m");
    await t.runtime.content.collect({ olderThanMs: 600_000 });
    const hash = createHash("sha256").update(large).digest("hex");
    expect((await t.runtime.content.get(hash)).body).toEqual(large);
    expect(files(requests[1]?.messages ?? [])).toEqual([{ type: "image", mediaType: "image/png", url: url(large) }]);
    await t.runtime.runs.erase(fork.id);
    await t.runtime.content.collect({ olderThanMs: 600_000 });
    await expect(t.runtime.content.get(hash)).rejects.toMatchObject({ code: "content-not-found" });
  });

  test("history that a thread is made with brings its files along", async () => {
    const { requests, eye } = watching();
    await using t = await testRuntime({ agents: [eye], store: freshStore() });
    const history = [{ role: "user", parts: [{ type: "image", mediaType: "image/png", body: large }] }] as const;
    await t.runtime.threads.create({ id: "t", messages: history });
    await (await t.runtime.start(eye, "And this?", { thread: "t" })).result();
    expect(files(requests[0]?.messages ?? [])).toEqual([{ type: "image", mediaType: "image/png", url: url(large) }]);
  });
});

test("the same key with the same bytes is the same start, and with others it is none", async () => {
  const { eye } = watching();
  await using t = await testRuntime({ agents: [eye] });
  const start = (body: Uint8Array) =>
    t.runtime.start(eye, [{ type: "image", mediaType: "image/png", body }], { key: "k" });
  const [one, two] = [await start(large), await start(large)];
  expect(two.id).toBe(one.id);
  await expect(start(large.slice(2))).rejects.toMatchObject({ code: "start-key-conflict" });
});

test("K3 many small ones together are not small", async () => {
  const { eye } = watching();
  await using t = await testRuntime({ agents: [eye] });
  const parts = Array.from({ length: 4 }, (_, n) => {
    return { type: "image", mediaType: "image/png", body: new Uint8Array(50_000).fill(n) } as const;
  });
  await (await t.runtime.start(eye, parts, { thread: "t" })).result();
  const stored = files((await t.runtime.threads.messages("t")).items.map(({ message }) => message));
  expect(stored.map((part) => "content" in part)).toEqual([false, false, true, true]);
});

test("who gave bytes may change them afterwards", async () => {
  const { requests, eye } = watching();
  await using t = await testRuntime({ agents: [eye] });
  const given = large.slice();
  const starting = t.runtime.start(eye, [{ type: "image", mediaType: "image/png", body: given }]);
  given.fill(0);
  await (await starting).result();
  expect(files(requests[0]?.messages ?? [])).toEqual([{ type: "image", mediaType: "image/png", url: url(large) }]);
});

test.each([
  ["a media type that is none", { mediaType: "png", url: url(small) }, "mediaType must be a media type"],
  ["no media type", { url: url(small) }, "mediaType must be a media type"],
  ["no bytes at all", { mediaType: "image/png" }, "needs one of url, body (its bytes) and content"],
  ["two kinds of bytes", { mediaType: "image/png", url: url(small), body: small }, "needs one of url"],
  ["empty bytes", { mediaType: "image/png", body: new Uint8Array() }, "body is empty"],
  ["bytes that are none", { mediaType: "image/png", body: [1, 2] }, "body must be a Uint8Array"],
  ["an empty address", { mediaType: "image/png", url: "data:image/png;base64," }, "url is empty"],
  ["wrong base64", { mediaType: "image/png", url: "data:image/png;base64,AA*A" }, "characters that are none"],
  ["base64 that was cut", { mediaType: "image/png", url: "data:image/png;base64,AAAAA" }, "is cut off"],
  ["a data address without data", { mediaType: "image/png", url: "data:image/png;base64" }, "is no data:"],
  ["base64 of addresses", { mediaType: "image/png", url: "data:image/png;base64,_-_-" }, "must be standard base64"],
  ["base64 without its end", { mediaType: "image/png", url: "data:image/png;base64,QUI" }, "must be standard base64"],
  ["an image that is not base64", { mediaType: "image/png", url: "data:image/png,hello" }, "an image as base64"],
  ["another media type", { mediaType: "image/png", url: url(small, "image/jpeg") }, "names another media type"],
  ["a paper as an image", { mediaType: "application/pdf", body: small }, "mediaType must begin with image/"],
  ["an address of a file", { mediaType: "image/png", url: "file:///etc/passwd" }, "http, https or data address"],
  ["an address that is a script", { mediaType: "image/png", url: "javascript:1" }, "http, https or data address"],
  ["an address that is none", { mediaType: "image/png", url: "a.png" }, "http, https or data address"],
  ["broken escapes", { type: "file", mediaType: "text/plain", url: "data:text/plain,%E0%A4%A" }, "escapes are broken"],
  ["too many bytes", { mediaType: "image/png", body: large }, "body has 200000 bytes, the limit is 100000"],
  ["too long an address", { mediaType: "image/png", url: url(large) }, "url has 200000 bytes, the limit is 100000"],
  [
    "a hash that is none",
    { mediaType: "image/png", content: { hash: "x", bytes: 1, mediaType: "image/png" } },
    "content must be",
  ],
] as const)("%s is refused by name, at start and at send", async (_, part, problem) => {
  const { eye } = watching(["Waiting."]);
  await using t = await testRuntime({ agents: [eye], settings: { limits: { contentBytes: 100_000 } } });
  const given = [{ type: "image", ...part }] as unknown as readonly NewPart[];
  const refusal = { code: "invalid-input", problems: [expect.stringContaining("parts[0].")] };
  const error = await t.runtime.start(eye, given).catch((cause: unknown) => cause);
  expect(error).toMatchObject(refusal);
  expect(String((error as { problems: readonly string[] }).problems)).toContain(problem);
  const run = await t.runtime.start(eye, "go");
  await expect(run.send(given)).rejects.toMatchObject(refusal);
});

test("K5 an address that holds bytes is stored in one form, whichever way it was written", async () => {
  const { eye } = watching();
  await using t = await testRuntime({ agents: [eye] });
  const parts: readonly NewPart[] = [
    { type: "image", mediaType: "image/png", url: "DATA:image/PNG;BASE64,AQID" },
    { type: "file", mediaType: "image/png", url: "data:;base64,AQID" },
    { type: "file", mediaType: "text/plain", url: "data:text/plain;charset=utf-8,a%20b" },
  ];
  await (await t.runtime.start(eye, parts, { thread: "t" })).result();
  const stored = files((await t.runtime.threads.messages("t")).items.map(({ message }) => message));
  expect(stored.map((part) => "url" in part && part.url)).toEqual([
    url(small),
    url(small),
    url(Buffer.from("a b"), "text/plain"),
  ]);
});

test("an address of ten megabytes is content, and one of seventeen is refused before it is decoded", async () => {
  const { requests, eye } = watching();
  await using t = await testRuntime({ agents: [eye] });
  const ten = url(new Uint8Array(10 * 1024 * 1024).fill(9));
  await (await t.runtime.start(eye, [{ type: "image", mediaType: "image/png", url: ten }])).result();
  const [sent] = files(requests[0]?.messages ?? []);
  expect(sent && "url" in sent && sent.url === ten).toBe(true);
  const more = url(new Uint8Array(17 * 1024 * 1024));
  await expect(t.runtime.start(eye, [{ type: "image", mediaType: "image/png", url: more }])).rejects.toMatchObject({
    code: "invalid-input",
    problems: ["parts[0].url has 17825792 bytes, the limit is 16777216"],
  });
});

test("content of a hash that nobody has put is refused by name", async () => {
  const { eye } = watching();
  await using t = await testRuntime({ agents: [eye] });
  const content = { hash: "b".repeat(64), bytes: 3, mediaType: "image/png" };
  const start = t.runtime.start(eye, [{ type: "image", mediaType: "image/png", content }]);
  await expect(start).rejects.toMatchObject({ code: "content-not-found", details: { hash: content.hash } });
});

test("V3 the oldest make room when a conversation has more bytes than a call carries, and are named", async () => {
  const { requests, eye } = watching();
  await using t = await testRuntime({
    agents: [eye],
    settings: { limits: { contentBytes: 150_000, inlineBytes: 1_000 } },
  });
  const picture = (n: number) =>
    ({ type: "image", mediaType: "image/png", body: new Uint8Array(120_000).fill(n) }) as const;
  const history = [1, 2].map((n) => ({ role: "user", parts: [picture(n)] }) as const);
  await t.runtime.threads.create({ id: "t", messages: history });
  await (await t.runtime.start(eye, [picture(3)], { thread: "t" })).result();
  const [request] = requests;
  expect(files(request?.messages ?? [])).toEqual([
    { type: "image", mediaType: "image/png", url: url(picture(3).body) },
  ]);
  expect(request?.messages[0]?.parts[0]).toEqual({
    type: "text",
    text: "[Left out, for the conversation has too many bytes: image (image/png, 120000 bytes)]",
  });
});

test("V3 what is asked about now is never left out: the call is not made", async () => {
  const { requests, eye } = watching();
  await using t = await testRuntime({
    agents: [eye],
    settings: { limits: { contentBytes: 150_000, inlineBytes: 1_000 } },
  });
  const parts = [1, 2, 3].map((n) => {
    return { type: "image", mediaType: "image/png", body: new Uint8Array(120_000).fill(n) } as const;
  });
  const result = await (await t.runtime.start(eye, parts)).result();
  expect(result).toMatchObject({ outcome: "failed", error: { code: "model-refused" } });
  expect(JSON.stringify(result)).toContain("has 360000 bytes of images and files, and a call carries 300000");
  expect(requests).toEqual([]);
});

test("V1 content is read once in a claim, however many steps it is sent in", async () => {
  let reads = 0;
  const definition = memory();
  const store = {
    ...definition,
    async open(deps: Parameters<typeof definition.open>[0]) {
      const opened = await definition.open(deps);
      return {
        ...opened,
        content(key: Parameters<typeof opened.content>[0]) {
          reads += 1;
          return opened.content(key);
        },
      };
    },
  };
  const again = { calls: [{ tool: "nobody", input: {} }] };
  const eye = agent({ name: "eye", instructions: "", model: scripted([again, again, "Seen."]) });
  await using t = await testRuntime({ agents: [eye], store });
  await (await t.runtime.start(eye, [{ type: "image", mediaType: "image/png", body: large }])).result();
  expect(reads).toBe(1);
});

test.each([
  ["gone", "DELETE FROM content", "it is not there any more"],
  ["damaged", "UPDATE content SET body = x'00'", "its bytes are damaged"],
])("V5 content of an older message that is %s is named, and the run goes on", async (_, statement, why) => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-files-"));
  const path = join(folder, "runs.db");
  const { eye, requests } = watching();
  try {
    await using desk = await createRuntime({ store: sqlite(path) });
    await desk.threads.create({
      id: "t",
      messages: [{ role: "user", parts: [{ type: "image", mediaType: "image/png", body: large }] }],
    });
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA foreign_keys = off; ${statement}`);
    db.close();
    await using runtime = await createRuntime({ agents: [eye], store: sqlite(path) });
    expect(await runtime.run(eye, "And now?", { thread: "t" })).toMatchObject({ outcome: "completed" });
    expect(requests[0]?.messages[0]?.parts).toEqual([
      { type: "text", text: `[Left out, for ${why}: image (image/png, 200000 bytes)]` },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("V2 what a plugin puts into a request is looked at too", async () => {
  let calls = 0;
  const answer = (): string => {
    calls += 1;
    return "Seen.";
  };
  const stamp = plugin({
    name: "stamp",
    create: () => ({
      transform: (request) => ({ ...request, messages: request.messages.map(stamped) }),
    }),
  });
  const model = scripted([answer], { description: { accepts: ["text"] } });
  const eye = agent({ name: "eye", instructions: "", model, plugins: [stamp()] });
  await using t = await testRuntime({ agents: [eye] });
  const result = await (await t.runtime.start(eye, "go")).result();
  expect(result).toMatchObject({ outcome: "failed", error: { code: "model-refused" } });
  expect(JSON.stringify(result)).toContain(
    "has image (image/png, 3 bytes) as its part 2, and it reads text; leave it out",
  );
  expect(calls).toBe(0);
});

function stamped(message: Message): Message {
  return { ...message, parts: [...message.parts, { type: "image", mediaType: "image/png", url: url(small) }] };
}
