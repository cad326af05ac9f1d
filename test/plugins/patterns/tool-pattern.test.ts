import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "../../../src/domain/json.ts";
import { compareSpecificity, parseToolPattern, type ToolPattern } from "../../../src/plugins/shared/tool-pattern.ts";

function pattern(text: string): ToolPattern {
  const parsed = parseToolPattern(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.problem}`);
  return parsed.pattern;
}

function fits(text: string, tool: string, input: JsonValue = {}): boolean {
  return pattern(text).matches(tool, input);
}

test("a name fits the tool of that name only", () => {
  expect(fits("read_file", "read_file")).toBe(true);
  expect(fits("read_file", "read_file2")).toBe(false);
  expect(fits("read_file", "Read_File")).toBe(false);
  expect(fits("  read_file ", "read_file")).toBe(true);
});

test("a glob fits whole names", () => {
  expect(fits("mcp__github__*", "mcp__github__create_issue")).toBe(true);
  expect(fits("mcp__github__*", "mcp__slack__post")).toBe(false);
  expect(fits("*", "anything")).toBe(true);
  expect(fits("a?", "ab")).toBe(true);
});

test("a regular expression is found anywhere in the name unless it is bound", () => {
  expect(fits("/git(hub|lab)/", "mcp__github__x")).toBe(true);
  expect(fits("/^git(hub|lab)/", "mcp__github__x")).toBe(false);
  expect(fits("/GIT/i", "git")).toBe(true);
  expect(fits("/^[/a]+$/", "a")).toBe(true);
  expect(fits('/^a\\/?$/(x = "1")', "a", { x: 1 })).toBe(true);
});

test("a star in parentheses is any input, as no parentheses are", () => {
  for (const text of ["run", "run(*)", "run ( * )"]) {
    expect(pattern(text).isUnconditional, text).toBe(true);
    for (const input of [{}, null, 5, { a: 1, b: [2] }]) expect(fits(text, "run", input)).toBe(true);
  }
  for (const text of ["run(a*)", 'run(a = "1")', "run(**)"]) expect(pattern(text).isUnconditional, text).toBe(false);
});

test("only an exact name says which tool it is about", () => {
  expect(pattern("run(a*)").exactTool).toBe("run");
  expect(Object.hasOwn(pattern("run*"), "exactTool")).toBe(false);
  expect(Object.hasOwn(pattern("/^run$/"), "exactTool")).toBe(false);
});

test("the primary value is the only field's value, else the whole input as text", () => {
  expect(fits("run(npm *)", "run", { command: "npm install" })).toBe(true);
  expect(fits("run(npm *)", "run", { command: "git status" })).toBe(false);
  expect(fits("run(npm *)", "walk", { command: "npm install" })).toBe(false);
  expect(fits("run(7)", "run", { count: 7 })).toBe(true);
  expect(fits('run({"a":1,"b":2})', "run", { b: 2, a: 1 })).toBe(true);
  expect(fits("run(npm *)", "run", { command: "npm install", timeout: 5 })).toBe(false);
  expect(fits("run(plain*)", "run", "plain text")).toBe(true);
  expect(fits("run([1,2])", "run", [1, 2])).toBe(true);
  expect(fits("run({})", "run", {})).toBe(true);
});

test("primary text may hold parentheses, spaces and paths", () => {
  expect(fits("run(echo (a) *)", "run", { command: "echo (a) b" })).toBe(true);
  expect(fits("read(~/notes/*)", "read", { path: "~/notes/a" })).toBe(true);
  expect(fits("fetch(https://example.org/*)", "fetch", { url: "https://example.org/a" })).toBe(true);
  expect(fits('run(git commit -m "x*)', "run", { command: 'git commit -m "xy"' })).toBe(true);
});

test("fields must all hold", () => {
  const text = 'edit(file_path ~ "src/**/*.ts", mode = "write", body =~ "(?i)todo")';
  const input = { file_path: "src/a.ts", mode: "write", body: "// ToDo" };
  expect(fits(text, "edit", input)).toBe(true);
  for (const wrong of [{ file_path: "lib/a.ts" }, { mode: "read" }, { body: "" }]) {
    expect(fits(text, "edit", { ...input, ...wrong })).toBe(false);
  }
});

test.each([
  ['t(a ~ "x*")', { a: "xy" }, { a: "y" }],
  ['t(a="x*")', { a: "x*" }, { a: "xy" }],
  ['t(a =~ "^x\\d")', { a: "x1" }, { a: "xx" }],
  ['t(a !~ "x*")', { a: "y" }, { a: "xy" }],
  ['t(a != "x")', { a: "y" }, { a: "x" }],
  ['t(a !=~ "^x")', { a: "y" }, { a: "xy" }],
  ['t( a.b[*].c = "1" )', { a: { b: [{ c: 0 }, { c: 1 }] } }, { a: { b: [{ c: 0 }] } }],
  ['t([0] = "x")', ["x"], ["y", "x"]],
  ['t(* = "x")', { a: "x", b: "y" }, { a: ["x"] }],
  ['t(a = "say \\"x\\" \\\\ \\d")', { a: 'say "x" \\ \\d' }, { a: "say" }],
  ['t(a = "x, b) = (y")', { a: "x, b) = (y" }, { a: "x" }],
] as const)("%s fits %j and not %j", (text, good, bad) => {
  expect(fits(text, "t", good)).toBe(true);
  expect(fits(text, "t", bad)).toBe(false);
});

test("P2: neither padding nor the order of keys hides what a rule forbids", () => {
  const padding = "x".repeat(200_000);
  expect(fits('run(command ~ "*rm -rf*")', "run", { command: `${padding} rm -rf /` })).toBe(true);
  expect(fits("run(*rm -rf*)", "run", { padding, command: "rm -rf /" })).toBe(true);
  expect(fits('run({"a":1,"z":*)', "run", { z: padding, a: 1 })).toBe(true);
});

test("P3: a negated operator holds when the path is missing and when no value fits", () => {
  expect(fits('run(command !~ "git *")', "run", {})).toBe(true);
  expect(fits('run(command ~ "*")', "run", {})).toBe(false);
  expect(fits('run(args[*] !~ "-f*")', "run", { args: ["-v", "-f"] })).toBe(false);
});

const refused: readonly [unknown, string][] = [
  [undefined, "a tool pattern is a string, got undefined"],
  [{ tool: "x" }, "a tool pattern is a string, got object"],
  ["", "empty tool pattern at character 1"],
  ["  ", "empty tool pattern at character 3"],
  ["(*)", 'a tool\'s name cannot begin with "(" at character 1'],
  ["äb", 'a tool\'s name cannot begin with "ä" at character 1'],
  ["read.file", 'unexpected "." after the tool\'s name at character 5'],
  ["read file", 'unexpected "f" after the tool\'s name at character 6'],
  ["a[bc]*", 'unexpected "[" after the tool\'s name at character 2'],
  ["run()", 'empty "()" (any input is written "(*)") at character 4'],
  ["run( )", 'empty "()" (any input is written "(*)") at character 4'],
  ["run(npm *", 'unclosed "(" at character 4'],
  ["run(", 'unclosed "(" at character 4'],
  ["run(a) b", 'unexpected "b" after the pattern\'s end at character 8'],
  ["run(a)(b)", 'unexpected "(" after the pattern\'s end at character 7'],
  ["run(:))", 'unexpected ")" after the pattern\'s end at character 7'],
  ['run(a = "x)', "unclosed quote at character 9"],
  ['run(a = "x\\")', "unclosed quote at character 9"],
  ['run(a = "x"', 'unclosed "(" at character 4'],
  ['run(a = "x" b = "y")', 'expected "," or ")", got "b" at character 13'],
  ['run(a = "x",)', "a field name is missing at character 13"],
  ["run(a = x)", 'a value in "quotes" is missing (other text is named too: command ~ "a=b*") at character 9'],
  ['run(a == "x")', 'unknown operator "==" (known are ~ = =~ !~ != !=~) at character 7'],
  ['run(a ~= "x")', 'unknown operator "~=" (known are ~ = =~ !~ != !=~) at character 7'],
  ['run(a > "x")', 'unknown operator ">" (known are ~ = =~ !~ != !=~) at character 7'],
  ['run(a ! "x")', 'unknown operator "!" (known are ~ = =~ !~ != !=~) at character 7'],
  ['run(a: "x")', 'unknown operator ":" (known are ~ = =~ !~ != !=~) at character 6'],
  ['run(a b = "x")', "an operator is missing (known are ~ = =~ !~ != !=~) at character 7"],
  ['run(= "x")', "a field name is missing at character 5"],
  ['run(a. = "x")', "a field name is missing at character 7"],
  ['run(a[b] = "x")', '"[" needs a number or "*", and "]" at character 6'],
  ['run(a =~ "(x")', 'unclosed group "(" at character 1 of the regular expression at character 10'],
  [
    'run(a =~ "(x)\\1")',
    'back reference "\\1" (it needs backtracking, which is not supported) at character 4 of the regular expression at character 10',
  ],
  ["//", "empty regular expression at character 1"],
  ["/ab", 'unclosed regular expression (it ends with a "/" outside of [ ]) at character 1'],
  ["/[ab/", 'unclosed regular expression (it ends with a "/" outside of [ ]) at character 1'],
  [
    "/a(?!b)/",
    'look-ahead "(?!" (only (…) and (?:…) are supported) at character 2 of the regular expression at character 1',
  ],
  ["/a/g", 'unknown flag "g" (known are i and s) of the regular expression at character 1'],
];

test.each(refused)("P4: %j is refused, with what and where", (text, problem) => {
  expect(parseToolPattern(text)).toEqual({ ok: false, problem });
});

test("P4: a pattern or a name that is too long is refused", () => {
  const long = `run(${"a".repeat(2_000)})`;
  expect(parseToolPattern(long)).toEqual({ ok: false, problem: "2005 characters of tool pattern, the limit is 2000" });
  expect(parseToolPattern("a".repeat(65))).toMatchObject({ problem: expect.stringContaining("no tool can have this") });
});

test("P4: any heap of signs is either refused with its place or can be asked about any input", () => {
  const scraps = fc.constantFrom(...'ab*?/().[]~=!",\\ i0', ' = "', '")', "[*]", "(?:");
  const heaps = fc.array(scraps, { maxLength: 14 }).map((pieces) => pieces.join(""));
  const property = fc.property(heaps, fc.jsonValue({ maxDepth: 2 }), (text, input) => {
    const parsed = parseToolPattern(text);
    if (parsed.ok) expect(typeof parsed.pattern.matches("ab", input as JsonValue)).toBe("boolean");
    else expect(parsed.problem).toMatch(/at character \d+$/);
  });
  fc.assert(property, { numRuns: 5_000 });
});

/** Each is more specific than all before it. */
const ladder = [
  ["/run/", "/^run$/(*)"],
  ['/run/(a =~ "x")'],
  ['/run/(a ~ "x*")', "/run/(x*)"],
  ['/run/(a =~ "x", b =~ "y")'],
  ["*", "run*", "r?n(*)"],
  ["run*(x*)", 'run*(a !~ "x*")'],
  ["run", "run(*)", "walk"],
  ['run(a =~ "x")', 'run(a !=~ "x")'],
  ["run(x*)", 'run(a ~ "x*")'],
  ["run(x)", 'run(a ~ "x")', 'run(a = "x")'],
  ['run(a =~ "x", b =~ "y")'],
  ['run(a = "x", b =~ "y")', 'run(a ~ "x*", b ~ "y*")'],
];

test("specificity goes by kind of name, whether input is asked about, number of fields, precision", () => {
  const rungs = ladder.flatMap((texts, height) => texts.map((text) => ({ pattern: pattern(text), height })));
  for (const a of rungs) {
    for (const b of rungs) {
      const sign = Math.sign(compareSpecificity(a.pattern, b.pattern));
      expect(sign, `${a.pattern.text} and ${b.pattern.text}`).toBe(Math.sign(a.height - b.height));
    }
  }
});

test("P5: specificity is a total preorder", () => {
  const names = fc.constantFrom("run", "walk", "r*", "*", "/r/");
  const fields = fc.constantFrom('a = "x"', 'b ~ "x*"', 'c =~ "x"', 'd !~ "y"', '* != "z"');
  const args = fc.oneof(
    fc.constantFrom("", "(*)", "(x*)", "(x)"),
    fc.array(fields, { minLength: 1, maxLength: 4 }).map((list) => `(${list.join(", ")})`),
  );
  const patterns = fc.tuple(names, args).map(([name, rest]) => pattern(`${name}${rest}`));
  const property = fc.property(patterns, patterns, patterns, (a, b, c) => {
    const [ab, bc, ac] = [compareSpecificity(a, b), compareSpecificity(b, c), compareSpecificity(a, c)];
    expect(compareSpecificity(a, a)).toBe(0);
    expect(Math.sign(compareSpecificity(b, a))).toBe(0 - Math.sign(ab));
    if (ab <= 0 && bc <= 0) expect(ac).toBeLessThanOrEqual(0);
    if (ab === 0) expect(Math.sign(ac)).toBe(Math.sign(bc));
  });
  fc.assert(property, { numRuns: 2_000 });
});
