/**
 * The part of the store that holds bytes by their hash, for bodies that are too large for the journal.
 *
 * B1 Content is found by the SHA-256 of its bytes, which is checked when it is put. Putting it again changes nothing but its
 *    age: the media type is that of the first time.
 * B2 A commit that cites content writes so in its own transaction, and is refused when the content is not there.
 * B3 Only content that no run cites and that was last put long enough ago is collected; a citation that is being committed
 *    and a collection never both succeed.
 * B4 Erasing a run takes its citations along.
 */
import type { Scope } from "../domain/ids.ts";

export interface ContentKey {
  readonly scope: Scope;
  /** Lower-case hex SHA-256 of the bytes. */
  readonly hash: string;
}

export interface NewContent extends ContentKey {
  readonly mediaType: string;
  readonly body: Uint8Array;
}

export interface StoredContent {
  readonly mediaType: string;
  readonly body: Uint8Array;
}

export interface CollectContent {
  readonly scope: Scope;
  /** By the store's own clock, since it was last put. */
  readonly olderThanMs: number;
  readonly limit: number;
}

export interface ContentStore {
  putContent(content: NewContent): Promise<void>;
  content(key: ContentKey): Promise<StoredContent | undefined>;
  /** How many it took away. */
  collectContent(what: CollectContent): Promise<number>;
}
