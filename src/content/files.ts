/**
 * Content as files: `<folder>/<scope>/<first two of the hash>/<hash>.<unique>`. The folder may be on a disk that several
 * processes share; the scope's part is a hash of its name, which may have any characters.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HoldfastError } from "../domain/errors.ts";
import { messageOf } from "../domain/json.ts";
import type { ContentDefinition, ContentKey, ContentPlaces } from "../ports/content-store.ts";

const placePattern = /^[0-9a-f]{32}\/[0-9a-f]{2}\/[0-9a-f]{64}\.[0-9a-f-]{36}$/;

/** For `createRuntime({ content })`: large results are files in this folder instead of rows of the store. */
export function fileContent(folder: string): ContentDefinition {
  if (typeof folder !== "string" || folder === "") {
    throw new HoldfastError("invalid-options", "fileContent(folder) takes the path of a folder");
  }
  return {
    async open() {
      await mkdir(folder, { recursive: true });
      return filesIn(folder);
    },
  };
}

function filesIn(folder: string): ContentPlaces {
  return {
    keep: ({ scope, hash }, body) => {
      const place = `${partOf(scope)}/${hash.slice(0, 2)}/${hash}.${randomUUID()}`;
      return named(`${hash} cannot be kept`, () => keep(folder, place, body));
    },
    read: async (place) =>
      placePattern.test(place)
        ? named(`${place} cannot be read`, () => ifThere(bytesOf(join(folder, place))))
        : undefined,
    remove: async (place) => {
      if (!placePattern.test(place)) return;
      await named(`${place} cannot be removed`, () => rm(join(folder, place), { force: true }));
    },
    olderThan: (scope, ms) => olderThan(folder, partOf(scope), ms),
  };
}

/** Whatever a disk does may pass: a full one is emptied, a missing mount comes back. */
async function named<T>(what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    const isFull = (cause as NodeJS.ErrnoException).code === "ENOSPC";
    throw new HoldfastError(isFull ? "store-full" : "content-unavailable", `Content ${what}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

function partOf(scope: string): string {
  return createHash("sha256").update(scope).digest("hex").slice(0, 32);
}

/** Written aside, flushed, then named: a file that has its name is whole, whatever is cut. */
async function keep(folder: string, place: string, body: Uint8Array): Promise<string> {
  const path = join(folder, place);
  await mkdir(dirname(path), { recursive: true });
  const aside = `${path}.part`;
  const file = await open(aside, "wx");
  try {
    await file.writeFile(body);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(aside, path);
  await flushFolder(dirname(path));
  return place;
}

/** The name too has to survive a loss of power. Not every system lets a folder be opened. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  try {
    await folder?.sync().catch(() => undefined);
  } finally {
    await folder?.close();
  }
}

async function bytesOf(path: string): Promise<Uint8Array> {
  return new Uint8Array(await readFile(path));
}

async function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
}

async function* olderThan(
  folder: string,
  part: string,
  ms: number,
): AsyncGenerator<{ readonly hash: ContentKey["hash"]; readonly place: string }> {
  for (const two of (await ifThere(readdir(join(folder, part)))) ?? []) {
    for (const name of (await ifThere(readdir(join(folder, part, two)))) ?? []) {
      const path = join(folder, part, two, name);
      const known = await ifThere(stat(path));
      if (!known || Date.now() - known.mtimeMs < ms) continue;
      if (name.endsWith(".part")) await rm(path, { force: true });
      else yield { hash: name.slice(0, 64), place: `${part}/${two}/${name}` };
    }
  }
}
