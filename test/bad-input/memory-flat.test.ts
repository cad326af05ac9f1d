import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const megabyte = 1024 * 1024;

test("memory is flat after 10,000 bad calls", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-memory-"));
  try {
    const script = join(import.meta.dirname, "memory-flat-process.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--expose-gc",
      script,
      join(folder, "runs.db"),
      "10000",
    ]);
    const { made, heap } = JSON.parse(stdout) as { made: number; heap: number[] };
    expect(made).toBeGreaterThanOrEqual(10_000);
    // The first thousands warm up code and caches; after them a leak of 1 KB per call would be 7 MB.
    const [early = 0, late = 0] = [heap[2], heap.at(-1)];
    expect((late - early) / megabyte).toBeLessThan(3);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
