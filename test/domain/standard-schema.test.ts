import { expect, test } from "vitest";
import { z } from "zod";
import { isStandardSchema, showIssues } from "../../src/domain/standard-schema.ts";

test("a schema is recognised by the standard's property, whatever its library", () => {
  expect(isStandardSchema(z.object({}))).toBe(true);
  const callable = Object.assign(() => 1, { "~standard": { version: 1, vendor: "x", validate: () => ({ value: 1 }) } });
  expect(isStandardSchema(callable)).toBe(true);
});

test.each([
  undefined,
  null,
  "text",
  {},
  { "~standard": 1 },
  { "~standard": { version: 2, vendor: "x", validate: () => 1 } },
  { "~standard": { version: 1, vendor: "x" } },
])("%o is no schema", (value) => {
  expect(isStandardSchema(value)).toBe(false);
});

test("issues are shown with their place", () => {
  const issues = [{ message: "too few", path: ["orders", 0, { key: "cents" }] }, { message: "no object" }];
  expect(showIssues(issues)).toBe("$.orders.0.cents: too few; $: no object");
  expect(showIssues([])).toBe("");
});

test("a real library's issues are shown with their place", async () => {
  const result = await z.object({ order: z.object({ cents: z.number() }) })["~standard"].validate({ order: {} });
  expect(showIssues(result.issues ?? [])).toMatch(/^\$\.order\.cents: /);
});
