import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const source = resolve(import.meta.dirname, "../../src");
const files = globSync("**/*.ts", { cwd: source }).filter((path) => !path.endsWith(".test.ts"));

// Words that say nothing about what a thing is. A thing that needs one has not found its name yet.
const banned = new Set(["manager", "helper", "util", "service", "processor", "base", "impl", "info", "misc"]);
const bannedFolders = new Set(["utils", "util", "common", "helpers", "types", "core", "lib", "misc", "shared-utils"]);

const declaration =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|const|let|var|class|interface|type|enum)\s+([A-Za-z_$][\w$]*)/gm;
const list = /^export\s+(?:type\s+)?\{([^}]*)\}/gm;

function exportedNames(text: string): string[] {
  const declared = [...text.matchAll(declaration)].map((match) => match[1] ?? "");
  const listed = [...text.matchAll(list)].flatMap((match) => (match[1] ?? "").split(","));
  const aliased = listed.map((entry) =>
    (
      entry
        .trim()
        .split(/\s+as\s+/)
        .at(-1) ?? ""
    ).replace(/^type\s+/, ""),
  );
  return [...declared, ...aliased].filter((name) => name !== "");
}

function wordsOf(identifier: string): string[] {
  const spaced = identifier.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  return spaced.toLowerCase().split(/[^a-z]+/);
}

function bannedWordIn(identifier: string): string | undefined {
  return wordsOf(identifier).find((word) => banned.has(word) || banned.has(word.replace(/s$/, "")));
}

test("the words of an identifier are found in every case style", () => {
  expect(wordsOf("createHTTPServiceInfo")).toEqual(["create", "http", "service", "info"]);
  expect(wordsOf("RUN_UTIL")).toEqual(["run", "util"]);
  expect(bannedWordIn("storeHelpers")).toBe("helpers");
  expect(bannedWordIn("baseline")).toBeUndefined();
  expect(bannedWordIn("database")).toBeUndefined();
});

test("exported names are found in every form of export", () => {
  const text = [
    "export async function* first() {}",
    "export const second = 1;",
    "export type Third = string;",
    'export { a as fourth, type Fifth } from "./x.ts";',
    'export type { Sixth } from "./y.ts";',
  ].join("\n");
  expect(exportedNames(text).sort()).toEqual(["Fifth", "Sixth", "Third", "first", "fourth", "second"]);
});

test("no exported name contains a word that says nothing", () => {
  const found = files.flatMap((path) =>
    exportedNames(readFileSync(join(source, path), "utf8"))
      .filter((name) => bannedWordIn(name) !== undefined)
      .map((name) => `src/${path}: ${name} contains "${bannedWordIn(name)}"`),
  );
  expect(found).toEqual([]);
});

test("no folder is a home for things without an owner", () => {
  const found = files.filter((path) =>
    path
      .split(/[\\/]/)
      .slice(0, -1)
      .some((folder) => bannedFolders.has(folder)),
  );
  expect(found).toEqual([]);
});
