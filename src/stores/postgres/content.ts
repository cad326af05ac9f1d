/**
 * Content (B1–B4).
 *
 * B5 Who cites holds the content's row until its commit. Who collects takes only rows that nobody holds, and looks for
 *    citations once more when it holds them: one that was committed in between is seen by the second look alone.
 */
import type { CollectContent, ContentKey, ContentStore, NewContent, StoredContent } from "../../ports/content-store.ts";
import { checkContent, contentMissing } from "../shared/check-content.ts";
import { type Access, storeTime, type Tx } from "./access.ts";
import type { Queries } from "./database.ts";
import type { Calls, Job } from "./jobs.ts";
import { columnsOf, type TakenCommit } from "./ticket-rows.ts";

export function contentOf(access: Access, { write, read }: Calls): ContentStore {
  return {
    putContent: async (content) => void (await write(() => putJob(access, content))),
    content: (key) => read((db) => readContent(db, key)),
    collectContent: (what) => write(() => collectJob(access, what)),
  };
}

/** What is ordered by: a collection among the puts of its own process. */
const orderOf = (scope: string): readonly string[] => [`content\n${scope}`];

const put = `INSERT INTO hf.content (scope, hash, time, media_type, body) VALUES ($1, $2, ${storeTime("$3")}, $4, $5)
  ON CONFLICT (scope, hash) DO UPDATE SET time = greatest(content.time, excluded.time)`;

function putJob(access: Access, content: NewContent): Job<true> {
  checkContent(content);
  const { scope, hash, mediaType, body } = content;
  const add = async (db: Queries): Promise<true> => {
    await db.run(put, [scope, hash, access.time(), mediaType, Buffer.from(body)]);
    return true;
  };
  return { scope, keys: orderOf(scope), bytes: body.length, needs: {}, alone: add, write: add };
}

async function readContent(db: Queries, { scope, hash }: ContentKey): Promise<StoredContent | undefined> {
  const sql = "SELECT media_type, body FROM hf.content WHERE scope = $1 AND hash = $2";
  const row = await db.get<{ media_type: string; body: Buffer }>(sql, [scope, hash]);
  return row && { mediaType: row.media_type, body: new Uint8Array(row.body) };
}

const holdContent = `SELECT content.scope, content.hash FROM hf.content
  WHERE (scope, hash) IN (SELECT * FROM unnest($1::text[], $2::text[])) ORDER BY scope, hash FOR KEY SHARE`;
const insertRefs = `INSERT INTO hf.content_refs (scope, hash, run, seq)
  SELECT DISTINCT ON (scope, hash, run) scope, hash, run, seq
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS cited (scope, hash, run, seq)
  ON CONFLICT (scope, hash, run) DO NOTHING`;

export async function citeContent(tx: Tx, taken: readonly TakenCommit[]): Promise<void> {
  const rows = taken.flatMap(({ commit, no }) =>
    (commit.cites ?? []).map((hash) => [commit.scope, hash, no, commit.expectedSeq + 1]),
  );
  if (rows.length === 0) return;
  const columns = columnsOf(rows);
  const held = await tx.all<ContentKey>(holdContent, columns.slice(0, 2));
  const found = new Set(held.map(({ scope, hash }) => `${scope}\n${hash}`));
  for (const { commit } of taken) {
    const missing = (commit.cites ?? []).find((hash) => !found.has(`${commit.scope}\n${hash}`));
    if (missing !== undefined) throw contentMissing(commit.run, missing);
  }
  await tx.run(insertRefs, columns);
}

const uncited = "NOT EXISTS (SELECT FROM hf.content_refs AS refs WHERE refs.scope = $1 AND refs.hash = content.hash)";
const holdUncited = `SELECT hash FROM hf.content WHERE scope = $1 AND time <= ${storeTime("$2")} - $3::bigint AND ${uncited}
  ORDER BY time, hash LIMIT $4 FOR UPDATE SKIP LOCKED`;
const removeUncited = `DELETE FROM hf.content WHERE scope = $1 AND hash = ANY ($2::text[]) AND ${uncited}`;

/** B5. */
function collectJob(access: Access, { scope, olderThanMs, limit }: CollectContent): Job<number> {
  const write = async (tx: Tx): Promise<number> => {
    const values = [scope, access.time(), olderThanMs, Math.max(0, limit)];
    const held = await tx.all<{ hash: string }>(holdUncited, values);
    return held.length === 0 ? 0 : tx.run(removeUncited, [scope, held.map(({ hash }) => hash)]);
  };
  return { scope, keys: orderOf(scope), bytes: 0, needs: {}, write };
}
