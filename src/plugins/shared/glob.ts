// Globs over a whole text: `*` is any run of characters (also none, also "/" and line ends), `?` is one character, all
// else is itself. A `**/` at the beginning or after "/" may also be nothing, so that `src/**/*.ts` fits `src/a.ts`, as
// people expect. There is no escape: for a literal star use an exact match or a regular expression.
// Costs what the machine under it costs: at most proportional to pattern × text (N1).
import { codeSet, complement } from "../../domain/patterns/code-set.ts";
import { buildMachine, type Part } from "../../domain/patterns/machine.ts";
import { runMachine } from "../../domain/patterns/run-machine.ts";

export interface Glob {
  /** Without wildcards: it fits one text only. */
  readonly isExact: boolean;
  test(text: string): boolean;
}

const anyChar: Part = { kind: "set", set: codeSet(complement([])) };
const anyRun: Part = { kind: "repeat", part: anyChar, least: 0, most: Number.POSITIVE_INFINITY };
const anyFolders: Part = {
  kind: "repeat",
  part: { kind: "sequence", parts: [anyRun, literal("/")] },
  least: 0,
  most: 1,
};

export function compileGlob(pattern: string): Glob {
  if (!/[*?]/.test(pattern)) return { isExact: true, test: (text) => text === pattern };
  const parts = [...pattern.matchAll(/(?<=^|\/)\*{2,}\/|\*+|./gsu)].map(([piece]) => partOf(piece));
  const machine = buildMachine({
    kind: "sequence",
    parts: [{ kind: "place", place: "start" }, ...parts, { kind: "place", place: "end" }],
  });
  return { isExact: false, test: (text) => runMachine(machine, text).found };
}

function partOf(piece: string): Part {
  if (piece === "?") return anyChar;
  if (!piece.startsWith("*")) return literal(piece);
  return piece.endsWith("/") ? anyFolders : anyRun;
}

function literal(char: string): Part {
  const code = char.codePointAt(0) as number;
  return { kind: "set", set: codeSet([[code, code]]) };
}
