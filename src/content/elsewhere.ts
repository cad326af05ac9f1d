/**
 * A store whose content is kept elsewhere: it holds where the bytes are and who cites them, and nothing of the bytes.
 *
 * E1 Bytes are durable at their place before the store hears of it, and the store forgets a place before its bytes go. So
 *    whatever the store refers to is there; what a cut leaves behind is bytes that nobody refers to, and they are swept.
 * E2 A place is used once. Who puts the same bytes again, while they are being collected too, gets a place of its own.
 */
import { checkHash, contentNotFound } from "../domain/content.ts";
import type { Scope } from "../domain/ids.ts";
import type { ContentKey, ContentPlaces, NewContent, StoredContent } from "../ports/content-store.ts";
import type { Hash } from "../ports/hash.ts";
import type { Store } from "../ports/store.ts";

/** Takes away what a cut has left, once it is certainly no put under way. */
export type Sweep = (scope: Scope, olderThanMs: number) => Promise<void>;

export function keptElsewhere(
  store: Store,
  places: ContentPlaces,
  hash: Hash,
): { readonly store: Store; readonly sweep: Sweep } {
  return {
    store: {
      ...store,
      async putContent(content) {
        if ("body" in content) checkHash(content, hash.sha256(content.body));
        return put(content, store, places);
      },
      content: (key) => read(key, store, places),
      async collectContent(what) {
        const collected = await store.collectContent(what);
        for (const { place } of collected) if (place !== undefined) await places.remove(place);
        return collected;
      },
    },
    async sweep(scope, olderThanMs) {
      for await (const kept of places.olderThan(scope, olderThanMs)) await sweepOne({ scope, ...kept }, store, places);
    },
  };
}

/** E1, E2. */
async function put(content: NewContent, store: Store, places: ContentPlaces): Promise<void> {
  if (!("body" in content)) return store.putContent(content);
  const { scope, hash, mediaType, body } = content;
  const place = await places.keep({ scope, hash }, body);
  await store.putContent({ scope, hash, mediaType, place });
  const known = await store.content({ scope, hash });
  if (known && !("place" in known && known.place === place)) await places.remove(place);
}

async function read(key: ContentKey, store: Store, places: ContentPlaces): Promise<StoredContent | undefined> {
  const stored = await store.content(key);
  if (!stored || "body" in stored) return stored;
  const { mediaType, place } = stored;
  const body = await places.read(place);
  if (!body) throw contentNotFound(key.hash, `nothing is at ${place}`);
  return { mediaType, body };
}

/** E1. `store` knows places: asked for the bytes instead, it would answer the same of any place. */
async function sweepOne(
  kept: ContentKey & { readonly place: string },
  store: Store,
  places: ContentPlaces,
): Promise<void> {
  const known = await store.content(kept);
  if (!known || !("place" in known) || known.place !== kept.place) await places.remove(kept.place);
}
