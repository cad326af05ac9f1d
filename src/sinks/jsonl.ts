/**
 * A sink that is a file: one line of JSON per message, for operators and small tools.
 *
 * J1 A message is on the disk before it counts as delivered.
 * J2 A message may stand there twice, with the same key: when the process died before it could say that it was done.
 * J3 A line that a death or a full disk cut short is ended before the next one begins: it spoils no other.
 */
import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { HoldfastError } from "../domain/errors.ts";
import type { Sink } from "../ports/sink.ts";

/** Outputs are nobody else's business. */
const ownerOnly = 0o600;
const newline = 0x0a;

export function jsonlSink(path: string): Sink {
  if (typeof path !== "string" || path === "") {
    throw new HoldfastError("invalid-options", "jsonlSink(path) takes the path of a file");
  }
  const folder = dirname(resolve(path));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new HoldfastError(
      "invalid-options",
      `jsonlSink(${JSON.stringify(path)}): there is no folder ${folder}; make it first`,
    );
  }
  let last: Promise<void> = Promise.resolve();
  return {
    deliver: (message, { key }) => {
      const line = `${JSON.stringify({ key, ...message })}\n`;
      const mine = last.then(() => append(path, line));
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}

async function append(path: string, line: string): Promise<void> {
  const file = await open(path, "a+", ownerOnly);
  try {
    const bytes = Buffer.from((await isCut(file)) ? `\n${line}` : line);
    const { bytesWritten } = await file.write(bytes); // one write: lines of several processes do not mix
    if (bytesWritten < bytes.length) throw new Error(`Only ${bytesWritten} of ${bytes.length} bytes fit into the file`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** J3. */
async function isCut(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== newline;
}
