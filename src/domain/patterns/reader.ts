/** A place in a text that is being parsed. What does not fit is refused with its place, counted from 1. */

export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

class Refusal extends Error {}

/** The door out of a parser: a refusal inside becomes a problem, anything else stays a defect and is thrown. */
export function parsed<Value>(parse: () => Value): Parsed<Value> {
  try {
    return { ok: true, value: parse() };
  } catch (cause) {
    if (cause instanceof Refusal) return { ok: false, problem: cause.message };
    throw cause;
  }
}

export class Reader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  /** The character here (a whole code point), or "" at the end. */
  peek(): string {
    const code = this.text.codePointAt(this.at);
    return code === undefined ? "" : String.fromCodePoint(code);
  }

  next(): string {
    const char = this.peek();
    this.at += char.length;
    return char;
  }

  sees(expected: string): boolean {
    return this.text.startsWith(expected, this.at);
  }

  eat(expected: string): boolean {
    const found = this.sees(expected);
    if (found) this.at += expected.length;
    return found;
  }

  takeWhile(fits: (char: string) => boolean): string {
    const from = this.at;
    while (!this.done && fits(this.peek())) this.next();
    return this.text.slice(from, this.at);
  }

  skipSpace(): void {
    this.takeWhile((char) => " \t\r\n".includes(char));
  }

  refuse(problem: string, at: number = this.at): never {
    throw new Refusal(`${problem} at character ${at + 1}`);
  }
}
