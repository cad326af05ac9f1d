import { describe, expect, test } from "vitest";
import { createRing, ringSize } from "../../src/runtime/ring.ts";

describe("a ring", () => {
  test("keeps the newest items under numbers that never change", () => {
    const ring = createRing<string>(3);
    expect(ring.head()).toBe(0);
    expect(ring.at(0)).toBeUndefined();
    for (const item of ["a", "b", "c", "d"]) ring.push(item);
    expect(ring.head()).toBe(4);
    expect([0, 1, 2, 3, 4].map((number) => ring.at(number))).toEqual([undefined, "b", "c", "d", undefined]);
    expect([0, 1, 2, 3, 4].map((number) => ring.lost(number))).toEqual([true, false, false, false, false]);
  });

  test("a reader exactly a ring behind has lost nothing, one item more and it has", () => {
    const ring = createRing<number>();
    for (let item = 0; item < ringSize; item += 1) ring.push(item);
    expect(ring.lost(0)).toBe(false);
    expect(ring.at(0)).toBe(0);
    ring.push(ringSize);
    expect(ring.lost(0)).toBe(true);
    expect(ring.at(0)).toBeUndefined();
    expect(ring.at(1)).toBe(1);
  });

  test("tells its listeners of every push until they leave, also while they are told", () => {
    const ring = createRing<number>();
    const heard: string[] = [];
    const offOnce = ring.onPush(() => {
      heard.push("once");
      offOnce();
    });
    const off = ring.onPush(() => heard.push("always"));
    ring.push(1);
    ring.push(2);
    off();
    ring.push(3);
    expect(heard).toEqual(["once", "always", "always"]);
  });
});
