import { expect, test } from "vitest";
import type { MessageDelta, MessagePartial, MessageRetracted, Told } from "../../src/domain/delta.ts";
import type { RunEvent } from "../../src/domain/event.ts";
import { type MessageId, modelEffectId, type RunId, type ThreadId } from "../../src/domain/ids.ts";
import { createLive } from "../../src/engine/live.ts";
import { createShown } from "../../src/runtime/shown.ts";

const run = "r.1" as RunId;
const thread = "t" as ThreadId;
const message = "r.1.2" as MessageId;

function piece(step: number, attempt: number): MessageDelta {
  return { type: "text-delta", run, thread, step, attempt, message, text: "x" };
}

function settled(step: number, attempt: number, kind: "done" | "lost"): RunEvent {
  const effect = modelEffectId(run, step);
  return { type: "effect-settled", run, thread, seq: 9, at: 0, effect, attempt, result: { kind } };
}

function attempts(retracted: readonly MessageRetracted[]): readonly string[] {
  return retracted.map(({ step, attempt }) => `${step}#${attempt}`);
}

const ended = { type: "run-ended", run, thread, seq: 10, at: 0 } as unknown as RunEvent;

test("an attempt that was shown and ends without its message is retracted, one with it is not", () => {
  const shown = createShown(false);
  expect(shown.show(piece(2, 1))).toBe(true);
  expect(attempts(shown.settle(settled(2, 1, "lost")))).toEqual(["2#1"]);
  expect(shown.show(piece(2, 2))).toBe(true);
  expect(shown.settle(settled(2, 2, "done"))).toEqual([]);
});

test("an end that is seen after the next attempt has begun still retracts the one before", () => {
  const shown = createShown(false);
  shown.show(piece(2, 1));
  shown.show(piece(2, 2));
  expect(attempts(shown.settle(settled(2, 1, "lost")))).toEqual(["2#1"]);
  expect(shown.settle(settled(2, 2, "done"))).toEqual([]);
});

test("pieces that come after the end of their attempt, a later one's or the run's are not shown", () => {
  const shown = createShown(false);
  expect(shown.settle(settled(2, 3, "done"))).toEqual([]);
  for (const [step, attempt] of [
    [2, 3],
    [2, 1],
    [1, 9],
  ] as const)
    expect(shown.show(piece(step, attempt))).toBe(false);
  expect(shown.show(piece(3, 1))).toBe(true);
  expect(attempts(shown.settle(ended))).toEqual(["3#1"]);
  expect(shown.show(piece(9, 9))).toBe(false);
});

test("who came back is told of every lost attempt, once; a tool's attempt is none", () => {
  const shown = createShown(true);
  expect(attempts(shown.settle(settled(2, 1, "lost")))).toEqual(["2#1"]);
  shown.show(piece(2, 2));
  expect(shown.retract({ ...piece(2, 2), type: "message-retracted" } as unknown as MessageRetracted)).toBe(true);
  expect(shown.settle(settled(2, 2, "lost"))).toEqual([]);
  expect(shown.settle({ ...settled(2, 1, "lost"), effect: "r.1.2.0" } as unknown as RunEvent)).toEqual([]);
});

test("live: a joiner gets text, reasoning and tool input so far; after the end a deaf writer is not heard", () => {
  const live = createLive();
  const told: Told[] = [];
  live.subscribe((_scope, each) => told.push(each));
  const scope = "default" as never;
  const writer = live.begin({ scope, run, thread, step: 2, attempt: 1 }, message);
  writer.write({ type: "text-delta", text: "He" });
  writer.write({ type: "reasoning-delta", text: "Hm" });
  writer.write({ type: "text-delta", text: "llo" });
  for (const text of ['{"n"', ":1}"]) writer.write({ type: "tool-input-delta", index: 0, tool: "echo", text });
  const partial: MessagePartial = {
    type: "message-partial",
    run,
    thread,
    step: 2,
    attempt: 1,
    message,
    text: "Hello",
    reasoning: "Hm",
    inputs: [{ index: 0, tool: "echo", text: '{"n":1}' }],
  };
  expect(live.partial(scope, run)).toEqual(partial);
  expect(live.partials(scope)).toEqual([partial]);
  expect(live.partials("other" as never)).toEqual([]);
  writer.retract();
  writer.retract();
  writer.write({ type: "text-delta", text: "still here" });
  expect(live.partial(scope, run)).toBeUndefined();
  expect(told.map(({ type }) => type)).toEqual([
    "text-delta",
    "reasoning-delta",
    "text-delta",
    "tool-input-delta",
    "tool-input-delta",
    "message-retracted",
  ]);
});
