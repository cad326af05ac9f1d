/** XA-11: a range of thread positions, 1-based, both ends included, never empty. */

export interface MessageRange {
  readonly from: number;
  readonly to: number;
}

/** What is not a range is no range, not an error (C-036). */
export function messageRange(from: number, to: number): MessageRange | undefined {
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 1 && from <= to ? { from, to } : undefined;
}

export function rangeLength(range: MessageRange): number {
  return range.to - range.from + 1;
}

/** The smallest range that holds both: what lies between is inside (C-033). */
export function hull(range: MessageRange | undefined, position: number): MessageRange | undefined {
  if (!range) return messageRange(position, position);
  return messageRange(Math.min(range.from, position), Math.max(range.to, position));
}
