/** Stored commits carry the format they were written in; one small function per step brings them up to date. */
import type { EntryBody } from "./entry.ts";
import { HoldfastError } from "./errors.ts";

export const entryFormat = 1;

type Upcaster = (entries: readonly unknown[]) => readonly unknown[];

/** `upcasters[n]` turns format n into n + 1. */
const upcasters: Readonly<Record<number, Upcaster>> = {};

export interface StoredCommit {
  readonly format: number;
  readonly body: string;
}

export function readCommit(stored: StoredCommit): readonly EntryBody[] {
  return upcast(parse(stored.body), stored.format, upcasters) as readonly EntryBody[];
}

export function upcast(
  entries: readonly unknown[],
  from: number,
  steps: Readonly<Record<number, Upcaster>>,
): readonly unknown[] {
  const target = Math.max(entryFormat, ...Object.keys(steps).map((step) => Number(step) + 1));
  if (!Number.isInteger(from)) throw new HoldfastError("entry-unreadable", `${from} is no entry format`);
  if (from > target) {
    throw new HoldfastError("entry-unreadable", `An entry has format ${from}; this version reads up to ${target}`);
  }
  let current = entries;
  for (let format = from; format < target; format += 1) {
    const step = steps[format];
    if (!step) throw new HoldfastError("entry-unreadable", `No upcaster from entry format ${format}`);
    current = step(current);
  }
  return current;
}

function parse(body: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(body);
    if (Array.isArray(parsed)) return parsed;
  } catch (cause) {
    throw new HoldfastError("entry-unreadable", "A stored commit is not JSON", { cause });
  }
  throw new HoldfastError("entry-unreadable", "A stored commit is not a list of entries");
}
