/** Content (B1–B4): one writer at a time, so that a citation and a collection cannot meet. */
import { contentIn } from "../../domain/cites.ts";
import type { EntryBody } from "../../domain/entry.ts";
import type {
  CollectContent,
  CollectedContent,
  ContentKey,
  ContentStore,
  NewContent,
  StoredContent,
} from "../../ports/content-store.ts";
import type { RunKey } from "../../ports/store.ts";
import { checkContent, collectedOf, contentMissing } from "../shared/check-content.ts";
import type { Access } from "./access.ts";
import type { Connection } from "./database.ts";
import type { Calls, Job } from "./group.ts";
import type { Place } from "./places.ts";

export function contentOf(access: Access, { write, read }: Calls): ContentStore {
  return {
    putContent: async (content) => void (await write(() => putJob(access, content))),
    content: (key) => read(() => readContent(access.db, key)),
    collectContent: (what) => write(() => collectJob(access, what)),
  };
}

const put = `INSERT INTO content (scope, hash, time, media_type, body, place) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
  ON CONFLICT DO UPDATE SET time = max(time, ?3)`;

function putJob({ db, now }: Access, content: NewContent): Job<true> {
  checkContent(content);
  const { scope, hash, mediaType } = content;
  const [body, place] = "body" in content ? [content.body, null] : [null, content.place];
  const add = (): true => {
    db.run(put, scope, hash, now(), mediaType, body, place);
    return true;
  };
  return { bytes: body?.length ?? 0, alone: add, write: add };
}

function readContent(db: Connection, { scope, hash }: ContentKey): StoredContent | undefined {
  const sql = "SELECT media_type, body, place FROM content WHERE scope = ? AND hash = ?";
  const row = db.get<{ media_type: string; body: Uint8Array; place: string | null }>(sql, scope, hash);
  if (!row) return undefined;
  const { media_type: mediaType, body, place } = row;
  return place === null ? { mediaType, body } : { mediaType, place };
}

const cite = `INSERT INTO content_refs (scope, hash, run, seq) SELECT scope, hash, ?3, ?4 FROM content
  WHERE scope = ?1 AND hash = ?2 ON CONFLICT DO UPDATE SET seq = min(content_refs.seq, ?4)`;

/** B2. */
export function citeContent(
  db: Connection,
  place: Pick<Place, "no">,
  citing: RunKey & { seq: number; hashes: readonly string[] },
): void {
  for (const hash of citing.hashes) {
    if (db.run(cite, citing.scope, hash, place.no, citing.seq) === 0) throw contentMissing(citing.run, hash);
  }
}

/** Of a run that begins with them. */
export function citeFirst(
  db: Connection,
  place: Pick<Place, "no">,
  first: RunKey & { entries: readonly EntryBody[] },
): void {
  citeContent(db, place, { ...first, seq: 1, hashes: contentIn(first.entries) });
}

export const findUncited = `SELECT no FROM content INDEXED BY content_by_time WHERE scope = ?1 AND time <= ?2
  AND NOT EXISTS (SELECT 1 FROM content_refs WHERE scope = ?1 AND hash = content.hash) ORDER BY time, hash LIMIT ?3`;

const remove = `DELETE FROM content WHERE no IN (${findUncited}) RETURNING hash, place`;

interface Removed {
  readonly hash: string;
  readonly place: string | null;
}

function collectJob(
  { db, now }: Access,
  { scope, olderThanMs, limit }: CollectContent,
): Job<readonly CollectedContent[]> {
  const collect = (): readonly CollectedContent[] =>
    collectedOf(db.all<Removed>(remove, scope, now() - olderThanMs, Math.max(0, limit)));
  return { bytes: 0, alone: collect, write: collect };
}
