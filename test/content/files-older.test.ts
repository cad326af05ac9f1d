/** What was there before a run does not fail it: a thread lives on after a part that could not be sent. */
import { expect, test } from "vitest";
import {
  agent,
  type Message,
  type ModelDescription,
  type ModelRequest,
  memory,
  type NewPart,
} from "../../src/index.ts";
import type { StoredContent } from "../../src/ports/content-store.ts";
import type { Store } from "../../src/ports/store.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const picture = (n: number, bytes = 120_000): NewPart => {
  return { type: "image", mediaType: "image/png", body: new Uint8Array(bytes).fill(n) };
};

function watching(accepts?: ModelDescription["accepts"], name = "eye") {
  const requests: ModelRequest[] = [];
  const answer = (request: ModelRequest): string => {
    requests.push(request);
    return "Seen.";
  };
  const model = scripted(new Array(20).fill(answer), { description: accepts ? { accepts } : {} });
  return { requests, eye: agent({ name, instructions: "", model }) };
}

/** A memory store whose content somebody may take away or change. */
function fragile() {
  const definition = memory();
  const state: { read: (found: StoredContent | undefined) => StoredContent | undefined } = { read: (found) => found };
  const open = async (deps: Parameters<typeof definition.open>[0]): Promise<Store> => {
    const opened = await definition.open(deps);
    return { ...opened, content: async (key) => state.read(await opened.content(key)) };
  };
  return { state, store: { ...definition, open } };
}

const settings = { limits: { contentBytes: 150_000, inlineBytes: 1_000 } };
const words = ({ parts }: Message): readonly string[] =>
  parts.map((part) => (part.type === "text" ? part.text : part.type));
const shared = (before: ModelRequest | undefined, after: ModelRequest | undefined): boolean =>
  JSON.stringify(before?.messages) === JSON.stringify(after?.messages.slice(0, before?.messages.length));

test("V2 V5 an image that a model does not read fails the run that brought it, and no later one", async () => {
  const { requests, eye } = watching(["text"]);
  await using t = await testRuntime({ agents: [eye], settings });
  const run = (input: string | readonly NewPart[]) => t.runtime.run(eye, input, { thread: "t" });
  expect(await run([{ type: "text", text: "Look" }, picture(1, 10)])).toMatchObject({ outcome: "failed" });
  expect(await run("One")).toMatchObject({ outcome: "completed" });
  expect(await run("Two")).toMatchObject({ outcome: "completed" });
  expect(requests.map(({ messages }) => messages.map(words))).toMatchObject([
    [["Look", "[Left out, for this model does not read it: image (image/png, 10 bytes)]"], ["One"]],
    {},
  ]);
  expect(shared(requests[0], requests[1])).toBe(true);
  expect(await run([picture(2, 10)])).toMatchObject({ outcome: "failed", error: { code: "model-refused" } });
});

test("V5 a conversation with images goes on with a model that reads text", async () => {
  const seeing = watching(["text", "image"]);
  const reading = watching(["text"], "reader");
  await using t = await testRuntime({ agents: [seeing.eye, reading.eye], settings });
  await t.runtime.run(seeing.eye, [picture(1)], { thread: "t" });
  expect(await t.runtime.run(reading.eye, "And?", { thread: "t" })).toMatchObject({ outcome: "completed" });
  await t.runtime.run(seeing.eye, "Again", { thread: "t" });
  expect(seeing.requests[1]?.messages[0]).toEqual(seeing.requests[0]?.messages[0]);
});

test.each([
  { what: "gone", read: (): undefined => undefined, code: "content-not-found", why: "it is not there any more" },
  { what: "damaged", read: changed, code: "content-hash-mismatch", why: "its bytes are damaged" },
])("V4 V5 content that is $what fails the run that brought it, and no later one", async ({ read, code, why }) => {
  const { requests, eye } = watching();
  const { state, store } = fragile();
  await using t = await testRuntime({ agents: [eye], store, settings });
  state.read = read;
  const first = await t.runtime.run(eye, [picture(1)], { thread: "t" });
  expect(first).toMatchObject({ outcome: "failed", error: { code }, retry: "never" });
  expect(requests).toEqual([]);
  for (const input of ["One", "Two"]) {
    expect(await t.runtime.run(eye, input, { thread: "t" })).toMatchObject({ outcome: "completed" });
  }
  expect(words(requests[0]?.messages[0] as Message)).toEqual([
    `[Left out, for ${why}: image (image/png, 120000 bytes)]`,
  ]);
  expect(shared(requests[0], requests[1])).toBe(true);
});

function changed(found: StoredContent | undefined): StoredContent | undefined {
  return found && { mediaType: found.mediaType, body: new Uint8Array(3) };
}

test("V5 bytes that this worker was not told where to find fail every run: they are not lost", async () => {
  const { requests, eye } = watching();
  const { state, store } = fragile();
  await using t = await testRuntime({ agents: [eye], store, settings });
  await t.runtime.run(eye, [picture(1)], { thread: "t" });
  state.read = (found) => found && { mediaType: found.mediaType, place: "elsewhere" };
  expect(await t.runtime.run(eye, "One", { thread: "t" })).toMatchObject({
    outcome: "failed",
    error: { code: "content-not-found", message: expect.stringContaining("give this worker the `content` option") },
  });
  expect(requests.length).toBe(1);
});

test("V3 V5 more than a call carries in one message fails its run, and no later one", async () => {
  const { requests, eye } = watching();
  await using t = await testRuntime({ agents: [eye], settings });
  const run = (input: string | readonly NewPart[]) => t.runtime.run(eye, input, { thread: "t" });
  expect(await run([1, 2, 3].map((n) => picture(n)))).toMatchObject({
    outcome: "failed",
    error: { code: "model-refused" },
  });
  expect(await run("One")).toMatchObject({ outcome: "completed" });
  expect(await run([picture(4)])).toMatchObject({ outcome: "completed" });
  expect(requests[1]?.messages.map((message) => words(message).length)).toEqual([3, 1, 1, 1]);
  expect(shared(requests[0], requests[1])).toBe(true);
});

test("V3 calls share their beginning between moves, also when there are more images than a call carries", async () => {
  const { requests, eye } = watching();
  await using t = await testRuntime({ agents: [eye], settings });
  for (let n = 0; n < 10; n++) await t.runtime.run(eye, [picture(n, 70_000)], { thread: "t" });
  const same = requests.slice(1).map((request, at) => shared(requests[at], request));
  // Four of them fit, and two are left after a move.
  expect(same).toEqual([true, true, true, false, true, true, false, true, true]);
});
