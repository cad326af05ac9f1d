/** W5: a reader of another process's pieces over a line that loses, doubles and cuts shows a beginning of the truth, or nothing. */
import { expect, test } from "vitest";
import type { MessageDelta, MessagePartial } from "../../src/domain/delta.ts";
import type { MessageId, RunId, ThreadId } from "../../src/domain/ids.ts";
import { createFar } from "../../src/runtime/far.ts";
import { createRandom } from "../../src/testing/sim/random.ts";
import { openDesk, scope } from "../buses/desk.ts";

const run = "r1" as RunId;

function piece(attempt: number, text: string): MessageDelta {
  return { type: "text-delta", run, thread: "t" as ThreadId, step: 1, attempt, message: "r1.1" as MessageId, text };
}

function texts(shown: MessageDelta | MessagePartial | undefined): string | undefined {
  return shown && `${shown.type} ${"text" in shown ? shown.text : ""}`;
}

test("W5 shown from the beginning, first as a partial; what was shown is cut off; after a gap nothing", () => {
  const far = createFar();
  expect(far.take(piece(1, "llo"), 2)).toBeUndefined();
  expect(texts(far.take(piece(1, "He"), 0))).toBe("message-partial He");
  expect(texts(far.take(piece(1, "llo"), 2))).toBe("text-delta llo");
  expect(far.take(piece(1, "Hello"), 0)).toBeUndefined();
  expect(texts(far.take(piece(1, "Hello, you"), 0))).toBe("text-delta , you");
  expect(far.take(piece(1, "!"), 11)).toBeUndefined();
  expect(texts(far.take(piece(1, "r!"), 10))).toBe("text-delta r!");
});

test("W5 a new attempt begins anew, an older one is not shown, and one that was retracted is over", () => {
  const far = createFar();
  far.take(piece(2, "two"), 0);
  expect(far.take(piece(1, "one"), 0)).toBeUndefined();
  far.end({ ...piece(2, ""), type: "message-retracted" } as never);
  expect(far.take(piece(2, " more"), 3)).toBeUndefined();
  expect(far.take(piece(2, "two"), 0)).toBeUndefined();
  expect(texts(far.take(piece(3, "three"), 0))).toBe("message-partial three");
  far.clear();
  expect(texts(far.take(piece(3, "three"), 0))).toBe("message-partial three");
});

const lines = 100;

test(`W5 over ${lines} lines that lose, double and break: every text shown is a beginning of what was written`, async () => {
  let whole = 0;
  for (let seed = 0; seed < lines; seed += 1) whole += (await tell(`far ${seed}`)) ? 1 : 0;
  expect(whole).toBe(lines); // a line that is good again in the end makes up for what it lost
});

interface Texts {
  text: string;
  reasoning: string;
}

function show(screen: Texts, each: MessageDelta | MessagePartial | undefined): void {
  if (each?.type === "message-partial") Object.assign(screen, { text: each.text, reasoning: each.reasoning });
  if (each?.type === "text-delta") screen.text += each.text;
  if (each?.type === "reasoning-delta") screen.reasoning += each.text;
}

/** One message over a bad line. True when the reader had all of it in the end. */
async function tell(seed: string): Promise<boolean> {
  const random = createRandom(seed);
  const desk = openDesk();
  const far = createFar();
  const written: Texts = { text: "", reasoning: "" };
  const shown: Texts = { text: "", reasoning: "" };
  let heard = 0;
  const hear = (loss: number): void => {
    for (const { pieces } of desk.sent.slice(heard)) {
      const times = random.int(100) < loss ? random.int(2) * 2 : 1;
      for (const { told, at } of Array.from({ length: times }, () => pieces).flat()) {
        show(shown, far.take(told as MessageDelta, at));
        expect(written.text.startsWith(shown.text), seed).toBe(true);
        expect(written.reasoning.startsWith(shown.reasoning), seed).toBe(true);
      }
    }
    heard = desk.sent.length;
  };
  const writer = desk.writer("r1");
  for (let n = 0; n < 60; n += 1) {
    const kind = random.int(4) === 0 ? "reasoning" : "text";
    const text = `${n}${kind} `.repeat(1 + random.int(random.int(10) === 0 ? 2_000 : 10));
    written[kind] += text;
    writer.write({ type: `${kind}-delta`, text });
    desk.line = random.int(20) === 0 ? "down" : "up";
    if (random.int(15) === 0) desk.outbox.begin({ scope, run });
    if (random.int(25) === 0) far.clear();
    await desk.clock.advance(random.int(120));
    hear(20);
  }
  desk.line = "up";
  desk.outbox.begin({ scope, run }); // as after every loss that a process can notice
  await desk.clock.advance(60_000);
  hear(0);
  return shown.text === written.text && shown.reasoning === written.reasoning;
}
