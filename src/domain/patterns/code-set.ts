/** Sets of characters, as sorted ranges of code points. */

export type Ranges = readonly (readonly [first: number, last: number])[];

export interface CodeSet {
  has(code: number): boolean;
}

const lastCode = 0x10ffff;

export const digits: Ranges = [[0x30, 0x39]];
export const wordChars: Ranges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
export const spaces: Ranges = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
export const lineEnds: Ranges = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

export function codeSet(ranges: Ranges): CodeSet {
  const sorted = merge(ranges);
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => (within(sorted, code) ? 1 : 0));
  return { has: (code) => (code < 128 ? ascii[code] === 1 : within(sorted, code)) };
}

export function complement(ranges: Ranges): Ranges {
  const gaps: [number, number][] = [];
  let from = 0;
  for (const [first, last] of merge(ranges)) {
    if (first > from) gaps.push([from, first - 1]);
    from = last + 1;
  }
  if (from <= lastCode) gaps.push([from, lastCode]);
  return gaps;
}

/** The ranges and everything that differs from one of their characters by case only. */
export function withCaseVariants(ranges: Ranges): Ranges {
  const sorted = merge(ranges);
  const added = caseFamilies().filter((family) => family.some((code) => within(sorted, code)));
  return [...sorted, ...added.flat().map((code) => [code, code] as const)];
}

function merge(ranges: Ranges): Ranges {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

function within(sorted: Ranges, code: number): boolean {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = sorted[middle] ?? [0, 0];
    if (code < first) high = middle - 1;
    else if (code > last) low = middle + 1;
    else return true;
  }
  return false;
}

let families: readonly (readonly number[])[] | undefined;

/** Characters that JavaScript's flag i takes for one another, found once, when a pattern first asks. */
function caseFamilies(): readonly (readonly number[])[] {
  if (families) return families;
  const byUpper = new Map<number, Set<number>>();
  for (let code = 0; code <= 0x1ffff; code += 1) {
    const upper = upperOf(code);
    if (upper === code) continue;
    byUpper.set(upper, (byUpper.get(upper) ?? new Set([upper])).add(code));
  }
  families = [...byUpper.values()].map((codes) => [...codes]);
  return families;
}

/** As the language does it: one character for one, and nothing outside ASCII becomes ASCII. */
function upperOf(code: number): number {
  const text = String.fromCodePoint(code).toUpperCase();
  const upper = text.codePointAt(0) ?? code;
  const isOne = text.length === (upper > 0xffff ? 2 : 1);
  return isOne && (code < 128 || upper >= 128) ? upper : code;
}
