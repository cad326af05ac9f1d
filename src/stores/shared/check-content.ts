/** B1, and what stores say of content alike. */
import { createHash } from "node:crypto";
import { checkHash } from "../../domain/content.ts";
import { HoldfastError } from "../../domain/errors.ts";
import type { CollectedContent, NewContent } from "../../ports/content-store.ts";

export function checkContent(content: NewContent): void {
  if (!("body" in content)) return;
  checkHash(content, createHash("sha256").update(content.body).digest("hex"));
}

export function contentMissing(run: string, hash: string): HoldfastError {
  return new HoldfastError("content-not-found", `Run ${run} cites content ${hash}, which is not in its scope`, {
    details: { run, hash },
  });
}

/** Rows come in the order in which they were found. */
export function collectedOf(
  rows: readonly { readonly hash: string; readonly place?: string | null }[],
): readonly CollectedContent[] {
  const sorted = [...rows].sort((a, b) => (a.hash < b.hash ? -1 : 1));
  return sorted.map(({ hash, place }) => (place == null ? { hash } : { hash, place }));
}
