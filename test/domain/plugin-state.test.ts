import fc from "fast-check";
import { expect, test } from "vitest";
import type { Command, ContextMessage } from "../../src/domain/command.ts";
import {
  afterSaying,
  type ContextSlot,
  contextSlot,
  isOffered,
  type StepChanges,
  saidIn,
  withChanges,
  withContext,
} from "../../src/domain/plugin-state.ts";

interface Said {
  readonly plugin?: string;
  readonly message: ContextMessage;
}

function withAll(slots: readonly ContextSlot[], given: readonly Said[]): readonly ContextSlot[] {
  return given.reduce((all, { plugin = "guard", message }) => withContext(all, contextSlot(plugin, message)), slots);
}

/** The texts said in each step from 1 to `steps`, if `given` is what plugins add before each of them. */
function texts(steps: number, given: (step: number) => readonly ContextMessage[]): string[][] {
  let slots: readonly ContextSlot[] = [];
  return Array.from({ length: steps }, (_, index) => {
    const step = index + 1;
    slots = withAll(
      slots,
      given(step).map((message) => ({ message })),
    );
    const said = saidIn(step, slots).map((slot) => slot.text);
    slots = afterSaying(step, slots);
    return said;
  });
}

/** The steps in which anything is said. */
function stepsOf(said: readonly (readonly string[])[]): number[] {
  return said.flatMap((each, index) => (each.length > 0 ? [index + 1] : []));
}

const note: ContextMessage = { key: "note", text: "Mind the gap." };

function inFirst(...messages: readonly ContextMessage[]): (step: number) => readonly ContextMessage[] {
  return (step) => (step === 1 ? messages : []);
}

test("a message is of the system, of priority 0, without cooldown and for one model call, unless it says otherwise", () => {
  expect(contextSlot("guard", note)).toStrictEqual({
    plugin: "guard",
    key: "note",
    text: "Mind the gap.",
    target: "system",
    priority: 0,
    cooldown: 0,
    persistent: false,
    once: false,
  });
});

test("messages are said by target, then priority, then plugin, then key, whoever came first", () => {
  const inOrder: readonly Said[] = [
    { plugin: "z", message: { key: "a", text: "1", priority: -1 } },
    { plugin: "a", message: { key: "z", text: "2" } },
    { plugin: "b", message: { key: "a", text: "3" } },
    { plugin: "b", message: { key: "b", text: "4" } },
    { plugin: "a", message: { key: "a", text: "5", priority: 10 } },
    { plugin: "a", message: { key: "a2", text: "6", target: "session", priority: 2 } },
    { plugin: "a", message: { key: "a3", text: "7", target: "session", priority: 11 } },
    { plugin: "a", message: { key: "a4", text: "8", target: "conversation", priority: -5 } },
    { plugin: "a", message: { key: "a5", text: "9", target: "suffix", priority: -9 } },
  ];
  const shuffled = fc.shuffledSubarray([...inOrder], { minLength: inOrder.length });
  const property = fc.property(shuffled, (given) => {
    const said = saidIn(1, withAll([], given));
    expect(said.map((slot) => slot.text).join("")).toBe("123456789");
  });
  fc.assert(property);
});

test("the same key of the same plugin is replaced, of another plugin it is another message", () => {
  const slots = withAll(
    [],
    [{ message: note }, { plugin: "other", message: note }, { message: { ...note, text: "New" } }],
  );
  expect(slots.map(({ plugin, text }) => `${plugin}: ${text}`)).toEqual(["other: Mind the gap.", "guard: New"]);
});

test("a message that is not persistent vanishes after it was said once", () => {
  expect(texts(4, inFirst(note))).toEqual([["Mind the gap."], [], [], []]);
});

test("a persistent message is said in every step", () => {
  expect(stepsOf(texts(4, inFirst({ ...note, persistent: true })))).toEqual([1, 2, 3, 4]);
});

test("a message that is consumed once vanishes after it was said, and needs not be called persistent", () => {
  expect(stepsOf(texts(4, inFirst({ ...note, consumeOnce: true })))).toEqual([1]);
  expect(stepsOf(texts(4, inFirst({ ...note, consumeOnce: true, persistent: true })))).toEqual([1]);
});

test.each([0, 1, 2, 5])("cooldown: %i leaves out exactly as many steps", (cooldown) => {
  const expected = [1, cooldown + 2, 2 * cooldown + 3];
  const steps = 2 * cooldown + 3;
  expect(stepsOf(texts(steps, inFirst({ ...note, persistent: true, cooldown })))).toEqual(expected);
  expect(stepsOf(texts(steps, () => [{ ...note, cooldown }]))).toEqual(expected); // repeated, like a reminder
  expect(stepsOf(texts(steps, () => [{ ...note, cooldown, consumeOnce: true }]))).toEqual(expected);
  expect(stepsOf(texts(steps, () => [{ ...note, cooldown, persistent: true }]))).toEqual(expected);
});

test("a changed text is said at once, whatever the cooldown, and cools down anew", () => {
  const changing = (step: number): ContextMessage[] => [{ ...note, text: step < 3 ? "Old" : "New", cooldown: 2 }];
  expect(texts(7, changing)).toEqual([["Old"], [], ["New"], [], [], ["New"], []]);
});

test("a reminder that its plugin has given up is not said when its cooldown is over", () => {
  const reminded = (step: number): ContextMessage[] => (step < 4 ? [{ ...note, cooldown: 3 }] : []);
  expect(stepsOf(texts(8, reminded))).toEqual([1]);
});

test("a message that is consumed once waits for its cooldown, and is said then", () => {
  const twice = (step: number): ContextMessage[] => (step < 3 ? [{ ...note, cooldown: 3, consumeOnce: true }] : []);
  expect(stepsOf(texts(9, twice))).toEqual([1, 5]);
});

test("nothing is left of messages that were said and have cooled down", () => {
  const slots = withAll(
    [],
    [{ message: { ...note, cooldown: 2 } }, { message: { ...note, key: "b", consumeOnce: true } }],
  );
  const first = afterSaying(1, slots);
  const second = afterSaying(2, first);
  expect([first.length, second.length, afterSaying(3, second).length]).toEqual([1, 1, 0]);
});

/** In words: said when it is wanted and has cooled down; how long it is wanted is what the kinds differ in. */
function expectedSteps(given: readonly boolean[], { cooldown = 0, persistent, consumeOnce }: ContextMessage): number[] {
  const said: number[] = [];
  let isWanted = false;
  for (const [index, isGiven] of given.entries()) {
    const isDue = said.length === 0 || index + 1 - (said.at(-1) as number) > cooldown;
    isWanted ||= isGiven;
    if (isWanted && isDue) said.push(index + 1);
    if (!persistent && !(consumeOnce && !isDue)) isWanted = false;
  }
  return said;
}

const kinds: readonly (readonly [string, Partial<ContextMessage>])[] = [
  ["for one model call", {}],
  ["persistent", { persistent: true }],
  ["consumed once", { consumeOnce: true }],
];

test.each(kinds)("whenever a plugin repeats a message that is %s, it is said as often as it may be", (_name, kind) => {
  const property = fc.property(fc.array(fc.boolean(), { maxLength: 20 }), fc.nat(4), (given, cooldown) => {
    const message = { ...note, ...kind, cooldown };
    const said = texts(given.length, (step) => (given[step - 1] ? [message] : []));
    expect(stepsOf(said)).toEqual(expectedSteps(given, message));
  });
  fc.assert(property, { numRuns: 300 });
});

function changesOf(...commands: readonly Command[]): StepChanges {
  return commands.reduce(withChanges, {});
}

function hide(...tools: readonly string[]): Command {
  return { type: "hide-tools", tools };
}

function restrict(...tools: readonly string[]): Command {
  return { type: "restrict-tools", tools };
}

test("of several restrictions what all of them name is left", () => {
  expect(changesOf(restrict("a", "b", "c"), restrict("c", "b", "d"))).toEqual({ only: ["b", "c"] });
  expect(changesOf(restrict("a"), restrict("b"))).toEqual({ only: [] });
  expect(changesOf(restrict())).toEqual({ only: [] });
});

test("what is hidden is everything that anybody hides, each tool once", () => {
  expect(changesOf(hide("a", "b"), hide("b", "c"))).toEqual({ hidden: ["a", "b", "c"] });
});

test("a tool is offered if nobody hides it and every restriction names it, in any order of commands", () => {
  const tools = ["a", "b", "c", "d"];
  const some = fc.subarray(tools);
  const command = fc.oneof(
    some.map((names) => hide(...names)),
    some.map((names) => restrict(...names)),
  );
  const property = fc.property(fc.array(command, { maxLength: 4 }), (commands) => {
    const isFree = (tool: string): boolean =>
      commands.every((each) => {
        if (each.type === "hide-tools") return !each.tools.includes(tool);
        return each.type !== "restrict-tools" || each.tools.includes(tool);
      });
    const expected = tools.filter(isFree);
    expect(tools.filter((tool) => isOffered(tool, changesOf(...commands)))).toEqual(expected);
    expect(tools.filter((tool) => isOffered(tool, changesOf(...commands.toReversed())))).toEqual(expected);
  });
  fc.assert(property, { numRuns: 300 });
});

test("settings are patched field by field, instructions as a whole, and the later one counts", () => {
  const first: Command = { type: "patch-request", instructions: "A", settings: { seed: 1, temperature: 0 } };
  const second: Command = { type: "patch-request", settings: { temperature: 1 } };
  expect(changesOf(first, second)).toEqual({
    instructions: "A",
    overrides: { settings: { seed: 1, temperature: 1 } },
  });
  expect(changesOf(first, { type: "patch-request", instructions: "" }).instructions).toBe("");
  expect(changesOf({ type: "patch-request" })).toEqual({});
});

test("other commands change nothing of a step", () => {
  const changes = changesOf(hide("a"));
  expect(withChanges(changes, { type: "stop", code: "x" })).toBe(changes);
});

test("an empty text takes back what the same key of the same plugin has said", () => {
  const said = withContext([], contextSlot("a", { key: "k", text: "hello", persistent: true }));
  expect(withContext(said, contextSlot("b", { key: "k", text: "" }))).toEqual(said);
  expect(withContext(said, contextSlot("a", { key: "k", text: "" }))).toEqual([]);
});
