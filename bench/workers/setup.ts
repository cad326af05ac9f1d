/** What a worker and the client of one measurement are started with, and what they say to the bench. */
import type { StoreDefinition } from "holdfast";
import { postgres } from "holdfast/postgres";
import { sqlite } from "holdfast/sqlite";
import type { WorkloadName } from "./workload.ts";

export type Place = { readonly path: string } | { readonly url: string; readonly schema: string };

export interface Setup {
  readonly place: Place;
  readonly workload: WorkloadName;
  readonly runs: number;
  readonly steps: number;
}

/** Short, or idle workers of other processes would find the first runs of a batch up to a second late. */
export const pollMs = 20;

export type WorkerNews = { readonly kind: "ready" } | { readonly kind: "cpu"; readonly ms: number };
export type WorkerOrder = "cpu" | "close";

export type ClientNews = { readonly kind: "warm" } | ({ readonly kind: "done" } & Timed);

/** By the store's own time, so that it does not matter how often the client looks. */
export interface Timed {
  /** From the birth of the first run to the end of the last. */
  readonly ms: number;
  /** From the birth of the first run to that of the last. */
  readonly startsMs: number;
}

export function setupOf(argument: string | undefined): Setup {
  return JSON.parse(argument ?? "{}") as Setup;
}

export function storeAt(place: Place): StoreDefinition {
  return "path" in place ? sqlite(place.path) : postgres(place);
}
