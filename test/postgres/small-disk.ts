/** A small disk of its own, where the machine lets us mount one (root on Linux). */
import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly path: string;
  fill(): void;
  free(): void;
  unmount(): void;
}

export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const root = mkdtempSync(join(tmpdir(), "holdfast-small-disk-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", root]).status === 0;
  const ballast = join(root, "ballast");
  const path = join(root, "data");
  if (!isMounted || spawnSync("install", ["-d", "-o", "postgres", path]).status !== 0) {
    unmount();
    return undefined;
  }
  chmodSync(root, 0o755); // the server's own user must be able to pass

  function fill(): void {
    const file = openSync(ballast, "w");
    const block = Buffer.alloc(64 * 1024);
    try {
      for (;;) writeSync(file, block);
    } catch {
      closeSync(file); // no space left
    }
  }

  function unmount(): void {
    if (isMounted) spawnSync("umount", ["-l", root]);
    rmSync(root, { recursive: true, force: true });
  }

  return { path, fill, free: () => rmSync(ballast, { force: true }), unmount };
}
