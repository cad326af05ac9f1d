/** jsonlSink: J1–J3. */
import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { jsonlSink, type SinkMessage } from "../../src/index.ts";
import { freshDirectory } from "../stores/watched-store.ts";

const signal = new AbortController().signal;

function message(run: string): SinkMessage {
  return { type: "output", run, output: { text: "line\nbreak" } } as unknown as SinkMessage;
}

function linesOf(path: string): readonly string[] {
  return readFileSync(path, "utf8").split("\n");
}

test("J1 one line of JSON per message, with its key, in a file that only its owner reads", async () => {
  const path = join(freshDirectory(), "told.jsonl");
  const sink = jsonlSink(path);
  await Promise.all(["r1", "r2"].map((run) => sink.deliver(message(run), { key: `k-${run}`, attempt: 1, signal })));
  const lines = linesOf(path);
  expect(lines.slice(0, -1).map((line) => JSON.parse(line) as unknown)).toEqual([
    { key: "k-r1", ...message("r1") },
    { key: "k-r2", ...message("r2") },
  ]);
  expect(lines.at(-1)).toBe("");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("J3 a line that was cut short spoils only itself", async () => {
  const path = join(freshDirectory(), "told.jsonl");
  const sink = jsonlSink(path);
  await sink.deliver(message("r1"), { key: "k1", attempt: 1, signal });
  appendFileSync(path, '{"key":"k2","ru');
  await sink.deliver(message("r2"), { key: "k2", attempt: 2, signal });
  const [first, cut, second] = linesOf(path);
  expect(JSON.parse(first ?? "")).toMatchObject({ key: "k1" });
  expect(() => JSON.parse(cut ?? "") as unknown).toThrow();
  expect(JSON.parse(second ?? "")).toMatchObject({ key: "k2" });
});

test("a path that cannot be written rejects, and the next message is tried on its own", async () => {
  const directory = freshDirectory();
  const sink = jsonlSink(directory);
  await expect(sink.deliver(message("r1"), { key: "k1", attempt: 1, signal })).rejects.toThrow(/EISDIR/);
  await expect(sink.deliver(message("r2"), { key: "k2", attempt: 1, signal })).rejects.toThrow(/EISDIR/);
});

test("L8 a folder that is not there is refused when the sink is made, not when somebody is to be told", () => {
  const directory = freshDirectory();
  expect(() => jsonlSink(join(directory, "none", "told.jsonl"))).toThrow(
    `there is no folder ${join(directory, "none")}`,
  );
  appendFileSync(join(directory, "file"), "");
  expect(() => jsonlSink(join(directory, "file", "told.jsonl"))).toThrow("make it first");
});
