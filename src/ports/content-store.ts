/**
 * The part of the store that holds bytes by their hash, for bodies that are too large for the journal.
 *
 * B1 Content is found by the SHA-256 of its bytes, which is checked when it is put. Putting it again changes nothing but its
 *    age: media type and place are those of the first time.
 * B2 A commit, birth or post whose entries refer to content cites it in its own transaction, and is refused when it is not
 *    there.
 * B3 Only content that no run cites and that was last put long enough ago is collected; a citation that is being committed
 *    and a collection never both succeed.
 * B4 Erasing a run takes its citations along.
 * B5 Bytes may be kept elsewhere: the store then has their place, which is given once and never again.
 */
import type { Scope } from "../domain/ids.ts";

export interface ContentKey {
  readonly scope: Scope;
  /** Lower-case hex SHA-256 of the bytes. */
  readonly hash: string;
}

/** The bytes, or where they are; whoever put them there has checked their hash. */
export type ContentBytes = { readonly body: Uint8Array } | { readonly place: string };

export type NewContent = ContentKey & { readonly mediaType: string } & ContentBytes;

export type StoredContent = { readonly mediaType: string } & ContentBytes;

export interface CollectContent {
  readonly scope: Scope;
  /** By the store's own clock, since it was last put. */
  readonly olderThanMs: number;
  readonly limit: number;
}

export interface CollectedContent {
  readonly hash: string;
  /** Where its bytes are still, if not in the store. */
  readonly place?: string;
}

export interface ContentStore {
  putContent(content: NewContent): Promise<void>;
  content(key: ContentKey): Promise<StoredContent | undefined>;
  /** What it took away, sorted by hash. */
  collectContent(what: CollectContent): Promise<readonly CollectedContent[]>;
}

/** Where bytes are kept instead of in the store. Places are its own words; no place is ever used twice. */
export interface ContentPlaces {
  /** Durable when it returns. */
  keep(key: ContentKey, body: Uint8Array): Promise<string>;
  /** Undefined when nothing is there. */
  read(place: string): Promise<Uint8Array | undefined>;
  /** Harmless when nothing is there. */
  remove(place: string): Promise<void>;
  /** What was kept longer ago than that, for whoever looks for places that nobody refers to. */
  olderThan(scope: Scope, ms: number): AsyncIterable<{ readonly hash: string; readonly place: string }>;
}

/** What `createRuntime({ content })` takes. */
export interface ContentDefinition {
  open(): Promise<ContentPlaces>;
}
