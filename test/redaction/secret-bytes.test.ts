/** A secret is nowhere in what a store keeps: every byte of the SQLite file and its log, every row of PostgreSQL. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { secret } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import { freshStore, query } from "../postgres/shared-server.ts";
import { freshPath } from "../stores/watched-store.ts";
import { canary } from "./canary-sources.ts";
import type { Key } from "./canary-tools.ts";
import { hear } from "./canary-world.ts";

const open = { redact: { detectors: [] }, content: { traces: true, events: true } };

/** Plain, wide, in hex and in base 64 wherever it begins. */
function isIn(bytes: Buffer, word: string): boolean {
  const wide = Buffer.from(word, "utf16le");
  const hex = Buffer.from(word).toString("hex");
  const base64 = [0, 1, 2].map((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), Buffer.from(word)]).toString("base64");
    return whole.slice(shift === 0 ? 0 : 4, -4); // without what its neighbours have a part in
  });
  return [word, wide, hex, ...base64].some((form) => bytes.includes(form));
}

test.each([
  ["plain", Buffer.from("x-a-long-word-7q-y")],
  ["wide", Buffer.from("a-long-word-7q", "utf16le")],
  ["in hex", Buffer.from(Buffer.from("a-long-word-7q").toString("hex"))],
  ...[0, 1, 2].map((shift) => [
    `in base 64 after ${shift}`,
    Buffer.from(Buffer.from(`${"x".repeat(shift)}a-long-word-7q--`).toString("base64")),
  ]),
] as [string, Buffer][])("a word is found %s", (_how, bytes) => {
  expect(isIn(bytes, "a-long-word-7q")).toBe(true);
  expect(isIn(bytes, "a-long-sword-7q")).toBe(false);
});

interface Kept {
  readonly definition: StoreDefinition;
  readonly bytes: () => Promise<Buffer>;
}

async function onSqlite(): Promise<Kept> {
  const path = freshPath();
  const files = ["", "-wal", "-shm"].map((end) => `${path}${end}`);
  const bytes = async (): Promise<Buffer> => Buffer.concat(files.filter((file) => existsSync(file)).map(readFile));
  return { definition: sqlite(path), bytes };
}

function readFile(file: string): Buffer {
  return readFileSync(file);
}

async function onPostgres(): Promise<Kept> {
  const { url, schema, definition } = await freshStore();
  const bytes = async (): Promise<Buffer> => {
    const tables = await query<{ name: string }>(
      url,
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1",
      [schema],
    );
    const rows = await Promise.all(
      tables.map(({ name }) => query<{ row: string }>(url, `SELECT t::text AS row FROM "${schema}"."${name}" t`)),
    );
    return Buffer.from(rows.flatMap((each) => each.map(({ row }) => row)).join("\n"));
  };
  return { definition, bytes };
}

/** While the store is open and after it was closed: a log that is folded into its file at the end is seen too. */
async function keptBy(key: Key, place: () => Promise<Kept>): Promise<Buffer> {
  const { definition, bytes } = await place();
  const seen: Buffer[] = [];
  await hear({ ...open, key, store: definition, look: async () => void seen.push(await bytes()) });
  seen.push(await bytes());
  return Buffer.concat(seen);
}

test.each([
  ["SQLite", onSqlite],
  ["PostgreSQL", onPostgres],
])(
  "a secret is in no byte that %s keeps, over a crash; as a plain string it is",
  { timeout: 60_000 },
  async (_store, place) => {
    const careless = await keptBy(canary("secret"), place);
    expect(isIn(careless, canary("secret"))).toBe(true);
    const kept = await keptBy(secret(canary("secret")), place);
    expect(isIn(kept, canary("secret"))).toBe(false);
    for (const source of ["user", "result", "failure", "answer", "state", "context", "deep"] as const) {
      expect(isIn(kept, canary(source)), source).toBe(true); // what is no secret is kept in clear
    }
  },
);
