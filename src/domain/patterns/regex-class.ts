/** The characters of a regular expression that are written with a backslash or in brackets. */
import { complement, digits, type Ranges, spaces, wordChars } from "./code-set.ts";
import type { Reader } from "./reader.ts";

interface Escape {
  readonly ranges: Ranges;
  /** The one character it stands for; undefined for a set such as \d. */
  readonly code?: number;
}

const sets: Readonly<Record<string, Ranges>> = {
  d: digits,
  D: complement(digits),
  w: wordChars,
  W: complement(wordChars),
  s: spaces,
  S: complement(spaces),
};

const controls: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d };

/** What needs a way back, or a table of characters, by its first letter. */
const unsupported: Readonly<Record<string, string>> = {
  k: "back reference",
  p: "Unicode property",
  P: "Unicode property",
  c: "control character",
};

/** After the backslash. */
export function readEscape(reader: Reader, where: "outside" | "in-class"): Escape {
  const at = reader.at - 1;
  const char = reader.next();
  if (char === "") reader.refuse("a backslash with nothing after it", at);
  const set = Object.hasOwn(sets, char) ? sets[char] : undefined;
  if (set) return { ranges: set };
  return oneCode(codeOf(reader, { at, char, where }));
}

function oneCode(code: number): Escape {
  return { ranges: [[code, code]], code };
}

interface Escaped {
  readonly at: number;
  readonly char: string;
  readonly where: "outside" | "in-class";
}

function codeOf(reader: Reader, { at, char, where }: Escaped): number {
  const control = Object.hasOwn(controls, char) ? controls[char] : undefined;
  if (control !== undefined) return control;
  if (char === "b" && where === "in-class") return 0x08;
  if (char === "u") return readUnicode(reader, at);
  if (char === "x") return readHex(reader, /^[\da-f]{2}/i) ?? reader.refuse('"\\x" without two hexadecimal digits', at);
  if (char === "0" && !isDigit(reader.peek())) return 0;
  if (isDigit(char))
    return reader.refuse(`back reference "\\${char}" (it needs backtracking, which is not supported)`, at);
  const name = Object.hasOwn(unsupported, char) ? unsupported[char] : undefined;
  if (name) return reader.refuse(`${name} "\\${char}" is not supported`, at);
  // Only punctuation may be escaped for nothing: an unknown letter is more likely a construct of another dialect.
  if (!/^[!-/:-@[-`{-~ ]$/.test(char) || char === "_") return reader.refuse(`unknown escape "\\${char}"`, at);
  return char.charCodeAt(0);
}

/** \uXXXX, two of them that make one character, or \u{X…}. */
function readUnicode(reader: Reader, at: number): number {
  const code = reader.eat("{") ? readBraced(reader) : readHex(reader, fourDigits);
  if (code === undefined || code > 0x10ffff) reader.refuse('"\\u" without four hexadecimal digits or {…}', at);
  if (code < 0xd800 || code > 0xdbff || !reader.sees("\\u")) return code;
  const afterHigh = reader.at;
  reader.eat("\\u");
  const low = readHex(reader, fourDigits);
  if (low !== undefined && low >= 0xdc00 && low <= 0xdfff) return (code - 0xd800) * 0x400 + low - 0xdc00 + 0x10000;
  reader.at = afterHigh;
  return code;
}

const fourDigits = /^[\da-f]{4}/i;

function readBraced(reader: Reader): number | undefined {
  const code = readHex(reader, /^[\da-f]+/i);
  return reader.eat("}") ? code : undefined;
}

function readHex(reader: Reader, shape: RegExp): number | undefined {
  const found = shape.exec(reader.text.slice(reader.at, reader.at + 16))?.[0];
  if (found === undefined) return undefined;
  reader.at += found.length;
  return Number.parseInt(found, 16);
}

function isDigit(char: string): boolean {
  return char >= "0" && char <= "9";
}

export interface CharacterClass {
  readonly ranges: Ranges;
  readonly negated: boolean;
}

/** After the bracket that opened at `at`. */
export function readClass(reader: Reader, at: number): CharacterClass {
  const negated = reader.eat("^");
  const ranges: (readonly [number, number])[] = [];
  while (!reader.eat("]")) {
    if (reader.done) reader.refuse('unclosed class "["', at);
    ranges.push(...readMember(reader));
  }
  return { ranges, negated };
}

function readMember(reader: Reader): Ranges {
  const at = reader.at;
  const first = readCharacter(reader);
  const isRange = reader.sees("-") && !reader.sees("-]") && reader.at + 1 < reader.text.length;
  if (!isRange) return first.ranges;
  reader.eat("-");
  const last = readCharacter(reader);
  const shown = `"${reader.text.slice(at, reader.at)}"`;
  if (first.code === undefined || last.code === undefined) {
    return reader.refuse(`the range ${shown} ends in a set (a plain "-" is written "\\-")`, at);
  }
  if (first.code > last.code) reader.refuse(`the range ${shown} is out of order`, at);
  return [[first.code, last.code]];
}

function readCharacter(reader: Reader): Escape {
  const char = reader.next();
  return char === "\\" ? readEscape(reader, "in-class") : oneCode(char.codePointAt(0) as number);
}
