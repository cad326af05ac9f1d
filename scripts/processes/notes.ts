/** Logs that outlive the process which writes them: one JSON value per line, one write per line. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** Survives the death of the process. */
export function note(path: string, line: object): void {
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}

/** On disk before it returns: what is logged has happened, whoever dies next. */
export function noteDurably(path: string, line: object): void {
  appendFileSync(path, `${JSON.stringify(line)}\n`, { flush: true });
}

/** A last line that was cut by the death of its writer was never written. */
export function noted<Line>(path: string): readonly Line[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Line);
}
