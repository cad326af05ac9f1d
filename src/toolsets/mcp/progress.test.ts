import { expect, test } from "vitest";
import { createProgress } from "./progress.ts";

test("a server that tells every step is heard ten times a second at most, and its last word always", () => {
  const told: unknown[] = [];
  const tell = createProgress(
    (progress) => told.push(progress),
    (text) => text.replaceAll("key", "[secret]"),
  );
  const begun = performance.now();
  for (let progress = 1; progress <= 1_000; progress += 1) tell({ progress, total: 1_000, message: "a key" });
  const most = 2 + (performance.now() - begun) / 100;
  expect(told.length).toBeLessThanOrEqual(most);
  expect(told[0]).toEqual({ progress: 1, total: 1_000, message: "a [secret]" });
  expect(told.at(-1)).toMatchObject({ progress: 1_000 });
});
