/** Content as a user reads it: by the hash that a result carries. */
import { contentNotFound } from "../domain/content.ts";
import { HoldfastError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import { Problems } from "../domain/problems.ts";
import { type Desk, surely, written } from "./desk.ts";

export interface Content {
  readonly hash: string;
  readonly mediaType: string;
  readonly body: Uint8Array;
  /** The bytes as UTF-8. */
  text(): string;
  /** The bytes as JSON: what a tool gave back that was too large for the journal. */
  json(): JsonValue;
}

export interface CollectOptions {
  /** Only what was last put so long ago: a day unless said, and ten minutes at least. */
  readonly olderThanMs?: number;
}

export interface Contents {
  /** By the hash, or by what refers to it. Throws content-not-found when it is not in this scope. */
  get(content: string | { readonly hash: string }): Promise<Content>;
  /** Removes what no run cites, and answers how many. Workers do so by themselves, every hour. */
  collect(options?: CollectOptions): Promise<number>;
}

const day = 24 * 60 * 60_000;
const batch = 64;
const hashPattern = /^[0-9a-f]{64}$/;

export function createContents(desk: Desk): Contents {
  return {
    get: async (content) => read(typeof content === "string" ? content : content?.hash, desk),
    collect: (options = {}) => collect(options, desk),
  };
}

async function read(hash: string, desk: Desk): Promise<Content> {
  if (!hashPattern.test(hash)) throw contentNotFound(String(hash), "it is no lower-case hex SHA-256");
  const { scope, store } = desk;
  const found = await surely(`Reading content ${hash}`, desk, () => store.content({ scope, hash }));
  if (!found)
    throw contentNotFound(hash, `scope ${scope} has none of this hash; nobody cites it any more, or ever did`);
  if ("place" in found) {
    throw contentNotFound(
      hash,
      `its bytes are kept at ${found.place}; give this runtime the \`content\` option of the one that put them`,
    );
  }
  const { mediaType, body } = found;
  if (desk.hash.sha256(body) !== hash) throw damaged(hash);
  const text = (): string => new TextDecoder().decode(body);
  return { hash, mediaType, body, text, json: () => JSON.parse(text()) };
}

/** A disk or a person has changed it: bytes that are not what was cited are not given. */
function damaged(hash: string): HoldfastError {
  const message = `Content ${hash} is not what was put: its bytes have another hash now`;
  return new HoldfastError("content-hash-mismatch", message, { details: { hash } });
}

async function collect(options: CollectOptions, desk: Desk): Promise<number> {
  const problems = new Problems(options, ["olderThanMs"]);
  problems.integer("olderThanMs", 10 * 60_000, 36_500 * day);
  problems.refuse("invalid-options", "Content cannot be collected like this");
  const { scope, store } = desk;
  const what = { scope, olderThanMs: options.olderThanMs ?? day, limit: batch };
  for (let total = 0; ; ) {
    const { length } = await written("Collecting content", desk, () => store.collectContent(what));
    total += length;
    if (length < batch) return total;
  }
}
