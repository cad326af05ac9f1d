/** U1, U2, XA-36: overrides are checked whole and merged field by field. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import {
  mergeOverrides,
  type Overrides,
  overrideProblems,
  readOverrides,
  reasoningEfforts,
  saidTwice,
} from "../../src/domain/overrides.ts";

const bad: readonly (readonly [string, unknown, string])[] = [
  ["nothing of an object", 7, "options must be an object"],
  ["a list", [], "options must be an object"],
  ["an unknown field", { top_p: 1 }, "top_p: unknown option; known are model, temperature, maxOutputTokens, topP"],
  ["a model that is no text", { model: 7 }, "model: must be a route"],
  ["an empty model", { model: "" }, "model: must be a route"],
  ["a route without a model", { model: "acme/" }, "model: must be a route"],
  ["a route without a provider", { model: "/large" }, "model: must be a route"],
  ["blanks around it", { model: " large" }, "model: must be a route"],
  ["a name of 513 characters", { model: "m".repeat(513) }, "model: must be a route"],
  ["a lone surrogate", { model: "m\ud800" }, "model: must be a route"],
  ["a cold temperature", { temperature: -0.1 }, "temperature: must be a number from 0 to 100"],
  ["a temperature that is no number", { temperature: Number.NaN }, "temperature: must be a number from 0 to 100"],
  ["a temperature in words", { temperature: "hot" }, "temperature: must be a number"],
  ["more than everything", { topP: 1.1 }, "topP: must be a number from 0 to 1"],
  ["no tokens at all", { maxOutputTokens: 0 }, "maxOutputTokens: must be a whole number from 1"],
  ["half a token", { maxOutputTokens: 1.5 }, "maxOutputTokens: must be a whole number"],
  ["an effort that nobody knows", { reasoningEffort: "extreme" }, "reasoningEffort: must be one of none, minimal"],
  ["settings that are a list", { settings: [] }, "settings: must be an object"],
  ["settings that are no JSON", { settings: { a: 1n } }, "settings: is not JSON at"],
  ["one thing by two names", { topP: 1, settings: { top_p: 0.5 } }, "settings.top_p: is said as topP already"],
];
test.each(bad)("XA-36 %s is refused by name", (_what, value, problem) => {
  expect(overrideProblems(value).found.join("; ")).toContain(problem);
});

test("every problem is named at once", () => {
  expect(overrideProblems({ model: "", temperature: -1, topP: 2, maxOutputTokens: 0, more: 1 }).count).toBe(5);
});

test("what nothing is said in says nothing, and what was given is copied", () => {
  expect(readOverrides(undefined)).toBeUndefined();
  expect(readOverrides({ temperature: undefined, settings: {} })).toBeUndefined();
  const settings: JsonObject = { seed: 1 };
  const read = readOverrides({ settings });
  Object.assign(settings, { seed: 2 });
  expect(read).toEqual({ settings: { seed: 1 } });
});

test("U2 a field takes the provider's name for it out of earlier settings, and the other way round", () => {
  const named: Overrides = { temperature: 0.5, topP: 0.5, reasoningEffort: "low" };
  const vendor: Overrides = { settings: { temperature: 1, top_p: 1, reasoning_effort: "high", seed: 7 } };
  expect(mergeOverrides(vendor, named)).toEqual({ ...named, settings: { seed: 7 } });
  expect(mergeOverrides(named, vendor)).toEqual(vendor);
});

const settings = fc.dictionary(
  fc.constantFrom("temperature", "topP", "top_p", "reasoning", "reasoning_effort", "seed", "__proto__"),
  fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
  { maxKeys: 4 },
);
const drawn: fc.Arbitrary<Overrides> = fc
  .record(
    {
      model: fc.constantFrom("a/x", "y"),
      temperature: fc.constantFrom(0, 0.5, 1),
      maxOutputTokens: fc.integer({ min: 1, max: 9 }),
      topP: fc.constantFrom(0, 0.5, 1),
      reasoningEffort: fc.constantFrom(...reasoningEfforts),
      settings: settings as fc.Arbitrary<JsonObject>,
    },
    { requiredKeys: [] },
  )
  .filter((overrides) => saidTwice(overrides) === undefined);

/** What is said in the end of one thing, worked out by hand: the last layer that says it by any of its names. */
const names: Readonly<Record<string, readonly string[]>> = {
  model: [],
  temperature: ["temperature"],
  maxOutputTokens: [],
  topP: ["topP", "top_p"],
  reasoningEffort: ["reasoningEffort", "reasoning_effort", "reasoning"],
};
function says(field: string, { settings = {}, ...fields }: Overrides): boolean {
  return Object.hasOwn(fields, field) || (names[field] ?? []).some((name) => Object.hasOwn(settings, name));
}
function lastField(field: string, layers: readonly Overrides[]): unknown {
  const layer = layers.findLast((each) => says(field, each)) as Readonly<Record<string, unknown>> | undefined;
  return layer?.[field];
}

describe("U1 XA-36 of any layers", () => {
  const layers = fc.array(drawn, { maxLength: 5 });
  const merged = (all: readonly Overrides[]): Overrides => all.reduce(mergeOverrides, {});

  test("each field is the last word on it", () => {
    fc.assert(
      fc.property(layers, (all) => {
        const whole = merged(all) as Readonly<Record<string, unknown>>;
        for (const field of Object.keys(names)) expect(whole[field]).toEqual(lastField(field, all));
      }),
      { numRuns: 500 },
    );
  });

  test("each setting is the last word on it, unless the same was said since by another name", () => {
    fc.assert(
      fc.property(layers, (all) => {
        const { settings: whole = {} } = merged(all);
        for (const name of new Set(all.flatMap(({ settings: own = {} }) => Object.keys(own)))) {
          const field = Object.keys(names).find((each) => names[each]?.includes(name));
          const at = all.findLastIndex(({ settings: own = {} }) => Object.hasOwn(own, name));
          const isTaken = field !== undefined && all.slice(at + 1).some((each) => says(field, each));
          expect(Object.hasOwn(whole, name)).toBe(!isTaken);
          if (!isTaken) expect(whole[name]).toEqual(all[at]?.settings?.[name]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("how they are put together changes nothing, and nothing is said twice", () => {
    fc.assert(
      fc.property(drawn, drawn, drawn, (a, b, c) => {
        const one = mergeOverrides(mergeOverrides(a, b), c);
        expect(mergeOverrides(a, mergeOverrides(b, c))).toEqual(one);
        expect(saidTwice(one)).toBeUndefined();
        expect(overrideProblems(one).found).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
