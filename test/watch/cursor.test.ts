import fc from "fast-check";
import { expect, test } from "vitest";
import { readCursor, streamTag, writeCursor } from "../../src/domain/cursor.ts";
import { isHoldfastError } from "../../src/domain/errors.ts";
import { nodeHash } from "../../src/platform/node-hash.ts";

const tag = streamTag(nodeHash.sha256, ["default", "run", "r1"]);
const place = { position: 41, seq: 7 };

function isRefused(cursor: unknown, by: string = tag): boolean {
  try {
    readCursor(cursor, by);
    return false;
  } catch (cause) {
    return isHoldfastError(cause, "invalid-cursor");
  }
}

test("a cursor brings back exactly its place", () => {
  const number = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(number, number, (position, seq) => {
      expect(readCursor(writeCursor({ position, seq }, tag), tag)).toEqual({ position, seq });
    }),
  );
});

test("a cursor that has lost or gained any character is refused", () => {
  const cursor = writeCursor(place, tag);
  for (let length = 0; length < cursor.length; length += 1) expect(isRefused(cursor.slice(0, length))).toBe(true);
  for (const more of [" ", "0", "\n", "."]) expect(isRefused(`${cursor}${more}`)).toBe(true);
  expect(isRefused(` ${cursor}`)).toBe(true);
});

test("garbage of any type is refused by name, never by a crash", () => {
  fc.assert(fc.property(fc.anything(), (garbage) => isRefused(garbage)));
  fc.assert(fc.property(fc.string(), (garbage) => isRefused(garbage)));
  const numbers = ["-1.0", "1e3.0", "0x1.0", "99999999999999999.0", "1.5.0", "NaN.0"];
  for (const each of numbers) expect(isRefused(`${each}.${tag}`)).toBe(true);
});

test("streams of another run, filter or scope have another tag", () => {
  const subjects = [
    ["default", "run", "r1"],
    ["default", "run", "r2"],
    ["other", "run", "r1"],
    ["default", "many", "r1"],
    ["default", "run,r1"],
  ];
  const tags = subjects.map((subject) => streamTag(nodeHash.sha256, subject));
  expect(new Set(tags).size).toBe(subjects.length);
  for (const other of tags.slice(1)) expect(isRefused(writeCursor(place, tag), other)).toBe(true);
});
