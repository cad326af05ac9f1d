/** How far a call is, as the server says it: told to watchers, at most ten times a second. */
import type { Progress } from "@modelcontextprotocol/client";
import type { JsonValue } from "../../domain/json.ts";

const leastMs = 100;

export function createProgress(
  report: (progress: JsonValue) => void,
  clean: (text: string) => string,
): (progress: Progress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    const now = performance.now();
    const isEnd = total !== undefined && progress >= total;
    if (now - last < leastMs && !isEnd) return;
    last = now;
    report({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message: clean(message.slice(0, 1_000).toWellFormed()) }),
    });
  };
}
