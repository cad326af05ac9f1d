/** Hooks that answer what is no command: refused with plugin, phase and place, at once or later, and nothing is applied. */
import { describe, expect, test } from "vitest";
import type { Phase } from "../../src/domain/phase.ts";
import { expectFailure } from "../plugins/matrix/failure.ts";
import { type Hooked, hookedIn, mark, play, pluginOf, total } from "../plugins/matrix/world.ts";
import { never } from "../scenarios/moments.ts";

const loneSurrogate = "a\ud800b";
const good = mark.set("marked");

const trap = (): never => {
  throw new Error("trapped");
};
const traps = { has: trap, ownKeys: trap, getPrototypeOf: trap };
/** Can be awaited, and nothing else. */
const sly = new Proxy({}, { get: (_target, key) => (key === "then" ? undefined : trap()), ...traps });
const slyList = new Proxy([], { get: (_target, key) => (key === "then" ? undefined : trap()) });

function aCycle(): object {
  const cycle: Record<string, unknown> = { type: "set-result" };
  cycle.value = [cycle];
  return cycle;
}

function folded(): unknown {
  let value: unknown = [1];
  for (let level = 0; level < 60; level += 1) value = [value, value];
  return value;
}

function words(length: number): readonly object[] {
  return Array.from({ length }, (_, index) => ({ type: "add-context", key: `k${index}`, text: "word" }));
}

const context = { type: "add-context", key: "k", text: "word" };

const wrong: Readonly<Record<string, readonly [() => unknown, RegExp]>> = {
  "a number": [() => 7, /commands\[0\]: must be a command/],
  false: [() => false, /commands\[0\]: must be a command/],
  "a word": [() => "stop", /commands\[0\]: must be a command/],
  "a function": [() => () => good, /commands\[0\]: not JSON at \$: a function/],
  "a symbol": [() => Symbol("s"), /commands\[0\]: not JSON at \$: a symbol/],
  "a list in a list": [() => [[good]], /commands\[0\]: must be a command/],
  "null beside a command": [() => [good, null], /commands\[1\]: must be a command/],
  "nothing beside a command": [() => [good, undefined], /commands\[1\]: must be a command/],
  "a promise beside a command": [
    () => [good, Promise.resolve(good)],
    /commands\[1\]: type: no command is called \(undefined\)/,
  ],
  "a record without a type": [() => ({}), /type: no command is called \(undefined\); they are set-state, /],
  "a type without end": [() => ({ type: "x".repeat(500_000) }), /type: no command is called x{100};/],
  "a field without end": [() => ({ ...good, ["x".repeat(500_000)]: 1 }), /commands\[0\]: x{100}: unknown field/],
  "an unknown type": [() => ({ type: "explode" }), /type: no command is called explode/],
  "a type of every object": [() => ({ type: "constructor" }), /type: no command is called constructor/],
  "a type that is a prototype": [() => JSON.parse('{ "type": "__proto__" }'), /no command is called __proto__/],
  "a type that is no word": [() => ({ type: { toString: "x" } }), /type: no command is called \(object\)/],
  "a Map": [() => new Map([["type", "stop"]]), /commands\[0\]: not JSON at \$: a Map/],
  "an error": [() => new Error("boom"), /commands\[0\]: not JSON at \$: a Error/],
  "a cycle": [aCycle, /commands\[0\]: not JSON at \$\.value\[0\]: a cycle/],
  "a BigInt": [() => ({ ...context, priority: 1n }), /not JSON at \$\.priority: a bigint/],
  Infinity: [
    () => ({ ...context, priority: Number.POSITIVE_INFINITY }),
    /not JSON at \$\.priority: the number Infinity/,
  ],
  "a getter that throws": [
    () => ({
      ...good,
      get value(): never {
        return trap();
      },
    }),
    /commands\[0\]: not JSON .*trapped/,
  ],
  "a toJSON that throws": [() => ({ ...good, toJSON: trap }), /commands\[0\]: not JSON .*trapped/],
  "a proxy that throws": [() => sly, /commands\[0\]: not JSON .*trapped/],
  "a list that throws": [() => slyList, /reading its answer threw: trapped/],
  "300 commands": [() => Array.from({ length: 300 }, () => total.update(1)), /300 commands at once, the limit is 256/],
  "100,000 context messages": [() => words(100_000), /100000 commands at once, the limit is 256/],
  "a list with a huge hole": [() => Object.assign([], { length: 50_000_000 }), /50000000 commands at once/],
  "an answer of 2 MiB": [() => ({ ...good, value: "x".repeat(2 ** 21) }), /commands\[0\]: not JSON .*bytes of JSON/],
  "a text of more than 16 KiB": [
    () => ({ ...context, text: "é".repeat(8 * 1024 + 1) }),
    /text: is longer than 16384 bytes/,
  ],
  "an empty key": [() => ({ ...context, key: "" }), /key: must be a non-empty string/],
  "a lone surrogate": [
    () => ({ ...context, text: loneSurrogate }),
    /commands\[0\]: not JSON at \$\.text: .*lone surrogate/,
  ],
  "a field with a lone surrogate": [
    () => ({ ...good, [loneSurrogate]: 1 }),
    /commands\[0\]: not JSON at \$: a key with a lone/,
  ],
  "a field that is missing": [() => ({ type: "stop" }), /commands\[0\]: code: must be a string/],
  "a field of the wrong type": [() => ({ type: "stop", code: 7 }), /commands\[0\]: code: must be a string/],
  "a field that nobody knows": [() => ({ ...good, colour: "red" }), /commands\[0\]: colour: unknown field/],
  "a field of every object": [() => ({ ...good, toString: "x" }), /commands\[0\]: toString: unknown field/],
  "an unknown target": [() => ({ ...context, target: "footer" }), /target: must be one of system, session/],
  "half a priority": [() => ({ ...context, priority: 0.5 }), /priority: must be a whole number/],
  "a negative cooldown": [() => ({ ...context, cooldown: -1 }), /cooldown: must be a whole number from 0/],
  "an unknown outcome": [() => ({ type: "stop", code: "x", outcome: "cancelled" }), /outcome: must be one of stopped/],
  "state with a value and an operand": [() => ({ ...good, operand: 1 }), /set-state: needs either value or operand/],
  "state with neither": [() => ({ type: "set-state", key: mark.name }), /set-state: needs either value or operand/],
  "a schedule for no phase": [() => ({ type: "schedule", phase: "someday", command: good }), /phase: is no phase/],
  "a schedule of no command": [
    () => ({ type: "schedule", phase: "before-end", command: 7 }),
    /command: must be a command/,
  ],
  "a schedule of a bad command": [
    () => ({ type: "schedule", phase: "before-end", command: { ...good, colour: "red" } }),
    /command: colour: unknown field/,
  ],
};

const phase: Phase = "before-run";

describe.each(Object.entries(wrong))("%s", (_what, [answer, says]) => {
  const ways: Readonly<Record<string, Hooked>> = { "at once": () => answer(), later: async () => answer() };
  test.each(Object.entries(ways))("%s", async (_way, hook) => {
    const first = hookedIn(phase, () => total.update(1), "first");
    const played = await play(phase, first, hookedIn(phase, hook));
    expectFailure(played, { phase, code: "command-refused", says: ["Plugin probe in before-run: "] });
    expect(played.result).toMatchObject({ error: { message: expect.stringMatching(says) } });
    const { message } = (played.result as { error: { message: string } }).error;
    expect(message.length).toBeLessThan(2_000);
  });
});

test("an answer that unfolds for ever", async () => {
  const played = await play(
    phase,
    hookedIn(phase, () => ({ ...good, value: folded() })),
  );
  expectFailure(played, { phase, code: "command-refused", says: ["commands[0]: not JSON", "more than 1048576 bytes"] });
});

function thenable(then: PropertyDescriptor): object {
  // biome-ignore lint/suspicious/noThenProperty: that is what is tried here
  return Object.defineProperty({}, "then", then);
}

const unawaitable: Readonly<Record<string, () => unknown>> = {
  "a then that throws when it is looked at": () => thenable({ get: trap }),
  "a then that throws when it is called": () => thenable({ value: trap }),
  "a then that rejects": () =>
    thenable({ value: (_taken: unknown, fail: (cause: unknown) => void) => fail(new Error("trapped")) }),
  "a revoked proxy": () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
};

test.each(Object.entries(unawaitable))("%s: the hook has failed", async (_what, answer) => {
  const played = await play(phase, hookedIn(phase, answer));
  expectFailure(played, { phase, code: "plugin-failed", says: ["Plugin probe failed in before-run: "] });
});

const said: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  null: () => null,
  "an empty list": () => [],
  "a promise of nothing": async () => undefined,
};

test.each(Object.entries(said))("%s is an answer", async (_what, answer) => {
  const { result, journal } = await play(phase, hookedIn(phase, answer));
  expect(result.outcome).toBe("completed");
  expect(journal.some((entry) => entry.type === "command-applied")).toBe(false);
});

const thrown: Readonly<Record<string, readonly [unknown, string]>> = {
  "an Error with a lone surrogate": [new Error(loneSurrogate), "a\ufffdb"],
  "an Error of 10 MB": [new Error("x".repeat(10_000_000)), "(10000000 characters)"],
  undefined: [undefined, "undefined"],
  "a symbol": [Symbol("s"), "Symbol(s)"],
  "a proxy that throws": [new Proxy({}, { get: trap, ...traps }), "cannot be shown"],
  "an error of ours": [Object.assign(new Error("mine"), { code: "run-ended" }), "mine"],
};

describe.each(Object.entries(thrown))("a hook that throws %s", (_what, [cause, words]) => {
  const ways: Readonly<Record<string, Hooked>> = {
    "at once": () => {
      throw cause;
    },
    later: () => Promise.reject(cause),
  };
  test.each(Object.entries(ways))("%s", async (_way, hook) => {
    const played = await play(phase, hookedIn(phase, hook));
    expectFailure(played, { phase, code: "plugin-failed", says: ["Plugin probe failed in before-run: ", words] });
  });
});

test("what a hook keeps and changes later is not what was taken", async () => {
  const bag = { type: "set-state" as const, key: mark.name, value: "marked" };
  const said = { type: "add-context" as const, key: "k", text: "kind words" };
  const list: unknown[] = [bag, said];
  const change = (): void => {
    bag.value = "changed";
    said.text = loneSurrogate;
    list.push({ type: "stop", code: "changed" });
  };
  for (const way of ["at once", "later"]) {
    bag.value = "marked";
    said.text = "kind words";
    list.length = 2;
    let isFirst = true;
    const hook: Hooked = () => {
      if (!isFirst) return undefined;
      isFirst = false;
      if (way === "at once") {
        queueMicrotask(change);
        return list;
      }
      const answer = Promise.resolve(list);
      answer.then(() => queueMicrotask(() => queueMicrotask(change))).catch(never);
      return answer;
    };
    const { result, journal, requests } = await play(phase, pluginOf({ "before-run": hook, "before-end": change }));
    expect(result.outcome).toBe("completed");
    expect(journal.find((entry) => entry.type === "state-changed")).toMatchObject({ change: { value: "marked" } });
    expect(requests[0]?.instructions).toBe("Act.\n\nkind words");
  }
});
