import fc from "fast-check";
import { expect, test } from "vitest";
import { compileGlob } from "../../../src/plugins/shared/glob.ts";

function fits(pattern: string, text: string): boolean {
  return compileGlob(pattern).test(text);
}

/** The same meaning, said in a backtracking engine: good for short texts only. */
function asRegExp(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.()[\]{}|^$+\\]/g, "\\$&")
    .replaceAll(/(?<=^|\/)\*\*+\/|\*+|\?/g, (piece) => (piece === "?" ? "." : piece.endsWith("/") ? "(?:.*/)?" : ".*"));
  return new RegExp(`^${source}$`, "su");
}

const signs = fc.constantFrom(..."aab/.+(\n", "😀");
const globs = fc.string({ unit: fc.oneof(signs, fc.constantFrom("*", "?", "**/", "/**/")), maxLength: 8 });

test("a glob fits what the same expression in JavaScript fits", () => {
  const property = fc.property(globs, fc.string({ unit: signs, maxLength: 10 }), (pattern, text) => {
    expect(fits(pattern, text), `${pattern} on ${JSON.stringify(text)}`).toBe(asRegExp(pattern).test(text));
  });
  fc.assert(property, { numRuns: 5_000 });
});

test("a star is any run, a question mark is one character, all else is itself", () => {
  expect(fits("npm *", "npm run build")).toBe(true);
  expect(fits("npm *", "npm")).toBe(false);
  expect(fits("*", "")).toBe(true);
  expect(fits("a?c", "abc")).toBe(true);
  expect(fits("a?c", "ac")).toBe(false);
  expect(fits("?", "😀")).toBe(true);
  expect(fits("*rm*", "echo\nrm -rf /")).toBe(true);
  expect(fits("a.c", "abc")).toBe(false);
  expect(fits("[ab]", "a")).toBe(false);
});

test("the whole text must fit", () => {
  expect(fits("rm", "rm -rf")).toBe(false);
  expect(fits("rm*", "xrm")).toBe(false);
});

test("two stars and a slash may be no folder, one or many", () => {
  for (const path of ["src/a.ts", "src/b/a.ts", "src/b/c/a.ts"]) expect(fits("src/**/*.ts", path), path).toBe(true);
  expect(fits("**/a.ts", "a.ts")).toBe(true);
  expect(fits("**/a.ts", "xa.ts")).toBe(false);
  expect(fits("src**/a", "srca")).toBe(false);
});

test("a glob without wildcards is exact", () => {
  expect(compileGlob("npm test").isExact).toBe(true);
  expect(compileGlob("npm t?st").isExact).toBe(false);
});

test("many stars and a long text that nearly fits come to an end", () => {
  expect(fits(`${"*a".repeat(50)}b`, "a".repeat(20_000))).toBe(false);
});
