/** Regular expression text → parts of a machine. As strict as JavaScript's flag u: what has no clear meaning is refused. */
import { codeSet, complement, lineEnds, type Ranges, withCaseVariants } from "./code-set.ts";
import { type Part, sizeOf } from "./machine.ts";
import { type Parsed, parsed, Reader } from "./reader.ts";
import { readClass, readEscape } from "./regex-class.ts";

const longestSource = 2_000;
const mostStates = 2_000;
const deepestGroup = 100;

export function parseRegex(source: string, flags: string): Parsed<Part> {
  const wrong = [...flags].find((flag) => !"is".includes(flag));
  if (wrong !== undefined) return { ok: false, problem: `unknown flag "${wrong}" (known are i and s)` };
  if (source.length > longestSource) {
    return { ok: false, problem: `${source.length} characters of regular expression, the limit is ${longestSource}` };
  }
  return parsed(() => {
    const reader = new Reader(source);
    const inFront = /^\(\?([is]+)\)/.exec(source);
    reader.at = inFront?.[0].length ?? 0;
    return new Parser(reader, flags + (inFront?.[1] ?? "")).whole();
  });
}

class Parser {
  readonly #reader: Reader;
  readonly #ignoreCase: boolean;
  /** `.` takes line ends too. */
  readonly #dotAll: boolean;
  #depth = 0;

  constructor(reader: Reader, flags: string) {
    this.#reader = reader;
    this.#ignoreCase = flags.includes("i");
    this.#dotAll = flags.includes("s");
  }

  whole(): Part {
    const part = this.#choices();
    if (!this.#reader.done) this.#reader.refuse('")" without a "("');
    this.#checkSize(part, 0);
    return part;
  }

  #choices(): Part {
    const choices = [this.#sequence()];
    while (this.#reader.eat("|")) choices.push(this.#sequence());
    return choices.length === 1 ? (choices[0] as Part) : { kind: "either", choices };
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (!this.#reader.done && !this.#reader.sees("|") && !this.#reader.sees(")")) parts.push(this.#term());
    return { kind: "sequence", parts };
  }

  #term(): Part {
    const place = this.#place();
    if (place) {
      if (this.#reader.done || !"*+?{".includes(this.#reader.peek())) return place;
      this.#reader.refuse("nothing to repeat");
    }
    return this.#repeated(this.#atom());
  }

  #place(): Part | undefined {
    if (this.#reader.eat("^")) return { kind: "place", place: "start" };
    if (this.#reader.eat("$")) return { kind: "place", place: "end" };
    if (this.#reader.eat("\\b")) return { kind: "place", place: "boundary" };
    if (this.#reader.eat("\\B")) return { kind: "place", place: "not-boundary" };
    return undefined;
  }

  #atom(): Part {
    const reader = this.#reader;
    const at = reader.at;
    const char = reader.next();
    switch (char) {
      case "(":
        return this.#group(at);
      case "[":
        return this.#class(at);
      case ".":
        return { kind: "set", set: codeSet(this.#dotAll ? complement([]) : complement(lineEnds)) };
      case "\\":
        return this.#set(readEscape(reader, "outside").ranges);
      case "*":
      case "+":
      case "?":
        return reader.refuse(`nothing to repeat with "${char}"`, at);
      case "{":
      case "}":
      case "]":
        return reader.refuse(`a lone "${char}" (as a character it is written "\\${char}")`, at);
      default: {
        const code = char.codePointAt(0) as number;
        return this.#set([[code, code]]);
      }
    }
  }

  #set(ranges: Ranges, negated = false): Part {
    const whole = this.#ignoreCase ? withCaseVariants(ranges) : ranges;
    return { kind: "set", set: codeSet(negated ? complement(whole) : whole) };
  }

  #class(at: number): Part {
    const { ranges, negated } = readClass(this.#reader, at);
    return this.#set(ranges, negated);
  }

  #group(at: number): Part {
    this.#checkGroupKind(at);
    this.#depth += 1;
    if (this.#depth > deepestGroup) this.#reader.refuse(`groups nested deeper than ${deepestGroup}`, at);
    const inner = this.#choices();
    if (!this.#reader.eat(")")) this.#reader.refuse('unclosed group "("', at);
    this.#depth -= 1;
    return inner;
  }

  #checkGroupKind(at: number): void {
    const reader = this.#reader;
    if (reader.eat("?:") || !reader.sees("?")) return;
    const [start, name] = groupKinds.find(([each]) => reader.sees(each)) ?? ["?", "a group with settings"];
    reader.refuse(`${name} "(${start}" (only (…) and (?:…) are supported)`, at);
  }

  #repeated(part: Part): Part {
    const at = this.#reader.at;
    const range = this.#range();
    if (!range) return part;
    this.#reader.eat("?"); // Lazy or not finds the same texts.
    const [least, most] = range;
    if (least > most) this.#reader.refuse(`a repetition from ${least} to ${most} counts down`, at);
    const repeat: Part = { kind: "repeat", part, least, most };
    this.#checkSize(repeat, at);
    return repeat;
  }

  #range(): readonly [number, number] | undefined {
    const reader = this.#reader;
    if (reader.eat("*")) return [0, Number.POSITIVE_INFINITY];
    if (reader.eat("+")) return [1, Number.POSITIVE_INFINITY];
    if (reader.eat("?")) return [0, 1];
    const counted = /^\{(\d+)(?:(,)(\d*))?\}/.exec(reader.text.slice(reader.at));
    if (!counted) return undefined;
    const [all, least, comma, most] = counted;
    reader.at += all.length;
    if (!comma) return [Number(least), Number(least)];
    return [Number(least), most ? Number(most) : Number.POSITIVE_INFINITY];
  }

  #checkSize(part: Part, at: number): void {
    if (sizeOf(part) > mostStates) {
      this.#reader.refuse(`too large (more than ${mostStates} states; repeat less often)`, at);
    }
  }
}

const groupKinds: readonly (readonly [string, string])[] = [
  ["?=", "look-ahead"],
  ["?!", "look-ahead"],
  ["?<=", "look-behind"],
  ["?<!", "look-behind"],
  ["?<", "a named group"],
];
