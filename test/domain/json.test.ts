import fc from "fast-check";
import { expect, test } from "vitest";
import { type JsonCheck, messageOf, toJson, valueLimits } from "../../src/domain/json.ts";

function problemOf(check: JsonCheck): string {
  if (check.ok) throw new Error(`was taken as ${JSON.stringify(check.value)}`);
  return `${check.path}: ${check.problem}`;
}

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
}

test("plain JSON comes back equal, with its size in bytes", () => {
  const value = { a: [1, "ü", null, true, { b: {} }], c: -1.5 };
  expect(toJson(value)).toEqual({ ok: true, value, bytes: Buffer.byteLength(JSON.stringify(value)) });
});

test("whatever JSON can say is taken and read back equal", () => {
  const property = fc.property(fc.jsonValue({ noUnicodeString: false, depthSize: "small" }), (value) => {
    const check = toJson(value);
    if (!check.ok) throw new Error(problemOf(check));
    expect(JSON.parse(JSON.stringify(check.value))).toEqual(JSON.parse(JSON.stringify(value)));
  });
  fc.assert(property, { numRuns: 300 });
});

test("undefined is null at the top and in lists, and absent in records", () => {
  expect(toJson(undefined)).toMatchObject({ ok: true, value: null });
  expect(toJson([1, undefined])).toMatchObject({ ok: true, value: [1, null] });
  const check = toJson({ a: undefined, b: 1 });
  expect(check.ok && Object.keys(check.value as object)).toEqual(["b"]);
});

const bad: readonly [string, unknown, string][] = [
  ["a function", { run: () => 1 }, "$.run: a function"],
  ["a symbol", [Symbol("x")], "$[0]: a symbol"],
  ["a bigint", { n: 1n }, "$.n: a bigint"],
  ["NaN", { deep: [{ n: Number.NaN }] }, "$.deep[0].n: the number NaN"],
  ["Infinity", [1, Number.POSITIVE_INFINITY], "$[1]: the number Infinity"],
  ["-Infinity", Number.NEGATIVE_INFINITY, "$: the number -Infinity"],
  ["a lone high surrogate", { text: "a\ud800b" }, "$.text: a string with a lone surrogate"],
  ["a lone low surrogate", ["\udc00"], "$[0]: a string with a lone surrogate"],
  ["a lone surrogate in a key", { in: { "\ud800": 1 } }, "$.in: a key with a lone surrogate"],
];

test.each(bad)("%s is refused with its place", (_name, value, problem) => {
  expect(problemOf(toJson(value))).toBe(problem);
});

test("a pair of surrogates is a character, not a problem", () => {
  expect(toJson("😀")).toMatchObject({ ok: true, bytes: 6 });
});

test("a cycle is refused where it closes, in records, lists and both", () => {
  const record: Record<string, unknown> = {};
  record.self = record;
  const list: unknown[] = [1];
  list.push({ back: list });
  expect(problemOf(toJson(record))).toBe("$.self: a cycle");
  expect(problemOf(toJson(list))).toBe("$[1].back: a cycle");
});

test("the same value in two places is no cycle", () => {
  const shared = { x: 1 };
  expect(toJson({ a: shared, b: [shared, shared] })).toMatchObject({ ok: true });
});

test("__proto__ is data and touches no prototype", () => {
  const check = toJson(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}'));
  if (!check.ok) throw new Error(problemOf(check));
  expect(JSON.stringify(check.value)).toBe('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}');
  expect(Object.getPrototypeOf(check.value)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test("a record without a prototype is taken", () => {
  const value: Record<string, unknown> = Object.create(null);
  value.a = 1;
  expect(toJson(value)).toMatchObject({ ok: true, value: { a: 1 } });
});

test("nesting is taken up to the limit and not one deeper", () => {
  const { maxDepth } = valueLimits;
  expect(toJson(nested(maxDepth))).toMatchObject({ ok: true });
  expect(problemOf(toJson(nested(maxDepth + 1)))).toContain(`nesting deeper than ${maxDepth}`);
});

test("very deep nesting is refused without a stack overflow", () => {
  expect(problemOf(toJson(nested(200_000)))).toContain("nesting deeper than");
});

test.each([-1, 0, 1])("a text of limit %i bytes is judged by its size as JSON", (difference) => {
  const { maxBytes } = valueLimits;
  const text = "x".repeat(maxBytes - 2 + difference); // two quotes
  const check = toJson(text);
  expect(check.ok).toBe(difference <= 0);
  if (!check.ok) expect(problemOf(check)).toBe(`$: ${maxBytes + 1} bytes of JSON, the limit is ${maxBytes}`);
});

test("size is counted in bytes, not in characters", () => {
  const limits = { maxBytes: 10, maxDepth: 4 };
  expect(toJson("üüüü", limits)).toMatchObject({ ok: true, bytes: 10 });
  expect(toJson("üüüüü", limits).ok).toBe(false);
});

test("toJSON is asked, and what it gives is judged like everything else", () => {
  expect(toJson({ at: new Date(0) })).toMatchObject({ ok: true, value: { at: "1970-01-01T00:00:00.000Z" } });
  expect(problemOf(toJson({ at: new Date(Number.NaN), x: { toJSON: () => () => 1 } }))).toBe("$.x: a function");
});

test("toJSON that gives itself is a cycle, one that gives ever more is too deep", () => {
  const self = { toJSON: (): unknown => self };
  const more = (): unknown => ({ toJSON: more });
  expect(problemOf(toJson({ self }))).toBe("$.self: a cycle");
  expect(problemOf(toJson(more()))).toContain("nesting deeper than");
});

test("toJSON or a getter that throws is a problem, not an exception", () => {
  const throwing = {
    get value(): number {
      throw new Error("gone");
    },
  };
  expect(problemOf(toJson(throwing))).toBe("$: reading the value threw: gone");
  const rude = {
    toJSON: (): unknown => {
      throw Object.create(null);
    },
  };
  expect(problemOf(toJson(rude))).toContain("a value that cannot be shown");
});

test("messageOf shows whatever was thrown", () => {
  expect(messageOf(new Error("boom"))).toBe("boom");
  expect(messageOf("text")).toBe("text");
  expect(messageOf(undefined)).toBe("undefined");
  expect(messageOf(Object.create(null))).toBe("a value that cannot be shown");
});
