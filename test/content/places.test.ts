import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { keptElsewhere } from "../../src/content/elsewhere.ts";
import type { Scope } from "../../src/domain/ids.ts";
import {
  agent,
  type ContentRef,
  createRuntime,
  fileContent,
  memory,
  type Runtime,
  type RuntimeOptions,
  tool,
} from "../../src/index.ts";
import { nodeClock } from "../../src/platform/node-clock.ts";
import { nodeHash } from "../../src/platform/node-hash.ts";
import type { ContentPlaces } from "../../src/ports/content-store.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { sqlite } from "../../src/sqlite.ts";
import { content as contentChecks } from "../../src/testing/conformance/store-content.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-content-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
function fresh(name: string): string {
  count += 1;
  return join(folder, `${count}-${name}`);
}

const quiet = { warn: () => undefined, note: () => undefined };
const day = 24 * 60 * 60_000;

describe("a store whose content is in files keeps B1–B4", () => {
  const withFiles = (store: StoreDefinition): StoreDefinition => {
    const files = fileContent(fresh("files"));
    return {
      ...store,
      open: async (deps) => keptElsewhere(await store.open(deps), await files.open(), nodeHash).store,
    };
  };
  const stores = { memory: () => memory(), sqlite: () => sqlite(fresh("db")) };
  for (const [name, make] of Object.entries(stores)) {
    for (const [fact, check] of Object.entries(contentChecks)) {
      if (!fact.startsWith("B5")) test(`${name}: ${fact}`, () => check(withFiles(make()).open));
    }
  }
});

const page = "<p>words</p>".repeat(20_000);
const fetch = tool({ name: "fetch", description: "Fetches", input: z.object({}), effect: "pure", execute: () => page });
const model = scripted([{ calls: [{ tool: "fetch", input: {} }] }, "Read."]);
const reader = agent({ name: "reader", model, instructions: "", tools: [fetch] });

async function open(options: RuntimeOptions): Promise<Runtime> {
  const runtime = await createRuntime({ logger: quiet, agents: [reader], ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

async function refOf(runtime: Runtime, thread = "t"): Promise<ContentRef> {
  const { items } = await runtime.threads.messages(thread);
  const part = items.flatMap(({ message }) => message.parts).find(({ type }) => type === "tool-result");
  if (part?.type !== "tool-result" || part.result.kind !== "value" || !part.result.content) throw new Error("none");
  return part.result.content;
}

function filesIn(place: string): readonly string[] {
  const all = readdirSync(place, { recursive: true, withFileTypes: true });
  return all.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
}

test("E1 bytes are in a file and not in the database, and one file holds what was put twice", async () => {
  const [db, files] = [fresh("db"), fresh("files")];
  const runtime = await open({ store: sqlite(db), content: fileContent(files) });
  await runtime.run(reader, "go", { thread: "t" });
  await runtime.run(reader, "go", { thread: "u" });
  const kept = filesIn(files);
  expect(kept).toHaveLength(1);
  expect(JSON.parse(readFileSync(kept[0] ?? "", "utf8"))).toBe(page);
  expect((await runtime.content.get(await refOf(runtime, "u"))).json()).toBe(page);
  await runtime.close();
  const stored = [db, `${db}-wal`].filter(existsSync).reduce((sum, path) => sum + readFileSync(path).length, 0);
  expect(stored).toBeLessThan(page.length);
});

test("bytes that were changed, or are gone, are refused by name; so is a process that does not know the place", async () => {
  const [db, files] = [fresh("db"), fresh("files")];
  const runtime = await open({ store: sqlite(db), content: fileContent(files) });
  await runtime.run(reader, "go", { thread: "t" });
  const ref = await refOf(runtime);
  const [file = ""] = filesIn(files);
  appendFileSync(file, "!");
  await expect(runtime.content.get(ref)).rejects.toMatchObject({
    code: "content-hash-mismatch",
    details: { hash: ref.hash },
  });
  rmSync(file);
  await expect(runtime.content.get(ref)).rejects.toMatchObject({ code: "content-not-found" });
  const other = await open({ store: sqlite(db) });
  await expect(other.content.get(ref)).rejects.toMatchObject({
    code: "content-not-found",
    message: expect.stringMatching(/give this runtime the `content` option of the one that put them/),
  });
});

test("a row whose bytes were changed is refused by name", async () => {
  const db = fresh("db");
  const runtime = await open({ store: sqlite(db) });
  await runtime.run(reader, "go", { thread: "t" });
  const ref = await refOf(runtime);
  const { DatabaseSync } = await import("node:sqlite");
  const raw = new DatabaseSync(db);
  raw.prepare("UPDATE content SET body = ?").run(Buffer.from("other"));
  raw.close();
  await expect(runtime.content.get(ref)).rejects.toMatchObject({ code: "content-hash-mismatch" });
});

test("E1 what a cut has left is swept when it is old; what the store refers to and what is young stays", async () => {
  const files = fresh("files");
  const places = await fileContent(files).open();
  const inner = await memory().open({ clock: nodeClock, logger: quiet });
  const { store, sweep } = keptElsewhere(inner, places, nodeHash);
  const scope = "default" as Scope;
  const put = async (text: string): Promise<string> => {
    const hash = nodeHash.sha256(text);
    await store.putContent({ scope, hash, mediaType: "text/plain", body: Buffer.from(text) });
    return hash;
  };
  const kept = await put("kept");
  const orphan = await places.keep({ scope, hash: nodeHash.sha256("lost") }, Buffer.from("lost"));
  const twin = await places.keep({ scope, hash: kept }, Buffer.from("kept"));
  const half = `${join(files, orphan)}.part`;
  writeFileSync(half, "ha");
  const old = new Date(Date.now() - 2 * day);
  for (const file of filesIn(files)) utimesSync(file, old, old);
  const young = await places.keep({ scope, hash: nodeHash.sha256("young") }, Buffer.from("young"));
  await sweep(scope, day);
  expect([await places.read(orphan), await places.read(twin), existsSync(half)]).toEqual([undefined, undefined, false]);
  expect(await places.read(young)).toBeDefined();
  expect(await store.content({ scope, hash: kept })).toMatchObject({ body: new Uint8Array(Buffer.from("kept")) });
});

test("E2 content that is put again while it is being collected is there afterwards", async () => {
  const real = await fileContent(fresh("files")).open();
  const inner = await memory().open({ clock: nodeClock, logger: quiet });
  const scope = "default" as Scope;
  const hash = nodeHash.sha256("again");
  const put = { scope, hash, mediaType: "text/plain", body: Buffer.from("again") };
  /** Bytes are removed only after they were put again. */
  const slow: ContentPlaces = {
    ...real,
    async remove(place) {
      await keptElsewhere(inner, real, nodeHash).store.putContent(put);
      await real.remove(place);
    },
  };
  const { store } = keptElsewhere(inner, slow, nodeHash);
  await store.putContent(put);
  expect(await store.collectContent({ scope, olderThanMs: 0, limit: 9 })).toHaveLength(1);
  expect(await store.content({ scope, hash })).toMatchObject({ body: new Uint8Array(Buffer.from("again")) });
});

test("a place that cannot be opened, and an option that is none, are refused by name", async () => {
  const file = fresh("file");
  writeFileSync(file, "");
  await expect(createRuntime({ agents: [reader], content: fileContent(join(file, "x")) })).rejects.toMatchObject({
    code: "content-unavailable",
  });
  await expect(createRuntime({ agents: [reader], content: "files" as never })).rejects.toMatchObject({
    problems: ["content: must be a place, for example fileContent(folder)"],
  });
  expect(() => fileContent("")).toThrow(/takes the path of a folder/);
});

test("a place in the store that leads out of the folder is read as nothing", async () => {
  const places = await fileContent(fresh("files")).open();
  expect(await places.read("../../../etc/passwd")).toBe(undefined);
  await places.remove("../../../etc/passwd");
});
