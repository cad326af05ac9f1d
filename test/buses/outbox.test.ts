import { expect, test } from "vitest";
import { frameOf } from "../../src/buses/postgres-notify/frames.ts";
import type { CallId, RunId, Scope, ThreadId } from "../../src/domain/ids.ts";
import { type Desk, openDesk, scope, short, thread } from "./desk.ts";

function told(desk: Desk): readonly string[] {
  return desk.sent.flatMap(({ pieces }) => pieces.map(short));
}

function textOf(desk: Desk, run: string): string {
  let text = "";
  for (const { told: each, at } of desk.sent.flatMap(({ pieces }) => pieces)) {
    if (each.type !== "text-delta" || each.run !== run) continue;
    expect(at).toBe(text.length);
    text += each.text;
  }
  return text;
}

test("P1 a thousand pieces in a second go in ten notifications, the first at once, with all their text in order", async () => {
  const desk = openDesk();
  const writer = desk.writer("r1");
  let written = "";
  for (let n = 0; n < 1_000; n += 1) {
    written += `${n} `;
    writer.write({ type: "text-delta", text: `${n} ` });
    await desk.clock.advance(1);
  }
  await desk.clock.advance(200);
  expect(desk.sent[0]?.at).toBeLessThan(2);
  expect(desk.sent.filter(({ at }) => at < 1_000).length).toBeLessThanOrEqual(10);
  expect(desk.sent.length).toBeGreaterThan(9);
  for (const [n, { at }] of desk.sent.slice(1).entries()) expect(at - desk.sent[n]!.at).toBeGreaterThanOrEqual(100);
  expect(textOf(desk, "r1")).toBe(written);
});

test("P1 each run has a pace of its own, and runs that are due share notifications", async () => {
  const desk = openDesk();
  const writers = Array.from({ length: 50 }, (_, n) => desk.writer(`r${n}`));
  for (let ms = 0; ms < 1_000; ms += 10) {
    for (const writer of writers) writer.write({ type: "text-delta", text: "word " });
    await desk.clock.advance(10);
  }
  for (let n = 0; n < 50; n += 1) {
    const carrying = desk.sent.filter(
      ({ at, pieces }) => at < 1_000 && pieces.some(({ told: each }) => each.run === `r${n}`),
    );
    expect(carrying.length).toBeLessThanOrEqual(10);
    expect(carrying.length).toBeGreaterThan(8);
  }
  expect(desk.sent.length).toBeLessThan(50);
});

test("P1 a run that is due takes no other along before its time", async () => {
  const desk = openDesk();
  const writers = ["r1", "r2", "r3"].map((run) => desk.writer(run));
  for (let ms = 0; ms < 1_000; ms += 33) {
    for (const writer of writers) {
      writer.write({ type: "text-delta", text: "word " });
      await desk.clock.advance(11);
    }
  }
  for (const run of ["r1", "r2", "r3"]) {
    const times = desk.sent.filter(({ pieces }) => pieces.some(({ told: each }) => each.run === run));
    expect(times.length).toBeGreaterThan(8);
    for (const [n, { at }] of times.slice(1).entries()) expect(at - times[n]!.at).toBeGreaterThanOrEqual(100);
  }
});

test("P2 only what follows on each other is joined: the order of text, reasoning and tool input stays", async () => {
  const desk = openDesk();
  const writer = desk.writer("r1");
  writer.write({ type: "reasoning-delta", text: "H" });
  await desk.clock.advance(1);
  writer.write({ type: "reasoning-delta", text: "m" });
  writer.write({ type: "reasoning-delta", text: "m" });
  writer.write({ type: "text-delta", text: "a" });
  writer.write({ type: "text-delta", text: "b" });
  writer.write({ type: "reasoning-delta", text: "." });
  writer.write({ type: "tool-input-delta", index: 0, tool: "x", text: "{" });
  writer.write({ type: "tool-input-delta", index: 1, tool: "y", text: "[" });
  writer.write({ type: "tool-input-delta", index: 1, tool: "y", text: "]" });
  writer.write({ type: "tool-input-delta", index: 0, tool: "x", text: "}" });
  await desk.clock.advance(100);
  expect(told(desk)).toEqual([
    "reasoning 0 H",
    "reasoning 1 mm",
    "text 0 ab",
    "reasoning 3 .",
    "tool-input 0 {",
    "tool-input 0 []",
    "tool-input 1 }",
  ]);
  expect(desk.sent).toHaveLength(2);
});

test("P3 a retraction is sent, pieces that it takes back at once are not, and the next attempt follows it", async () => {
  const desk = openDesk();
  const first = desk.writer("r1", 1);
  first.write({ type: "text-delta", text: "one" });
  await desk.clock.advance(1);
  first.write({ type: "text-delta", text: " more" });
  first.retract();
  desk.writer("r1", 2).write({ type: "text-delta", text: "two" });
  await desk.clock.advance(100);
  expect(told(desk)).toEqual(["text 0 one", "retracted 1", "text 0 two"]);
});

test("P3 pieces of a message that has ended meanwhile are not sent", async () => {
  const desk = openDesk();
  const writer = desk.writer("r1");
  writer.write({ type: "text-delta", text: "one" });
  await desk.clock.advance(1);
  writer.write({ type: "text-delta", text: " two" });
  writer.end();
  await desk.clock.advance(500);
  expect(told(desk)).toEqual(["text 0 one"]);
  expect(desk.clock.next()).toBeUndefined(); // nothing goes on for ever
});

test("the newest progress of each call wins; one that is too large is left out", async () => {
  const desk = openDesk();
  const report = (call: string, progress: string): void =>
    desk.outbox.told(scope, {
      type: "tool-progress",
      run: "r1" as RunId,
      thread,
      step: 1,
      attempt: 1,
      call: call as CallId,
      progress,
    });
  report("c1", "begun");
  await desk.clock.advance(1);
  for (const progress of ["10 %", "20 %", "30 %"]) for (const call of ["c1", "c2"]) report(call, `${call} ${progress}`);
  report("c3", "x".repeat(5_000));
  await desk.clock.advance(100);
  expect(told(desk)).toEqual(['progress "begun"', 'progress "c1 30 %"', 'progress "c2 30 %"']);
});

test.each([
  ["plain", "once upon a time "],
  ["escaped", '"\\\n\u0000'],
  ["wide", "ü漢😀"],
])(
  "a long message of %s text is cut into notifications below 8,000 bytes, one in 100 ms, and loses nothing",
  async (_, word) => {
    const desk = openDesk();
    const text = word.repeat(3_000);
    desk.writer("r1").write({ type: "text-delta", text });
    await desk.clock.advance(20_000);
    expect(Math.max(...desk.sent.map(({ bytes }) => bytes))).toBeLessThan(8_000);
    expect(desk.sent.length).toBeGreaterThan(1);
    expect(textOf(desk, "r1")).toBe(text);
    for (const { pieces } of desk.sent) {
      for (const { told: each } of pieces) if (each.type === "text-delta") expect(each.text.isWellFormed()).toBe(true);
    }
  },
);

test("with the longest ids a notification still has room for text and progress", () => {
  const id = '"'.repeat(512);
  const subject = { scope: id as Scope, run: id as RunId, thread: id as ThreadId };
  const stamp = { step: 10_000, attempt: 10_000 };
  const call = `${'"'.repeat(512)}.10000.255` as CallId;
  const { text, rest } = frameOf(subject, [
    { kind: "progress", ...stamp, call, progress: "x".repeat(2_998) },
    { kind: "input", ...stamp, at: 0, text: "\u0001".repeat(2_000), index: 0, tool: '"'.repeat(298) },
  ]);
  expect(Buffer.byteLength(text)).toBeLessThan(7_500);
  expect(rest).toHaveLength(1);
  const next = frameOf(subject, rest);
  expect(Buffer.byteLength(next.text)).toBeLessThan(7_500);
  expect(next.text).toContain("input");
});

test("P4 who is asked begins again with everything, which is on its way only once however often it is asked", async () => {
  const desk = openDesk();
  const writer = desk.writer("r1");
  const text = "0123456789".repeat(2_000); // three notifications
  writer.write({ type: "text-delta", text });
  writer.write({ type: "reasoning-delta", text: "Hm" });
  for (let n = 0; n < 30; n += 1) {
    desk.outbox.begin({ scope, run: "r1" as RunId });
    await desk.clock.advance(10);
  }
  await desk.clock.advance(2_000);
  const begins = told(desk).filter((each) => each.startsWith("text 0 "));
  expect(begins.length).toBe(2);
  const end = desk.sent.flatMap(({ pieces }) => pieces).at(-1);
  expect(end && "text" in end.told && end.at + end.told.text.length).toBe(text.length);
});

test("P4 a wish for all reaches every run of the scope, and no other scope", async () => {
  const desk = openDesk();
  for (const run of ["r1", "r2"]) desk.unwanted.add(run);
  for (const run of ["r1", "r2"]) desk.writer(run).write({ type: "text-delta", text: run });
  await desk.clock.advance(100);
  expect(desk.sent).toEqual([]);
  desk.unwanted.clear();
  desk.outbox.begin({ scope: "other" as Scope });
  await desk.clock.advance(100);
  expect(desk.sent).toEqual([]);
  desk.outbox.begin({ scope });
  await desk.clock.advance(100);
  expect(told(desk)).toEqual(["text 0 r1", "text 0 r2"]);
});

test("P4 P5 without a line nothing is kept; when it is back the next piece brings everything", async () => {
  const desk = openDesk();
  const writer = desk.writer("r1");
  writer.write({ type: "text-delta", text: "one " });
  await desk.clock.advance(1);
  desk.line = "down";
  for (let n = 0; n < 1_000; n += 1) writer.write({ type: "text-delta", text: "lost " });
  await desk.clock.advance(1_000);
  expect(desk.sent).toHaveLength(1);
  expect(desk.clock.next()).toBeUndefined();
  desk.line = "up";
  writer.write({ type: "text-delta", text: "two" });
  await desk.clock.advance(100);
  expect(told(desk)).toEqual(["text 0 one ", `text 0 one ${"lost ".repeat(1_000)}two`]);
});

test("P5 a line that is stuck holds up nobody: what is told is joined, and a message too long is given up", async () => {
  const desk = openDesk();
  const writer = desk.writer("r1");
  desk.line = "stuck";
  for (let n = 0; n < 500; n += 1) {
    writer.write({ type: "text-delta", text: "a" });
    await desk.clock.advance(1);
  }
  expect(desk.sent).toHaveLength(1);
  writer.write({ type: "text-delta", text: "b".repeat(1_000_001) });
  writer.write({ type: "text-delta", text: "c" });
  desk.line = "up";
  await desk.clock.advance(1_000);
  expect(told(desk)).toEqual(["text 0 a", "text 1000501 c"]);
});
