/** P1–P5 of fit-context.ts, on conversations of every shape. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Candidates,
  estimated,
  fitContext,
  measured,
  missingOf,
  type Room,
} from "../../src/domain/fit-context.ts";
import type { CallId, MessageId, RunId } from "../../src/domain/ids.ts";
import type { Message, Part } from "../../src/domain/message.ts";
import { sentOf } from "../../src/domain/sent-context.ts";

const size = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 100, max: 9_000 }));
const turn = fc.oneof(
  fc.record({ kind: fc.constant("user" as const), size }),
  fc.record({ kind: fc.constant("says" as const), size }),
  fc.record({ kind: fc.constant("calls" as const), sizes: fc.array(size, { minLength: 1, maxLength: 5 }) }),
);
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

function message(id: string, role: Message["role"], parts: readonly Part[]): Message {
  return { id: id as MessageId, role, parts, visibility: "all" };
}

function text(size: number): Part {
  return { type: "text", text: "word ".repeat(Math.ceil(size / 5)) };
}

function messagesOf(turn: Turn, at: number): readonly Message[] {
  if (turn.kind === "user") return [message(`m${at}`, "user", [text(turn.size)])];
  if (turn.kind === "says") return [message(`m${at}`, "assistant", [text(turn.size)])];
  const calls = turn.sizes.map((_, index) => `run.${at}.${index}` as CallId);
  const input = { kind: "json", value: {} } as const;
  const asked = calls.map((call): Part => ({ type: "tool-call", call, tool: "read", input }));
  const results = turn.sizes.map((size, index) => {
    const call = calls[index] as CallId;
    const result = { kind: "value", value: "x\n".repeat(Math.ceil(size / 2)) } as const;
    return message(`${call}.result`, "tool", [{ type: "tool-result", call, tool: "read", result }]);
  });
  return [message(`m${at}`, "assistant", asked), ...results];
}

const conversations = fc.array(turn, { minLength: 1, maxLength: 60 }).map((turns): Candidates => {
  const messages = [message("asked", "user", [text(40)]), ...turns.flatMap(messagesOf)];
  const all = { run: "run" as RunId, messages, mark: undefined, pinned: [], length: messages.length, isCut: false };
  return measured({ ...all, input: messages.slice(0, 1) });
});

const rooms = fc.record({
  tokens: fc.integer({ min: 300, max: 8_000 }),
  messages: fc.integer({ min: 8, max: 60 }),
  fixed: fc.integer({ min: 0, max: 100 }),
  ratio: fc.constantFrom(0.5, 1, 1.7),
  history: fc.record({
    recent: fc.integer({ min: 1, max: 12 }),
    resultTokens: fc.constantFrom(64, 500, 2_048),
  }),
}) satisfies fc.Arbitrary<Room>;

function callsIn(messages: readonly Message[], type: "tool-call" | "tool-result"): readonly string[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === type ? [part.call] : [])));
}

/** The conversation as it is after the fit, as the next step finds it. */
function after(candidates: Candidates, fit: ReturnType<typeof fitContext>): Candidates {
  if (fit.kind !== "moved") return candidates;
  const from = candidates.messages.findIndex(({ id }) => id === fit.mark.from);
  const messages = candidates.messages.slice(from);
  const pinned = candidates.input.filter(({ id }) => !messages.some((each) => each.id === id));
  return measured({ ...candidates, messages, mark: fit.mark, pinned, isCut: false });
}

test("P1 P2 P3 P5 whatever the conversation is: what is sent fits, whole, with the input and the present step, each with a reason", () => {
  const property = fc.property(conversations, rooms, (candidates, room) => {
    const fit = fitContext(candidates, room);
    if (fit.kind === "too-large") return;
    const next = after(candidates, fit);
    const sent = sentOf(next);
    expect(estimated(next, room)).toBe(fit.tokens); // P1
    expect(fit.tokens).toBeLessThanOrEqual(room.tokens);
    expect(next.messages.length).toBeLessThanOrEqual(room.messages);
    expect(callsIn(sent, "tool-result").toSorted()).toEqual(callsIn(sent, "tool-call").toSorted()); // P2
    const ids = sent.map(({ id }) => id);
    expect(ids).toContain("asked"); // P3
    expect(ids).toContain(candidates.messages.at(-1)?.id);
    if (fit.kind !== "moved") return;
    expect(fit.decisions.map((each) => each.message)).toEqual(candidates.messages.map(({ id }) => id)); // P5
    const left = fit.decisions.filter(({ reason }) => reason === "left-out").map((each) => each.message);
    expect(candidates.messages.filter(({ id }) => !ids.includes(id)).map(({ id }) => id)).toEqual(left);
  });
  fc.assert(property, { numRuns: 2_000 });
});

test("P1 only what cannot be made to fit is refused: the input and the present step alone are too much", () => {
  const property = fc.property(conversations, rooms, (candidates, room) => {
    const fit = fitContext(candidates, room);
    fc.pre(fit.kind === "too-large");
    const last = candidates.messages.at(-1);
    const step = candidates.messages.slice(candidates.messages.findLastIndex(({ role }) => role !== "tool"));
    const least = measured({ ...candidates, messages: last?.role === "tool" ? step : candidates.messages.slice(-1) });
    const mark = { from: (least.messages[0] as Message).id, before: 1, ratio: 1, shortened: step.map(({ id }) => id) };
    const isTooMuch = estimated(measured({ ...least, mark, pinned: candidates.input }), room) > room.tokens;
    expect(isTooMuch || least.messages.length > room.messages).toBe(true);
  });
  fc.assert(property, { numRuns: 300 });
});

test("P4 after a move the next one is far away: it fits again, and a quarter of the room is free unless recent messages need it", () => {
  const property = fc.property(conversations, rooms, (candidates, room) => {
    const fit = fitContext(candidates, room);
    fc.pre(fit.kind === "moved");
    const next = after(candidates, fit);
    expect(fitContext(next, room).kind).toBe("fits");
    const isFree =
      fit.kind === "moved" && fit.tokens <= room.tokens * 0.75 && next.messages.length <= room.messages * 0.75;
    const reasons = fit.kind === "moved" ? fit.decisions.map(({ reason }) => reason) : [];
    expect(isFree || !reasons.includes("fits")).toBe(true);
  });
  fc.assert(property, { numRuns: 1_000 });
});

/** The whole conversation is what a fork was asked with. */
const forks = conversations.map((candidates) => measured({ ...candidates, input: candidates.messages }));

test("P1 P2 of a fork, whose input is a conversation with calls and results: none is parted from the other", () => {
  const property = fc.property(forks, rooms, (candidates, room) => {
    const fit = fitContext(candidates, room);
    if (fit.kind === "too-large") return;
    const from = fit.kind === "moved" ? candidates.messages.findIndex(({ id }) => id === fit.mark.from) : 0;
    const messages = candidates.messages.slice(from);
    const mark = fit.kind === "moved" ? fit.mark : undefined;
    const next = measured({ ...candidates, messages, mark, pinned: missingOf(candidates.input, messages) });
    expect(estimated(next, room)).toBe(fit.tokens);
    const sent = sentOf(next);
    expect(callsIn(sent, "tool-result").toSorted()).toEqual(callsIn(sent, "tool-call").toSorted());
  });
  fc.assert(property, { numRuns: 300 });
});
