/** B1: the hash is a name that anybody can check, so every store checks it. */
import { createHash } from "node:crypto";
import { HoldfastError } from "../../domain/errors.ts";
import type { CollectedContent, NewContent } from "../../ports/content-store.ts";

export function checkContent(content: NewContent): void {
  if (!("body" in content)) return;
  const { hash, body, scope } = content;
  const actual = createHash("sha256").update(body).digest("hex");
  if (actual === hash) return;
  throw new HoldfastError(
    "content-hash-mismatch",
    `Content was put as ${hash}, but its bytes have the hash ${actual}`,
    {
      details: { scope, hash, actual },
    },
  );
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
