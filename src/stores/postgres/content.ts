/**
 * Content (B1–B5).
 *
 * B6 Who cites holds the content's row until its commit. Who collects takes only rows that nobody holds, and looks for
 *    citations once more when it holds them: one that was committed in between is seen by the second look alone.
 */
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
import { type Access, storeTime, type Tx } from "./access.ts";
import type { Queries } from "./database.ts";
import type { Calls, Job } from "./jobs.ts";
import { columnsOf } from "./ticket-rows.ts";

export function contentOf(access: Access, { write, read }: Calls): ContentStore {
  return {
    putContent: async (content) => void (await write(() => putJob(access, content))),
    content: (key) => read((db) => readContent(db, key)),
    collectContent: (what) => write(() => collectJob(access, what)),
  };
}

/** What is ordered by: a collection among the puts of its own process. */
const orderOf = (scope: string): readonly string[] => [`content\n${scope}`];

const put = `INSERT INTO hf.content (scope, hash, time, media_type, body, place)
  VALUES ($1, $2, ${storeTime("$3")}, $4, $5, $6)
  ON CONFLICT (scope, hash) DO UPDATE SET time = greatest(content.time, excluded.time)`;

function putJob(access: Access, content: NewContent): Job<true> {
  checkContent(content);
  const { scope, hash, mediaType } = content;
  const [body, place] = "body" in content ? [Buffer.from(content.body), null] : [null, content.place];
  const add = async (db: Queries): Promise<true> => {
    await db.run(put, [scope, hash, access.time(), mediaType, body, place]);
    return true;
  };
  return { scope, keys: orderOf(scope), bytes: body?.length ?? 0, needs: {}, alone: add, write: add };
}

async function readContent(db: Queries, { scope, hash }: ContentKey): Promise<StoredContent | undefined> {
  const sql = "SELECT media_type, body, place FROM hf.content WHERE scope = $1 AND hash = $2";
  const row = await db.get<{ media_type: string; body: Buffer; place: string | null }>(sql, [scope, hash]);
  if (!row) return undefined;
  const { media_type: mediaType, body, place } = row;
  return place === null ? { mediaType, body: new Uint8Array(body) } : { mediaType, place };
}

const holdContent = `SELECT content.scope, content.hash FROM hf.content
  WHERE (scope, hash) IN (SELECT * FROM unnest($1::text[], $2::text[])) ORDER BY scope, hash FOR KEY SHARE`;
const insertRefs = `INSERT INTO hf.content_refs (scope, hash, run, seq)
  SELECT DISTINCT ON (scope, hash, run) scope, hash, run, seq
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS cited (scope, hash, run, seq)
  ON CONFLICT (scope, hash, run) DO NOTHING`;

interface Citing extends RunKey {
  readonly no: number;
  readonly seq: number;
  readonly hashes: readonly string[];
}

/** B2. */
export async function citeContent(tx: Tx, citing: readonly Citing[]): Promise<void> {
  const rows = citing.flatMap(({ scope, no, seq, hashes }) => hashes.map((hash) => [scope, hash, no, seq]));
  if (rows.length === 0) return;
  const columns = columnsOf(rows);
  const held = await tx.all<ContentKey>(holdContent, columns.slice(0, 2));
  const found = new Set(held.map(({ scope, hash }) => `${scope}\n${hash}`));
  for (const { scope, run, hashes } of citing) {
    const missing = hashes.find((hash) => !found.has(`${scope}\n${hash}`));
    if (missing !== undefined) throw contentMissing(run, missing);
  }
  await tx.run(insertRefs, columns);
}

/** Of a run that begins with them. */
export async function citeFirst(
  tx: Tx,
  no: number,
  first: RunKey & { readonly entries: readonly EntryBody[] },
): Promise<void> {
  const { scope, run, entries } = first;
  await citeContent(tx, [{ scope, run, no, seq: 1, hashes: contentIn(entries) }]);
}

const uncited = "NOT EXISTS (SELECT FROM hf.content_refs AS refs WHERE refs.scope = $1 AND refs.hash = content.hash)";
const holdUncited = `SELECT hash FROM hf.content WHERE scope = $1 AND time <= ${storeTime("$2")} - $3::bigint AND ${uncited}
  ORDER BY time, hash LIMIT $4 FOR UPDATE SKIP LOCKED`;
const removeUncited = `DELETE FROM hf.content WHERE scope = $1 AND hash = ANY ($2::text[]) AND ${uncited}
  RETURNING hash, place`;

/** B6. */
function collectJob(access: Access, { scope, olderThanMs, limit }: CollectContent): Job<readonly CollectedContent[]> {
  const write = async (tx: Tx): Promise<readonly CollectedContent[]> => {
    const values = [scope, access.time(), olderThanMs, Math.max(0, limit)];
    const held = await tx.all<{ hash: string }>(holdUncited, values);
    if (held.length === 0) return [];
    const gone = [scope, held.map(({ hash }) => hash)];
    return collectedOf(await tx.all<{ hash: string; place: string | null }>(removeUncited, gone));
  };
  return { scope, keys: orderOf(scope), bytes: 0, needs: {}, write };
}
