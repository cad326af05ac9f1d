/** What is said over the line: as many parts as fit into one notification. */
import type { Hint, Wish } from "../../ports/bus.ts";

/** NOTIFY takes less than 8,000 bytes. */
export const mostBytes = 7_500;

/** [origin, [scope, run, seq], …] as JSON. */
export function hintPayloads(hints: readonly Hint[], origin: string): readonly string[] {
  const parts = hints.map(({ scope, run, seq }) => JSON.stringify([scope, run, seq]));
  return packed(parts, [`[${JSON.stringify(origin)},`, "]"]);
}

/** { from, told: [frame, …] }: frames of several runs share a notification, one frame is never in two. */
export function piecePayloads(frames: readonly string[], origin: string): readonly string[] {
  return packed(frames, [`{"from":${JSON.stringify(origin)},"told":[`, "]}"]);
}

/** A wish with what distinguishes it from the same wish before: who hears a new token begins again. */
export interface Ask extends Wish {
  readonly token: string;
}

/** { from, asks: [[scope, run or null, token], …] } */
export function askPayloads(asks: readonly Ask[], origin: string): readonly string[] {
  const parts = asks.map(({ scope, run, token }) => JSON.stringify([scope, run ?? null, token]));
  return packed(parts, [`{"from":${JSON.stringify(origin)},"asks":[`, "]}"]);
}

/** "Who wants something?", from a process that can write. */
export function helloPayload(origin: string): string {
  return JSON.stringify({ from: origin, hello: true });
}

function packed(parts: readonly string[], [before, after]: readonly [string, string]): readonly string[] {
  const payloads: string[] = [];
  let open: string[] = [];
  let bytes = 0;
  for (const part of parts) {
    const size = Buffer.byteLength(part) + 1;
    if (bytes + size > mostBytes && open.length > 0) {
      payloads.push(`${before}${open.join(",")}${after}`);
      open = [];
      bytes = 0;
    }
    open.push(part);
    bytes += size;
  }
  return open.length === 0 ? payloads : [...payloads, `${before}${open.join(",")}${after}`];
}
