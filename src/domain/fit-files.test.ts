import { expect, test } from "vitest";
import { withoutRoom } from "./fit-files.ts";
import type { MessageId } from "./ids.ts";
import type { Message } from "./message.ts";

const sized = (sizes: readonly number[]) =>
  sizes.map((bytes, at) => {
    const message: Message = { id: `m${at}` as MessageId, role: "user", parts: [], visibility: "all" };
    return { message, bytes };
  });

function outOf(sizes: readonly number[], most: number): readonly string[] {
  return [...withoutRoom(sized(sizes), most)].map(({ id }) => id).toSorted();
}

test("R1 R2 R3 as a conversation grows, what is left out changes seldom, and the newest stays", () => {
  const seen: (readonly string[])[] = [];
  for (let count = 1; count <= 60; count++) {
    const out = outOf(new Array<number>(count).fill(10), 100);
    expect(out).not.toContain(`m${count - 1}`);
    expect(count - out.length).toBeLessThanOrEqual(10);
    seen.push(out);
  }
  const moves = seen.filter((out, at) => at > 0 && String(out) !== String(seen[at - 1]));
  expect(moves.map(({ length }) => length)).toEqual([6, 12, 18, 24, 30, 36, 42, 48, 54]);
});

test.each([
  ["all that fit are carried", [40, 0, 60], []],
  ["half of what fits stays", [40, 0, 40, 30], ["m0", "m2"]],
  ["a message of more than half stays alone", [40, 40, 90], ["m0", "m1"]],
  ["one that does not fit alone takes no room from others", [40, 101, 60], ["m1"]],
] as const)("%s", (_, sizes, out) => {
  expect(outOf(sizes, 100)).toEqual(out);
});
