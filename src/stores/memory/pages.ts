/** Pages of a list that is kept by creation: found by halving, so that a page costs its length (H2). */

export interface Page {
  readonly order: "newest" | "oldest";
  readonly after?: number;
  readonly limit: number;
}

interface Numbered {
  readonly no: number;
}

export function pageOf<Row extends Numbered>(
  rows: readonly Row[],
  page: Page,
  fits: (row: Row) => boolean = () => true,
): readonly Row[] {
  const found: Row[] = [];
  const step = page.order === "oldest" ? 1 : -1;
  for (let index = firstOf(rows, page); found.length < page.limit; index += step) {
    const row = rows[index];
    if (!row) break;
    if (fits(row)) found.push(row);
  }
  return found;
}

function firstOf(rows: readonly Numbered[], { order, after }: Page): number {
  if (order === "oldest") return firstAbove(rows, after ?? 0);
  return after === undefined ? rows.length - 1 : firstAbove(rows, after - 1) - 1;
}

/** Index of the first row with a higher number. */
function firstAbove(rows: readonly Numbered[], no: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.no ?? 0) > no) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function insertInOrder<Row extends Numbered>(rows: Row[], row: Row): void {
  rows.splice(firstAbove(rows, row.no), 0, row);
}

export function remove<Row extends Numbered>(rows: Row[], row: Row): void {
  const index = firstAbove(rows, row.no - 1);
  if (rows[index] === row) rows.splice(index, 1);
}
