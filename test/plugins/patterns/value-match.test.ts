import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "../../../src/domain/json.ts";
import { compileValueMatch, textOf } from "../../../src/plugins/shared/value-match.ts";

function holds(field: { path: string; op: string; value: string }, input: JsonValue): boolean {
  const match = compileValueMatch(field);
  if (!match.ok) throw new Error(match.problem);
  return match.value.matches(input);
}

const order = {
  city: "Oslo",
  "@type": "order",
  lines: [{ item: { name: "tea", count: 2 } }, { item: { name: "salt", count: 1 } }],
  paid: true,
  note: null,
};

const leads: readonly [path: string, value: string][] = [
  ["city", "Oslo"],
  ["@type", "order"],
  ["lines[0].item.name", "tea"],
  ["lines[1].item.name", "salt"],
  ["lines[*].item.name", "salt"],
  ["lines[*].item.count", "2"],
  ["lines[0].item", '{"count":2,"name":"tea"}'],
  ["lines[0].*.name", "tea"],
  ["lines[*].*.*", "salt"],
  ["*", "true"],
  ["paid", "true"],
  ["note", "null"],
];

test.each(leads)("%s leads to %s", (path, value) => {
  expect(holds({ path, op: "=", value }, order)).toBe(true);
  expect(holds({ path, op: "!=", value }, order)).toBe(false);
});

test.each([
  "town",
  "city.name",
  "lines[2].item",
  "lines.0",
  "city[0]",
  "[0]",
  "[*]",
  "lines.*",
  "constructor",
  "note.x",
])("V1, V2: %s leads nowhere, so positive operators fail and negated ones hold", (path) => {
  for (const op of ["=", "~", "=~"]) {
    const value = op === "~" ? "*" : op === "=~" ? "" : "Oslo";
    expect(holds({ path, op, value }, order), op).toBe(false);
    expect(holds({ path, op: `!${op}`, value }, order), `!${op}`).toBe(true);
  }
});

test("a path may begin with an item of a list", () => {
  expect(holds({ path: "[1].a", op: "=", value: "2" }, [{ a: 1 }, { a: 2 }])).toBe(true);
  expect(holds({ path: "[*]", op: "=~", value: "^b" }, ["ab", "b"])).toBe(true);
});

test("V1, V2: with a wildcard a positive operator needs one value that fits, a negated one that none fits", () => {
  const field = { path: "files[*]", value: "/etc/*" };
  const mixed = { files: ["/home/a", "/etc/passwd"] };
  expect(holds({ ...field, op: "~" }, mixed)).toBe(true);
  expect(holds({ ...field, op: "!~" }, mixed)).toBe(false);
  expect(holds({ ...field, op: "!~" }, { files: ["/home/a"] })).toBe(true);
  expect(holds({ ...field, op: "!~" }, { files: [] })).toBe(true);
});

test("V2: a negated operator is never of its positive twin's opinion", () => {
  const paths = fc.constantFrom("a", "a.b", "*", "[*]", "[0]", "a[*].b", "*.*");
  const ops = fc.constantFrom(...["=", "~", "=~"]);
  const values = fc.constantFrom("", "1", "x*", "null", "[a-z]", "\\{*");
  const keys = fc.constantFrom("a", "b");
  const inputs = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, 1, true, "x", "xy", ""),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(keys, tie("value"), { maxKeys: 2 }),
    ),
  })).value;
  const property = fc.property(fc.record({ path: paths, op: ops, value: values }), inputs, (field, input) => {
    expect(holds({ ...field, op: `!${field.op}` }, input)).toBe(!holds(field, input));
  });
  fc.assert(property, { numRuns: 2_000 });
});

test("V3: a value is looked at whole", () => {
  const command = `${"x".repeat(200_000)}; rm -rf /`;
  expect(holds({ path: "command", op: "~", value: "*rm -rf*" }, { command })).toBe(true);
  expect(holds({ path: "command", op: "=~", value: "rm\\s+-rf" }, { command })).toBe(true);
  expect(holds({ path: "command", op: "!=~", value: "rm\\s+-rf" }, { command })).toBe(false);
});

test("the text of a value is its JSON with sorted keys; a string is itself", () => {
  expect(textOf({ b: [1, { z: "ü", y: null }], a: 'say "x"' })).toBe('{"a":"say \\"x\\"","b":[1,{"y":null,"z":"ü"}]}');
  expect(textOf("plain")).toBe("plain");
  expect(JSON.parse(textOf({ a: 1.5, b: false }))).toEqual({ a: 1.5, b: false });
});

test("a key named __proto__ is a key", () => {
  const input = JSON.parse('{"__proto__":{"admin":"yes"}}') as JsonValue;
  expect(holds({ path: "__proto__.admin", op: "=", value: "yes" }, input)).toBe(true);
  expect(holds({ path: "__proto__.admin", op: "=", value: "yes" }, {})).toBe(false);
});

test("precision is 3 for one text, 2 for a glob, 1 for a regular expression", () => {
  const precisionOf = (op: string, value: string): number | undefined => {
    const match = compileValueMatch({ path: "a", op, value });
    return match.ok ? match.value.precision : undefined;
  };
  expect([precisionOf("=", "x*"), precisionOf("!=", "x"), precisionOf("~", "x")]).toEqual([3, 3, 3]);
  expect([precisionOf("~", "x*"), precisionOf("!~", "?"), precisionOf("=~", "x"), precisionOf("!=~", "x")]).toEqual([
    2, 2, 1, 1,
  ]);
});

const refused: readonly [unknown, string][] = [
  ["a = b", "must be { path, op, value }"],
  [null, "must be { path, op, value }"],
  [{ path: "a", op: "=", value: "b", not: true }, "not: unknown; known are path, op, value"],
  [{ op: "=", value: "b" }, "path: must be a string such as a.b or items[*].name"],
  [{ path: "a", op: "==", value: "b" }, "op: must be one of ~ = =~ !~ != !=~"],
  [{ path: "a", value: "b" }, "op: must be one of ~ = =~ !~ != !=~"],
  [{ path: "a", op: "=", value: 5 }, "value: must be a string"],
  [{ path: "", op: "=", value: "" }, "path: a field name is missing at character 1"],
  [{ path: "a..b", op: "=", value: "" }, "path: a field name is missing at character 3"],
  [{ path: "a[x]", op: "=", value: "" }, 'path: "[" needs a number or "*", and "]" at character 2'],
  [{ path: "a[0", op: "=", value: "" }, 'path: "[" needs a number or "*", and "]" at character 2'],
  [{ path: "a b", op: "=", value: "" }, 'path: unexpected " " in a path at character 2'],
  [{ path: "a*", op: "=", value: "" }, 'path: unexpected "*" in a path at character 2'],
  [{ path: "a", op: "=~", value: "(b" }, 'value: unclosed group "(" at character 1'],
];

test.each(refused)("%j is refused", (field, problem) => {
  expect(compileValueMatch(field)).toEqual({ ok: false, problem });
});
