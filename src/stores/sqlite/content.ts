/** Content (B1–B4): one writer at a time, so that a citation and a collection cannot meet. */
import type { CollectContent, ContentKey, ContentStore, NewContent, StoredContent } from "../../ports/content-store.ts";
import type { Commit } from "../../ports/store.ts";
import { checkContent, contentMissing } from "../shared/check-content.ts";
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

const put = `INSERT INTO content (scope, hash, time, media_type, body) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT DO UPDATE SET time = max(time, ?3)`;

function putJob({ db, now }: Access, content: NewContent): Job<true> {
  checkContent(content);
  const { scope, hash, mediaType, body } = content;
  const add = (): true => {
    db.run(put, scope, hash, now(), mediaType, body);
    return true;
  };
  return { bytes: body.length, alone: add, write: add };
}

function readContent(db: Connection, { scope, hash }: ContentKey): StoredContent | undefined {
  const sql = "SELECT media_type, body FROM content WHERE scope = ? AND hash = ?";
  const row = db.get<{ media_type: string; body: Uint8Array }>(sql, scope, hash);
  return row && { mediaType: row.media_type, body: row.body };
}

const cite = `INSERT INTO content_refs (scope, hash, run, seq) SELECT scope, hash, ?3, ?4 FROM content
  WHERE scope = ?1 AND hash = ?2 ON CONFLICT DO UPDATE SET seq = min(content_refs.seq, ?4)`;

export function citeContent(db: Connection, place: Place, commit: Commit): void {
  for (const hash of commit.cites ?? []) {
    if (db.run(cite, commit.scope, hash, place.no, commit.expectedSeq + 1) === 0)
      throw contentMissing(commit.run, hash);
  }
}

export const findUncited = `SELECT no FROM content INDEXED BY content_by_time WHERE scope = ?1 AND time <= ?2
  AND NOT EXISTS (SELECT 1 FROM content_refs WHERE scope = ?1 AND hash = content.hash) ORDER BY time, hash LIMIT ?3`;

function collectJob({ db, now }: Access, { scope, olderThanMs, limit }: CollectContent): Job<number> {
  const collect = (): number =>
    db.run(`DELETE FROM content WHERE no IN (${findUncited})`, scope, now() - olderThanMs, Math.max(0, limit));
  return { bytes: 0, alone: collect, write: collect };
}
