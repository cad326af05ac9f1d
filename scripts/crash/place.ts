/** Where one campaign happens: a folder with everybody's logs, and a store that all its processes open. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StoreDefinition } from "holdfast";
import { postgres } from "holdfast/postgres";
import { sqlite } from "holdfast/sqlite";

export interface Place {
  readonly store: "sqlite" | { readonly url: string; readonly schema: string };
  readonly toolsUrl: string;
  /** Runs that one worker has in hand at once. */
  readonly concurrency: number;
}

/** Short, so that what a dead worker held is free soon. */
export const leaseMs = 2_000;

export function describePlace(folder: string, place: Place): void {
  writeFileSync(join(folder, "place.json"), JSON.stringify(place));
}

export function placeOf(folder: string): Place {
  return JSON.parse(readFileSync(join(folder, "place.json"), "utf8")) as Place;
}

export function storeOf(folder: string): StoreDefinition {
  const { store } = placeOf(folder);
  return store === "sqlite" ? sqlite(join(folder, "runs.db")) : postgres(store);
}
