/** After close() nothing keeps the process alive, also when a tool or a model never answers. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

for (const deaf of ["tool", "model"]) {
  test(`a process whose ${deaf} is deaf ends when its runtime is closed`, () => {
    const child = join(import.meta.dirname, "children", "deaf.ts");
    const args = ["--conditions=holdfast-source", child, deaf];
    const ended = spawnSync(process.execPath, args, { timeout: 20_000, encoding: "utf8" });
    expect([ended.signal, ended.status, ended.stderr]).toEqual([null, 0, ""]);
    expect(ended.stdout).toBe("closed\n");
  });
}
