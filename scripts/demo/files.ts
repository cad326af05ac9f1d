/** The files of one demo: the store, the payments log, and what callers were told. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StoreDefinition } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import type { Acknowledged, PaymentRequest } from "./news.ts";

export function storeIn(folder: string): StoreDefinition {
  return sqlite(join(folder, "runs.db"));
}

export const paymentsLog = (folder: string): string => join(folder, "payments.log");
export const acknowledgedLog = (folder: string): string => join(folder, "acknowledged.log");

/** On disk before it returns: what is logged has happened, whoever dies next. */
export function note(path: string, line: PaymentRequest | Acknowledged): void {
  appendFileSync(path, `${JSON.stringify(line)}\n`, { flush: true });
}

export function noted<Line>(path: string): readonly Line[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Line);
}
