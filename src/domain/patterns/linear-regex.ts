/**
 * Regular expressions whose cost is known beforehand. Rules are written by people, the text they look at by a model or
 * by whoever talks to it; with a backtracking engine a few kilobytes of text could stop a process.
 *
 * R1 A test takes steps at most proportional to states × characters, for every pattern and every text (N1).
 * R2 What is accepted answers as JavaScript's `RegExp` with flag u does. On purpose beyond it: punctuation may be
 *    escaped for nothing (`\-`, `\"`), and flags may stand in front (`(?i)`, `(?s)`, `(?is)`).
 * R3 What needs backtracking (back references, look-around) or is unknown is refused, by name and place.
 *
 * Flag i goes by JavaScript's rule without flag u: nothing outside ASCII equals an ASCII letter.
 */
import { buildMachine } from "./machine.ts";
import { parseRegex } from "./regex-parser.ts";
import { runMachine } from "./run-machine.ts";
import { findSpans, type Span } from "./spans.ts";

export type CompiledRegex =
  | {
      readonly ok: true;
      test(text: string): boolean;
      /** Everything that it matches, in order. */
      spans(text: string): readonly Span[];
    }
  | { readonly ok: false; readonly problem: string };

/** `test` finds the pattern anywhere in the text, unless `^` or `$` bind it. */
export function compileRegex(source: string, flags = ""): CompiledRegex {
  const pattern = parseRegex(source, flags);
  if (!pattern.ok) return pattern;
  const machine = buildMachine(pattern.value);
  return {
    ok: true,
    test: (text) => runMachine(machine, text).found,
    spans: (text) => findSpans(machine, text),
  };
}
