import { expect, test } from "vitest";
import { createLeapWatch } from "./leaps.ts";

test("P9 after a leap forward nothing is claimed for a lease; a leap back, a slow drift and lost time change nothing", () => {
  let now = 0;
  let monotonic = 0;
  const clock = { now: () => now, monotonic: () => monotonic, sleep: () => Promise.resolve() };
  const wait = createLeapWatch({ clock, leaseMs: 1_000 });
  const pass = (ms: number, leap = 0): number => {
    monotonic += ms;
    now += ms + leap;
    return wait();
  };
  expect(pass(60_000)).toBe(0); // frozen, or blocked
  expect(pass(10, 3_600_000)).toBe(1_000);
  expect(pass(400)).toBe(600);
  expect(pass(600)).toBe(0);
  expect(pass(10, -3_600_000)).toBe(0);
  for (let n = 0; n < 100; n += 1) expect(pass(1_000, 50)).toBe(0);
});
