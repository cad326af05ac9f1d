/** Content of the memory store (B1–B4). */
import type { CollectContent, CollectedContent, NewContent, StoredContent } from "../../ports/content-store.ts";
import { checkContent, collectedOf, contentMissing } from "../shared/check-content.ts";
import type { ScopeData } from "./data.ts";

export function putContent(scope: ScopeData, given: NewContent, now: number): void {
  checkContent(given);
  const known = scope.content.get(given.hash);
  if (known) known.at = Math.max(known.at, now);
  else scope.content.set(given.hash, { stored: storedOf(given), at: now });
}

export function readContent(scope: ScopeData, hash: string): StoredContent | undefined {
  const known = scope.content.get(hash);
  return known && storedOf(known.stored);
}

/** A copy: who gives bytes, or was given them, may change them. */
function storedOf(given: StoredContent): StoredContent {
  const { mediaType } = given;
  return "body" in given ? { mediaType, body: given.body.slice() } : { mediaType, place: given.place };
}

/** Before anything of the commit or birth is written. */
export function checkCites(scope: ScopeData, run: string, cites: readonly string[]): void {
  const missing = cites.find((hash) => !scope.content.has(hash));
  if (missing !== undefined) throw contentMissing(run, missing);
}

export function collectContent(
  scope: ScopeData,
  { olderThanMs, limit }: CollectContent,
  now: number,
): readonly CollectedContent[] {
  const cited = new Set(scope.runList.flatMap((run) => [...run.cites]));
  const old = [...scope.content].filter(([hash, { at }]) => at <= now - olderThanMs && !cited.has(hash));
  old.sort(([hashA, a], [hashB, b]) => a.at - b.at || (hashA < hashB ? -1 : 1));
  const doomed = old.slice(0, Math.max(0, limit));
  for (const [hash] of doomed) scope.content.delete(hash);
  return collectedOf(doomed.map(([hash, { stored }]) => ({ hash, ...stored })));
}
