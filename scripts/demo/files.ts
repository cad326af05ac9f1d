/** The files of one demo: the store, the payments log, and what callers were told. */
import { join } from "node:path";
import type { StoreDefinition } from "holdfast";
import { sqlite } from "holdfast/sqlite";

export function storeIn(folder: string): StoreDefinition {
  return sqlite(join(folder, "runs.db"));
}

export const paymentsLog = (folder: string): string => join(folder, "payments.log");
export const acknowledgedLog = (folder: string): string => join(folder, "acknowledged.log");
