/** Bytes that were read for model calls of one claim. */
/** By hash, in base64, as requests carry them. */
export interface FileCache {
  get(hash: string): string | undefined;
  add(hash: string, text: string): void;
}

/** What was read longest ago makes room. */
export function openFileCache(mostBytes: number): FileCache {
  const known = new Map<string, string>();
  let room = Math.ceil((mostBytes * 4) / 3) + 4;
  return {
    get: (hash) => known.get(hash),
    add(hash, text) {
      if (known.has(hash)) return;
      known.set(hash, text);
      room -= text.length;
      for (const [oldest, { length }] of known) {
        if (room >= 0) return;
        known.delete(oldest);
        room += length;
      }
    },
  };
}
