/**
 * Copies of a SQLite file under load, each of one instant: the writer stands still (SIGSTOP) while it is copied. It has
 * checkpointed once, before the load began, so that every later byte is in the WAL and a WAL that is cut anywhere is
 * something that a loss of power can leave behind.
 */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { startChild } from "../../scripts/processes/child.ts";
import { noted } from "../../scripts/processes/notes.ts";
import { freshDirectory } from "../stores/watched-store.ts";

export interface Acknowledged {
  readonly run: string;
  readonly head: number;
  /** Bytes of the WAL when it was said. */
  readonly wal: number;
}

export interface Copy {
  readonly path: string;
  readonly bytes: number;
  /** What had been acknowledged by then. */
  readonly acknowledged: readonly Acknowledged[];
}

/** The last one is what SIGKILL leaves. */
export async function copiesUnderLoad(count: number, how: "whole" | "split" = "whole"): Promise<readonly Copy[]> {
  const folder = freshDirectory();
  const child = startChild({ script: join(import.meta.dirname, "children/load-file.ts"), args: [folder, how] });
  onTestFinished(() => child.kill());
  await until(() => existsSync(join(folder, "ready")), child.exited);
  const copies: Copy[] = [];
  for (let n = 1; n <= count; n += 1) {
    await until(() => noted(join(folder, "acknowledged")).length > n * 150, child.exited);
    if (n < count) child.signal("SIGSTOP");
    else await child.kill();
    copies.push(copyOf(folder, n));
    child.signal("SIGCONT");
  }
  return copies;
}

function copyOf(folder: string, n: number): Copy {
  const from = join(folder, "runs.db");
  const path = join(folder, `copy-${n}.db`);
  copyFileSync(from, path);
  copyFileSync(`${from}-wal`, `${path}-wal`);
  return { path, bytes: readFileSync(`${path}-wal`).length, acknowledged: noted(join(folder, "acknowledged")) };
}

/** Another copy, whose WAL ends at this byte. */
export function cutAt({ path }: Copy, bytes: number): string {
  const cut = join(path, "..", "cut.db");
  copyFileSync(path, cut);
  writeFileSync(`${cut}-wal`, readFileSync(`${path}-wal`).subarray(0, bytes));
  return cut;
}

async function until(isSo: () => boolean, exited: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  exited.then(
    () => {
      hasEnded = true;
    },
    () => undefined,
  );
  while (!isSo()) {
    if (hasEnded) throw new Error("The process that writes has ended by itself");
    await delay(5);
  }
}
