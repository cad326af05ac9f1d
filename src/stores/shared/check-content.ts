/** B1: the hash is a name that anybody can check, so every store checks it. */
import { createHash } from "node:crypto";
import { HoldfastError } from "../../domain/errors.ts";
import type { NewContent } from "../../ports/content-store.ts";

export function checkContent({ hash, body, scope }: NewContent): void {
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
