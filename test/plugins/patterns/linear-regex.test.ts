import fc from "fast-check";
import { expect, test } from "vitest";
import { compileRegex } from "../../../src/domain/patterns/linear-regex.ts";
import { buildMachine, type Machine, sizeOf } from "../../../src/domain/patterns/machine.ts";
import { parseRegex } from "../../../src/domain/patterns/regex-parser.ts";
import { mostStepsPerCharacter, runMachine } from "../../../src/domain/patterns/run-machine.ts";
import { regexSources } from "./regex-sources.ts";

function finds(source: string, text: string, flags = ""): boolean {
  const regex = compileRegex(source, flags);
  if (!regex.ok) throw new Error(`${source}: ${regex.problem}`);
  return regex.test(text);
}

function machineOf(source: string, flags = ""): Machine {
  const parts = parseRegex(source, flags);
  if (!parts.ok) throw new Error(`${source}: ${parts.problem}`);
  return buildMachine(parts.value);
}

/**
 * JavaScript's own answer, asked at every character. Asked for the whole text, V8 also looks for `\B` between the halves
 * of a character, and its quick search has been seen to miss a match: `([^a])|.+?a^` with flags is, in "a.".
 */
function theirs(source: string, flags: string): ((text: string) => boolean) | undefined {
  let regex: RegExp;
  try {
    regex = new RegExp(source, `${flags}y`);
  } catch {
    return undefined;
  }
  return (text) => {
    for (let at = 0; at <= text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) {
      regex.lastIndex = at;
      if (regex.test(text)) return true;
    }
    return false;
  };
}

const texts = fc.string({ unit: fc.constantFrom(..."aabbcAB_1 -.\n\tsS", "é", "É", "😀"), maxLength: 9 });

test("R2: what is accepted answers as JavaScript does", () => {
  const property = fc.property(regexSources, texts, (source, text) => {
    expect(finds(source, text), `${source} on ${JSON.stringify(text)}`).toBe(theirs(source, "u")?.(text));
  });
  fc.assert(property, { numRuns: 3_000 });
});

test("R2: so it does with flags i and s", () => {
  const plain = texts.map((text) => text.replaceAll("😀", "")); // Without flag u, JavaScript halves it.
  const property = fc.property(regexSources, plain, (source, text) => {
    fc.pre(!source.includes("😀"));
    expect(finds(source, text, "i"), `${source} on ${JSON.stringify(text)}`).toBe(theirs(source, "i")?.(text));
    expect(finds(`(?is)${source}`, text), source).toBe(theirs(source, "is")?.(text));
  });
  fc.assert(property, { numRuns: 2_000 });
});

const scraps = fc.constantFrom(
  ..."ab()[]{}|*+?^$.\\,-01",
  ...["(?:", "[^", "{1,2}", "{0,", "\\d", "\\W", "\\b", "\\B", "\\n", "\\u0061", "\\x61", "\\/", "\\0", "a-b", "[a-"],
);

test("R2, R3: any heap of signs is refused when JavaScript refuses it, and answers alike when not", () => {
  const heaps = fc.array(scraps, { maxLength: 9 }).map((pieces) => pieces.join(""));
  const property = fc.property(heaps, texts, (source, text) => {
    const regex = compileRegex(source);
    const native = theirs(source, "u");
    if (regex.ok && native) expect(regex.test(text), `${source} on ${JSON.stringify(text)}`).toBe(native(text));
    else if (regex.ok)
      expect(source).toMatch(/\\[-,]/); // The escapes that are taken on purpose.
    else if (native) expect(`${source}: ${regex.problem}`).toMatch(/too large|back reference/);
  });
  fc.assert(property, { numRuns: 10_000 });
});

test("R2: letters that differ by case only are the ones JavaScript takes for one another", () => {
  const strange = [..."kKſsSıIiİσςΣµμΜǅǆǄßẞéÉяЯθϑΘᲀв"];
  for (const one of strange) {
    for (const other of strange) {
      expect(finds(`^[${one}]$`, other, "i"), `${one} and ${other}`).toBe(new RegExp(`^[${one}]$`, "i").test(other));
      expect(finds(`^[^${one}]$`, other, "i")).toBe(new RegExp(`^[^${one}]$`, "i").test(other));
    }
  }
});

test("a set of characters has exactly the members JavaScript gives it", () => {
  const everyCode = Array.from({ length: 0x3100 }, (_, code) => String.fromCharCode(code));
  for (const source of ["\\d", "\\D", "\\w", "\\W", "\\s", "\\S", ".", "[^\\W_]", "[\\s\\d]", "[^]", "[]"]) {
    const native = new RegExp(`^${source}$`, "u");
    const ours = compileRegex(`^${source}$`);
    const wrong = everyCode.filter((char) => !ours.ok || ours.test(char) !== native.test(char));
    expect(wrong, source).toEqual([]);
  }
});

const blowUps = [
  "(a+)+$",
  "(a*)*b",
  "(a|aa)+$",
  "(a|a|a|a|a|a|a|a)aaaaaaaaaaaaaaaab",
  "(a|a?)+b",
  "(.*)*x",
  "^(([a-z])+.)+[A-Z]",
  "(a{0,20}){0,20}b",
  "((a+)+)+$",
];

test.each(blowUps)("R1, N1: %s takes steps in proportion to the text", (source) => {
  const machine = machineOf(source);
  const stepsFor = (length: number): number => {
    const text = `${"a".repeat(length)}!`;
    const { found, steps } = runMachine(machine, text);
    expect(found).toBe(false);
    expect(steps).toBeLessThanOrEqual(mostStepsPerCharacter(machine) * (text.length + 1));
    return steps;
  };
  const unit = stepsFor(1_000) - stepsFor(900);
  expect(stepsFor(2_000) - stepsFor(1_900)).toBe(unit);
});

test("R1, N1: 100 kB that stop a backtracking engine are read in a fixed number of steps per character", () => {
  const machine = machineOf("(a+)+$");
  const { found, steps } = runMachine(machine, `${"a".repeat(100_000)}!`);
  expect(found).toBe(false);
  expect(steps).toBeLessThanOrEqual(12 * 100_002);
});

test("N1: no pattern and no text takes more steps than the machine allows", () => {
  const property = fc.property(regexSources, texts, (source, text) => {
    const machine = machineOf(source);
    const most = mostStepsPerCharacter(machine) * ([...text].length + 1);
    expect(runMachine(machine, text).steps).toBeLessThanOrEqual(most);
  });
  fc.assert(property, { numRuns: 1_000 });
});

test("N2: what stands at the end of a long text is found", () => {
  expect(finds("rm -rf$", `${"x".repeat(300_000)}rm -rf`)).toBe(true);
});

test("M1: a machine is never larger than was said before it was built", () => {
  const property = fc.property(regexSources, (source) => {
    const parts = parseRegex(source, "");
    if (!parts.ok) throw new Error(parts.problem);
    expect(buildMachine(parts.value).states).toBeLessThanOrEqual(sizeOf(parts.value) + 1);
  });
  fc.assert(property, { numRuns: 1_000 });
});

test("M2: nested loops add up, they do not multiply", () => {
  const nested = (depth: number): string => `${"(".repeat(depth)}a${")+".repeat(depth)}`;
  expect(machineOf(nested(50)).states).toBeLessThanOrEqual(52 + 50);
});

const refused: readonly [string, string][] = [
  ["a(?=b)", 'look-ahead "(?=" (only (…) and (?:…) are supported) at character 2'],
  ["(?!b)", 'look-ahead "(?!" (only (…) and (?:…) are supported) at character 1'],
  ["ab(?<=c)", 'look-behind "(?<=" (only (…) and (?:…) are supported) at character 3'],
  ["(?<!c)", 'look-behind "(?<!" (only (…) and (?:…) are supported) at character 1'],
  ["(?<year>a)", 'a named group "(?<" (only (…) and (?:…) are supported) at character 1'],
  ["a(?i:b)", 'a group with settings "(?" (only (…) and (?:…) are supported) at character 2'],
  ["(a)\\1", 'back reference "\\1" (it needs backtracking, which is not supported) at character 4'],
  ["(a)[\\1]", 'back reference "\\1" (it needs backtracking, which is not supported) at character 5'],
  ["\\k<a>", 'back reference "\\k" is not supported at character 1'],
  ["\\p{L}", 'Unicode property "\\p" is not supported at character 1'],
  ["\\cA", 'control character "\\c" is not supported at character 1'],
  ["a\\q", 'unknown escape "\\q" at character 2'],
  ["\\é", 'unknown escape "\\é" at character 1'],
  ["a\\", "a backslash with nothing after it at character 2"],
  ["\\xg1", '"\\x" without two hexadecimal digits at character 1'],
  ["\\u12", '"\\u" without four hexadecimal digits or {…} at character 1'],
  ["\\u{110000}", '"\\u" without four hexadecimal digits or {…} at character 1'],
  ["a(b", 'unclosed group "(" at character 2'],
  ["ab)", '")" without a "(" at character 3'],
  ["[ab", 'unclosed class "[" at character 1'],
  ["[z-a]", 'the range "z-a" is out of order at character 2'],
  ["[\\d-z]", 'the range "\\d-z" ends in a set (a plain "-" is written "\\-") at character 2'],
  ["*a", 'nothing to repeat with "*" at character 1'],
  ["a**", 'nothing to repeat with "*" at character 3'],
  ["^*", "nothing to repeat at character 2"],
  ["{", 'a lone "{" (as a character it is written "\\{") at character 1'],
  ["a{,2}", 'a lone "{" (as a character it is written "\\{") at character 2'],
  ["a]", 'a lone "]" (as a character it is written "\\]") at character 2'],
  ["a{3,2}", "a repetition from 3 to 2 counts down at character 2"],
  ["a{2001}", "too large (more than 2000 states; repeat less often) at character 2"],
  ["(a{1000}){1000}", "too large (more than 2000 states; repeat less often) at character 10"],
  ["(?:){99999999999}", "too large (more than 2000 states; repeat less often) at character 5"],
  ["a{1,1999999999}", "too large (more than 2000 states; repeat less often) at character 2"],
];

test.each(refused)("R3: %s is refused, by name and place", (source, problem) => {
  expect(compileRegex(source)).toEqual({ ok: false, problem });
});

test("R3: what is too long or too deep is refused", () => {
  expect(compileRegex("a".repeat(2_001))).toMatchObject({ problem: expect.stringContaining("2001 characters") });
  expect(compileRegex(`${"(".repeat(101)}${")".repeat(101)}`)).toMatchObject({
    problem: expect.stringContaining("deeper than 100"),
  });
});

test("R3: unknown flags are refused", () => {
  expect(compileRegex("a", "g")).toEqual({ ok: false, problem: 'unknown flag "g" (known are i and s)' });
});

test("characters may be written as escapes", () => {
  for (const source of ["\\u0061", "\\x61", "\\u{61}", "[\\u0061]"])
    expect(finds(`^${source}$`, "a"), source).toBe(true);
  expect(finds("^\\ud83d\\ude00$", "😀")).toBe(true);
  expect(finds('^\\"\\-\\/\\ \\#$', '"-/ #')).toBe(true);
  expect(finds("^[\\b\\0]$", "\b")).toBe(true);
});
