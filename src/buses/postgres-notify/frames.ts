/** A frame: what one notification says of one run's pieces. A piece that is too long is cut, the rest goes with the next. */
import type { CallId, RunId, Scope, ThreadId } from "../../domain/ids.ts";
import type { JsonValue } from "../../domain/json.ts";
import { mostBytes } from "./payloads.ts";

export type Item = TextItem | OtherItem;

interface ItemStamp {
  readonly step: number;
  readonly attempt: number;
}

/** `at`: where the text begins in the whole text of its kind. */
export type TextItem = ItemStamp & { readonly at: number; readonly text: string } & (
    | { readonly kind: "text" | "reasoning" }
    | { readonly kind: "input"; readonly index: number; readonly tool: string }
  );

export type OtherItem = ItemStamp &
  ({ readonly kind: "retracted" } | { readonly kind: "progress"; readonly call: CallId; readonly progress: JsonValue });

export interface Frame {
  /** [scope, run, thread, [part, …]] as JSON. */
  readonly text: string;
  readonly rest: readonly Item[];
}

interface Subject {
  readonly scope: Scope;
  readonly run: RunId;
  readonly thread: ThreadId;
}

/** A cut that gives less than this is not worth its stamp. */
const leastCut = 32;

export function isText(item: Item): item is TextItem {
  return "text" in item;
}

export function frameOf({ scope, run, thread }: Subject, items: readonly Item[]): Frame {
  const head = JSON.stringify([scope, run, thread]).slice(0, -1);
  const { parts, rest } = cut(items, mostBytes - bytesOf(head) - 8);
  return { text: `${head},[${parts.join(",")}]]`, rest };
}

function cut(
  items: readonly Item[],
  room: number,
): { readonly parts: readonly string[]; readonly rest: readonly Item[] } {
  const parts: string[] = [];
  let left = room;
  for (const [n, item] of items.entries()) {
    const fitting = isText(item) ? fittingText(item, left) : { part: partOf(item), later: undefined };
    const size = fitting ? bytesOf(fitting.part) + 1 : Number.POSITIVE_INFINITY;
    if (fitting && size <= left) {
      parts.push(fitting.part);
      left -= size;
      if (fitting.later) return { parts, rest: [fitting.later, ...items.slice(n + 1)] };
    } else if (parts.length > 0) return { parts, rest: items.slice(n) };
    // else it fits into no notification at all: it is left out, so that it does not hold up the rest
  }
  return { parts, rest: [] };
}

/** As much of its text as fits, and the item that is left of it. */
function fittingText(
  item: TextItem,
  room: number,
): { readonly part: string; readonly later: Item | undefined } | undefined {
  const { text, at } = item;
  const least = Math.min(text.length, leastCut);
  let length = Math.min(text.length, room);
  while (length >= least) {
    if (length < text.length && isHighSurrogate(text, length - 1)) length -= 1; // a pair stays together
    const part = partOf({ ...item, text: text.slice(0, length) });
    const size = bytesOf(part) + 1;
    const later = length < text.length ? { ...item, at: at + length, text: text.slice(length) } : undefined;
    if (size <= room) return { part, later };
    length = Math.min(length - 1, Math.floor((length * room) / size));
  }
  return undefined;
}

function isHighSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xd800 && code < 0xdc00;
}

function partOf(item: Item): string {
  const { kind, step, attempt } = item;
  switch (kind) {
    case "text":
    case "reasoning":
      return JSON.stringify([kind, step, attempt, item.at, item.text]);
    case "input":
      return JSON.stringify([kind, step, attempt, item.at, item.text, item.index, item.tool]);
    case "retracted":
      return JSON.stringify([kind, step, attempt]);
    case "progress":
      return JSON.stringify([kind, step, attempt, item.call, item.progress]);
    default:
      return item satisfies never;
  }
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
