import { expect, test } from "vitest";
import type { JsonObject } from "../domain/json.ts";
import { foreignSchema } from "./foreign-schema.ts";

async function fits(schema: JsonObject, value: unknown): Promise<boolean> {
  return !("issues" in (await foreignSchema(schema)["~standard"].validate(value)));
}

const of = (property: JsonObject): JsonObject => ({ type: "object", properties: { a: property } });

test("Y1: a schema that cannot be compiled says so, one that can does not", async () => {
  expect(await foreignSchema(of({ type: "number" })).problem()).toBeUndefined();
  expect(await foreignSchema(of({ type: "nothing" })).problem()).toContain("must be");
  expect(await foreignSchema(of({ $ref: "#/nowhere" })).problem()).toContain("can't resolve reference");
});

test("Y1: once it is compiled, it answers at once", async () => {
  const schema = foreignSchema(of({ type: "number" }));
  expect(schema["~standard"].validate({ a: 1 })).toBeInstanceOf(Promise);
  expect(await schema.problem()).toBeUndefined();
  expect(schema["~standard"].validate({ a: 1 })).toEqual({ value: { a: 1 } });
  expect(schema["~standard"].validate({ a: "1" })).toEqual({ issues: [{ message: "$/a must be number" }] });
});

test("Y2: patterns are told apart, and one that needs backtracking is left to its owner", async () => {
  expect(await fits(of({ pattern: "^x+$" }), { a: "xx" })).toBe(true);
  expect(await fits(of({ pattern: "^y+$" }), { a: "xx" })).toBe(false);
  expect(await fits({ type: "object", patternProperties: { "^n": { type: "number" } } }, { nn: "1" })).toBe(false);
  const looks = of({ type: "string", pattern: "^(?!x).*$" });
  expect(await fits(looks, { a: 1 })).toBe(true);
  expect(await fits(looks, 1)).toBe(false);
});

test("Y3: schemas of older drafts mean what they meant", async () => {
  const $schema = "http://json-schema.org/draft-07/schema#";
  const tuple = { ...of({ type: "array", items: [{ type: "number" }], additionalItems: false }), $schema };
  expect(await foreignSchema(tuple).problem()).toBeUndefined();
  expect(await fits(tuple, { a: [1] })).toBe(true);
  expect(await fits(tuple, { a: ["1"] })).toBe(false);
  expect(await fits(tuple, { a: [1, 2] })).toBe(false);
  const { jsonSchema } = foreignSchema(tuple)["~standard"];
  expect(jsonSchema?.input({ target: "draft-2020-12" })).toEqual(
    of({ type: "array", prefixItems: [{ type: "number" }], items: false }),
  );
  const named = of({ type: "string" });
  const withName = { ...named, properties: { ...(named.properties as JsonObject), $schema: { type: "string" } } };
  expect(await fits(withName, { $schema: 1 })).toBe(false);
});
