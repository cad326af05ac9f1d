/** The part of a tool pattern in parentheses: what a call's input must look like. */
import type { JsonValue } from "../../domain/json.ts";
import type { Reader } from "../../domain/patterns/reader.ts";
import { globTest, matchAt, textOf, type ValueMatch, type ValueOp, valueOps } from "./value-match.ts";
import { readPath } from "./value-path.ts";

/** All must hold; none means any input. */
export type ToolArgs = readonly ValueMatch[];

/** Longest first, so that `=` does not hide `=~`. */
const opsByLength = valueOps.toSorted((a, b) => b.length - a.length);

/** From "(" to its ")". */
export function readArgs(reader: Reader): ToolArgs {
  const open = reader.at;
  if (!reader.eat("(")) reader.refuse(`unexpected "${reader.peek()}" after the tool's name`);
  reader.skipSpace();
  if (reader.sees(")")) reader.refuse('empty "()" (any input is written "(*)")', open);
  const args = isAboutFields(reader.text.slice(reader.at)) ? readFields(reader) : readPrimary(reader, open);
  reader.skipSpace();
  if (reader.done) reader.refuse('unclosed "("', open);
  if (!reader.eat(")")) reader.refuse(`expected "," or ")", got "${reader.peek()}"`);
  return args;
}

/**
 * Fields begin with a path and an operator. A quote after something like an operator counts too: what was meant as a
 * field and is mistyped must be refused, not taken for a text that no input ever equals.
 */
function isAboutFields(text: string): boolean {
  return /^[^\s(),"'~=!<>:]+\s*(?:~|=|!~|!=)|^[^\s(),"'~=!<>:]*\s*[~=!<>:]+\s*"|[~=]\s*"/.test(text);
}

function readFields(reader: Reader): ToolArgs {
  const fields = [readFieldMatch(reader)];
  for (reader.skipSpace(); reader.eat(","); reader.skipSpace()) fields.push(readFieldMatch(reader));
  return fields;
}

function readFieldMatch(reader: Reader): ValueMatch {
  reader.skipSpace();
  const path = readPath(reader);
  reader.skipSpace();
  const op = readOp(reader);
  reader.skipSpace();
  const at = reader.at;
  const match = matchAt(path, op, readQuoted(reader));
  return match.ok ? match.value : reader.refuse(`${match.problem} of the regular expression`, at);
}

function readOp(reader: Reader): ValueOp {
  const at = reader.at;
  const written = reader.takeWhile((char) => "~=!<>:".includes(char));
  const op = opsByLength.find((each) => each === written);
  if (op) return op;
  const problem = written === "" ? "an operator is missing" : `unknown operator "${written}"`;
  return reader.refuse(`${problem} (known are ${valueOps.join(" ")})`, at);
}

/** `\"` is a quote and `\\` a backslash; every other backslash stays, so regular expressions read as usual. */
function readQuoted(reader: Reader): string {
  const open = reader.at;
  if (!reader.eat('"')) reader.refuse('a value in "quotes" is missing (other text is named too: command ~ "a=b*")');
  let value = "";
  for (;;) {
    if (reader.done) reader.refuse("unclosed quote", open);
    const char = reader.next();
    if (char === '"') return value;
    const isEscape = char === "\\" && (reader.sees('"') || reader.sees("\\"));
    value += isEscape ? reader.next() : char;
  }
}

/** A glob over the primary value; parentheses in it must be balanced. */
function readPrimary(reader: Reader, open: number): ToolArgs {
  let depth = 0;
  const text = reader
    .takeWhile((char) => {
      if (char === "(") depth += 1;
      if (char === ")") depth -= 1;
      return depth >= 0;
    })
    .trim();
  if (reader.done) reader.refuse('unclosed "("', open);
  if (text === "*") return [];
  const { precision, test } = globTest(text);
  return [{ precision, matches: (input) => test(primaryOf(input)) }];
}

/** The only field's value, else the whole input. */
function primaryOf(input: JsonValue): string {
  const isRecord = typeof input === "object" && input !== null && !Array.isArray(input);
  const values: readonly JsonValue[] = isRecord ? Object.values(input) : [];
  return textOf(values.length === 1 ? (values[0] as JsonValue) : input);
}
