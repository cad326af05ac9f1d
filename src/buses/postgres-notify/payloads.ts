/** What is said over the line: ids and seqs, as many as fit into one notification. */
import type { RunId, Scope } from "../../domain/ids.ts";
import type { Hint } from "../../ports/bus.ts";

/** NOTIFY takes less than 8,000 bytes. */
const mostBytes = 7_500;

/** [origin, [scope, run, seq], …] as JSON, as many hints as fit. */
export function payloadsOf(hints: readonly Hint[], origin: string): readonly string[] {
  const payloads: string[] = [];
  let open: string[] = [JSON.stringify(origin)];
  let bytes = 0;
  for (const { scope, run, seq } of hints) {
    const part = JSON.stringify([scope, run, seq]);
    const size = Buffer.byteLength(part) + 1;
    if (bytes + size > mostBytes && open.length > 1) {
      payloads.push(`[${open.join(",")}]`);
      open = [JSON.stringify(origin)];
      bytes = 0;
    }
    open.push(part);
    bytes += size;
  }
  return [...payloads, `[${open.join(",")}]`];
}

/** What others wrote; nothing of what is not ours or not readable. */
export function hintsIn(payload: string, origin: string): readonly Hint[] {
  try {
    const [from, ...parts] = JSON.parse(payload) as readonly unknown[];
    if (from === origin) return [];
    return parts.flatMap((part) => {
      const [scope, run, seq] = part as readonly unknown[];
      const isHint = typeof scope === "string" && typeof run === "string" && typeof seq === "number";
      return isHint ? [{ scope: scope as Scope, run: run as RunId, seq }] : [];
    });
  } catch {
    return [];
  }
}
