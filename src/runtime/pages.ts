/** Pages of a list: an opaque cursor that is bound to the scope, the list and its filter. */
import { readCursor, streamTag, writeCursor } from "../domain/cursor.ts";
import type { JsonValue } from "../domain/json.ts";
import { Problems } from "../domain/problems.ts";
import type { Desk } from "./desk.ts";

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins; absent when this was the last. */
  readonly next?: string;
}

export interface PageOptions {
  /** `next` of the page before. Refused when the filter has changed. */
  readonly cursor?: string | undefined;
  readonly limit?: number;
  readonly order?: "newest" | "oldest";
}

const defaultLimit = 50;
const maxLimit = 1_000;

export interface PageRequest {
  readonly after?: number;
  readonly limit: number;
  readonly order: "newest" | "oldest";
}

/** What is wrong with the options of a list; the caller adds what is its own, and refuses. */
export function pageProblems(options: unknown, own: readonly string[]): Problems {
  const problems = new Problems(options, ["cursor", "limit", "order", ...own]);
  problems.integer("limit", 1, maxLimit);
  problems.oneOf("order", ["newest", "oldest"]);
  return problems;
}

/** Reads one page with `read`, which is asked for one row more than the page holds. */
export async function readPage<Row>(
  list: {
    readonly name: string;
    readonly filter: JsonValue;
    readonly options: PageOptions;
    readonly place: (row: Row) => number;
  },
  desk: Desk,
  read: (request: PageRequest) => Promise<readonly Row[]>,
): Promise<Page<Row>> {
  const { limit = defaultLimit, order = "newest", cursor } = list.options;
  const tag = streamTag(desk.hash.sha256, [desk.scope, list.name, desk.hash.canonical([list.filter, order])]);
  const after = cursor === undefined ? {} : { after: readCursor(cursor, tag).position };
  const rows = await read({ ...after, limit: limit + 1, order });
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  if (rows.length <= limit || last === undefined) return { items };
  return { items, next: writeCursor({ position: list.place(last), seq: 0 }, tag) };
}
