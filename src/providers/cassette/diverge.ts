/** Where a request first differs from what was recorded, in words. */
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { RecordedRequest } from "./request.ts";
import type { RecordedCall } from "./tape.ts";

export interface Divergence {
  readonly path: string;
  readonly recorded: JsonValue | undefined;
  readonly now: JsonValue | undefined;
  /** Values that were equal before it. */
  readonly equal: number;
}

export interface Nearest extends Divergence {
  readonly call: RecordedCall;
}

/** The recorded call that goes along with the request for longest; of equals the one of the same agent and step. */
export function nearestOf(
  request: RecordedRequest,
  calls: readonly RecordedCall[],
  place: Pick<RecordedCall, "agent" | "step">,
): Nearest | undefined {
  const isHere = ({ agent, step }: RecordedCall): number => Number(agent === place.agent && step === place.step);
  let nearest: Nearest | undefined;
  for (const call of calls) {
    const found = firstDivergence(call.request, request);
    if (!found) continue;
    const isNearer =
      !nearest || found.equal > nearest.equal || (found.equal === nearest.equal && isHere(call) > isHere(nearest.call));
    if (isNearer) nearest = { ...found, call };
  }
  return nearest;
}

const order = [
  "model",
  "instructions",
  "tools",
  "output",
  "temperature",
  "topP",
  "reasoningEffort",
  "settings",
  "maxOutputTokens",
  "messages",
  "continues",
] as const satisfies readonly (keyof RecordedRequest)[];

export function firstDivergence(recorded: RecordedRequest, now: RecordedRequest): Divergence | undefined {
  const walk: Walk = { equal: 0 };
  for (const name of order) {
    const found = compare(recorded[name] as JsonValue, now[name] as JsonValue, { path: name, walk });
    if (found) return found;
  }
  return undefined;
}

interface Walk {
  equal: number;
}

interface Place {
  readonly path: string;
  readonly walk: Walk;
}

function compare(recorded: JsonValue | undefined, now: JsonValue | undefined, place: Place): Divergence | undefined {
  const { path, walk } = place;
  if (Array.isArray(recorded) && Array.isArray(now)) {
    for (let index = 0; index < Math.max(recorded.length, now.length); index += 1) {
      const found = compare(recorded[index], now[index], { path: `${path}[${index}]`, walk });
      if (found) return found;
    }
    return undefined;
  }
  if (isRecord(recorded) && isRecord(now)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const found = compare(recorded[name], now[name], { path: `${path}.${name}`, walk });
      if (found) return found;
    }
    return undefined;
  }
  if (recorded !== now) return { path, recorded, now, equal: walk.equal };
  walk.equal += 1;
  return undefined;
}

function isRecord(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const shownLength = 120;

/** Both values; long ones from shortly before the place where they part. */
export function showBoth({ recorded, now }: Divergence): string {
  const isText = typeof recorded === "string" && typeof now === "string";
  const from = isText ? Math.max(0, partingOf(recorded, now) - 40) : 0;
  return `recorded ${show(recorded, from)}, now ${show(now, from)}`;
}

function partingOf(a: string, b: string): number {
  let index = 0;
  while (index < a.length && a[index] === b[index]) index += 1;
  return index;
}

function show(value: JsonValue | undefined, from: number): string {
  if (value === undefined) return "nothing";
  if (typeof value !== "string") return cut(JSON.stringify(value), 0);
  return JSON.stringify(cut(value, from));
}

function cut(text: string, from: number): string {
  const to = from + shownLength;
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`.toWellFormed();
}
