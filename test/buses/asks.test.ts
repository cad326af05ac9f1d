/** Who wants pieces says so, is believed for a while, and is forgotten. */
import { expect, test } from "vitest";
import { createAsked } from "../../src/buses/postgres-notify/asked.ts";
import { createAsking } from "../../src/buses/postgres-notify/asking.ts";
import { askPayloads } from "../../src/buses/postgres-notify/payloads.ts";
import { saidIn } from "../../src/buses/postgres-notify/said.ts";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import type { Wish } from "../../src/ports/bus.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";

const scope = "a" as Scope;
const run = "r1" as RunId;
const other = "r2" as RunId;

/** A process that asks and one that is asked, on one clock. */
function pair() {
  const clock = createFakeClock(0);
  const asked = createAsked(clock);
  const begun: Wish[] = [];
  const line = { isUp: true, sent: 0 };
  const asking = createAsking({
    clock,
    send(asks) {
      if (!line.isUp) return;
      for (const payload of askPayloads(asks, "me")) {
        line.sent += 1;
        const said = saidIn(payload, "you");
        if (said?.kind === "asks") begun.push(...asked.hear(said.from, said.asks));
      }
    },
  });
  return { clock, asked, asking, begun, line };
}

test("a wish is heard at once, holds while it is repeated, and ends soon after the asking does", async () => {
  const { clock, asked, asking, begun } = pair();
  const stop = asking.ask({ scope, run });
  await clock.advance(20);
  expect(begun).toHaveLength(1);
  await clock.advance(600_000);
  expect(asked.isWanted(scope, run)).toBe(true);
  expect(asked.isWanted(scope, other)).toBe(false);
  expect(asked.isWanted("b" as Scope, run)).toBe(false);
  expect(begun).toHaveLength(1); // a repeat is no new wish
  stop();
  await clock.advance(20_000);
  expect(asked.isWanted(scope, run)).toBe(false);
  expect(asked.isEmpty()).toBe(true);
  expect(clock.next()).toBeUndefined();
});

test("every new listener, a line that is back and a wish that was forgotten make writers begin again", async () => {
  const { clock, asking, begun, line } = pair();
  asking.ask({ scope, run });
  await clock.advance(20);
  const stop = asking.ask({ scope, run });
  await clock.advance(20);
  expect(begun).toHaveLength(2);
  stop();
  asking.ask({ scope, run });
  await clock.advance(20);
  expect(begun).toHaveLength(3);
  asking.repeat();
  expect(begun).toHaveLength(3);
  asking.renew();
  expect(begun).toHaveLength(4);
  line.isUp = false;
  await clock.advance(60_000);
  line.isUp = true;
  await clock.advance(5_000);
  expect(begun).toHaveLength(5);
});

test("a wish for all covers every run of its scope", async () => {
  const { clock, asked, asking } = pair();
  asking.ask({ scope });
  await clock.advance(20);
  expect(asked.isWanted(scope, other)).toBe(true);
  expect(asked.isWanted("b" as Scope, other)).toBe(false);
});

test("thousands who begin to watch at once are gathered, whatever their ids", async () => {
  const { clock, asked, asking, line } = pair();
  const runs = Array.from({ length: 2_000 }, (_, n) => `${"ü\\".repeat(20)}-${n % 500}` as RunId);
  for (const each of runs) asking.ask({ scope, run: each });
  await clock.advance(20);
  expect(line.sent).toBeLessThan(20);
  expect(runs.every((each) => asked.isWanted(scope, each))).toBe(true);
});

test("what is not a wish, a piece or a hint is not heard", () => {
  const stamp = [1, 1];
  const strange = [null, 1, "x", {}, { from: 1, told: [] }, { from: "x", told: "no" }, { from: "x", hello: "yes" }];
  for (const each of strange) expect(saidIn(JSON.stringify(each), "me")).toBeUndefined();
  const frames = [
    null,
    ["a", "r1"],
    ["a", "", "t", [["text", ...stamp, 0, "x"]]],
    ["a", "r1", "t\u0000", [["text", ...stamp, 0, "x"]]],
    [
      "a",
      "r1",
      "t",
      [
        ["text", 0, 1, 0, "x"],
        ["text", 1, 1.5, 0, "x"],
        ["text", ...stamp, -1, "x"],
        ["text", ...stamp, "0", "x"],
        ["text", ...stamp, 0, 7],
        ["input", ...stamp, 0, "x", -1, "tool"],
        ["input", ...stamp, 0, "x", 0],
        ["progress", ...stamp, 7, "x"],
        ["progress", ...stamp, "c", JSON.parse(`${"[".repeat(100)}${"]".repeat(100)}`)],
        ["message-appended", ...stamp, 0, "x"],
        "text",
      ],
    ],
  ];
  expect(saidIn(JSON.stringify({ from: "x", told: frames }), "me")).toEqual({ kind: "pieces", pieces: [] });
  const asks = [null, ["a"], ["a", 7, "1"], ["a", "r1", "x".repeat(65)], ["", "r1", "1"]];
  expect(saidIn(JSON.stringify({ from: "x", asks }), "me")).toEqual({ kind: "asks", from: "x", asks: [] });
  expect(saidIn(JSON.stringify({ from: "me", told: [] }), "me")).toBeUndefined();
});
