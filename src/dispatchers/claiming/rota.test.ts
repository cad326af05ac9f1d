import { expect, test } from "vitest";
import type { Scope } from "../../domain/ids.ts";
import { createRota } from "./rota.ts";

test("of 300,000 scopes the first one's time is told, and of none none", () => {
  const rota = createRota(1_000);
  expect(rota.next()).toBeUndefined();
  rota.replace(Array.from({ length: 300_000 }, (_, n) => ({ scope: `s${n}` as Scope, due: 1_000_000 - n })));
  expect(rota.next()).toBe(700_001);
});
