/** Plugins that an agent cannot take: refused when it is defined, with agent, plugin, place and field, and all problems at once. */
import { expect, test } from "vitest";
import { z } from "zod";
import { type ConfiguredPlugin, plugin } from "../../src/domain/plugin.ts";
import { agent, isHoldfastError, stateKey, tool } from "../../src/index.ts";
import { aModelThat } from "../../src/testing/story.ts";

const { model } = aModelThat("Done.");
const look = tool({ name: "look", description: "Look", input: z.object({}), execute: () => "seen" });
const lookToo = tool({ name: "look", description: "Look", input: z.object({}), execute: () => "seen" });
const count = stateKey({ name: "count", schema: z.number(), initial: 0 });
const countToo = stateKey({ name: "count", schema: z.number(), initial: 0 });
const config = z.object({ most: z.number().int().min(1), words: z.array(z.string()).optional() });
const anything = z.any();
const loneSurrogate = "a\ud800b";

function trap(): never {
  throw new Error("trapped");
}

interface Given {
  readonly plugins?: unknown;
  readonly tools?: unknown;
}

/** What a caller without types may write. */
function define({ plugins, tools }: Given): ReturnType<typeof agent> {
  const given = { plugins, ...(tools === undefined ? {} : { tools }) } as { plugins: readonly ConfiguredPlugin[] };
  return agent({ name: "teller", instructions: "Tell.", model, ...given });
}

function problemsOf(given: Given): readonly string[] {
  try {
    define(given);
  } catch (error) {
    if (!isHoldfastError(error, "invalid-agent")) throw error;
    expect(error.message).toContain('Agent "teller" cannot be defined');
    return error.problems;
  }
  throw new Error("the agent was defined");
}

function make(options: unknown, ...given: readonly unknown[]): ConfiguredPlugin {
  return (plugin as (options: unknown) => (...given: readonly unknown[]) => ConfiguredPlugin)(options)(...given);
}

function aCycle(): object {
  const cycle: Record<string, unknown> = { most: 1 };
  cycle.again = { cycle };
  return cycle;
}

function folded(): unknown {
  let value: unknown = [1];
  for (let level = 0; level < 60; level += 1) value = [value, value];
  return value;
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

const promised = { "~standard": { version: 1, vendor: "test", validate: async (value: unknown) => ({ value }) } };
const throwing = { "~standard": { version: 1, vendor: "test", validate: trap } };

const wrong: readonly [string, () => Given, RegExp | readonly RegExp[]][] = [
  ["no list", () => ({ plugins: "guard" }), /^plugins: must be a list$/],
  ["a factory that was not called", () => ({ plugins: [plugin({ name: "guard" })] }), /^plugins\[0\].*add \(\)$/],
  ["nothing", () => ({ plugins: [undefined] }), /^plugins\[0\]: must come from plugin/],
  ["null", () => ({ plugins: [null] }), /^plugins\[0\]: must come from plugin/],
  ["a number", () => ({ plugins: [make({ name: "guard" }), 7] }), /^plugins\[1\]: must come from plugin/],
  ["its bare options", () => ({ plugins: [{ name: "guard" }] }), /^plugins\[0\]: must come from plugin/],
  [
    "a config that does not fit",
    () => ({ plugins: [make({ name: "guard", config }, { most: 0, words: [1] })] }),
    /^plugins\[0\]: the config of guard does not fit: .*\$\.most: .*\$\.words\.0: /,
  ],
  [
    "no config where one is needed",
    () => ({ plugins: [make({ name: "guard", config })] }),
    /^plugins\[0\]: the config of guard does not fit: \$\.most: /,
  ],
  [
    "a config that nobody asked for",
    () => ({ plugins: [make({ name: "guard" }, {})] }),
    /^plugins\[0\]: guard takes no config$/,
  ],
  [
    "a config schema that promises",
    () => ({ plugins: [make({ name: "guard", config: promised }, 1)] }),
    /^plugins\[0\]: the config schema of guard must be synchronous$/,
  ],
  [
    "a config schema that throws",
    () => ({ plugins: [make({ name: "guard", config: throwing }, 1)] }),
    /^plugins\[0\]: checking the config of guard threw: trapped$/,
  ],
  [
    "a config with a getter that throws",
    () => ({
      plugins: [
        make(
          { name: "guard", config: anything },
          {
            get most(): never {
              return trap();
            },
          },
        ),
      ],
    }),
    /^plugins\[0\]: checking the config of guard threw: trapped$/,
  ],
  [
    "a config that refers to itself",
    () => ({ plugins: [make({ name: "guard", config: anything }, aCycle())] }),
    /^plugins\[0\]: checking the config of guard threw: .*itself/,
  ],
  [
    "a config that unfolds for ever",
    () => ({ plugins: [make({ name: "guard", config: anything }, folded())] }),
    /^plugins\[0\]: checking the config of guard threw: .*too large/,
  ],
  [
    "a config of 100,000 levels",
    () => ({ plugins: [make({ name: "guard", config: anything }, nested(100_000))] }),
    /^plugins\[0\]: checking the config of guard threw: .*too large/,
  ],
  [
    "one plugin twice",
    () => ({ plugins: [make({ name: "guard" }), make({ name: "guard", version: "2" })] }),
    /^plugins\[1\]: the plugin guard is used twice$/,
  ],
  [
    "a dependency that is missing",
    () => ({ plugins: [make({ name: "guard", requires: ["rules"] })] }),
    /^plugins\[0\]: guard needs the plugin rules before it in the list$/,
  ],
  [
    "a dependency that comes too late",
    () => ({ plugins: [make({ name: "guard", requires: ["rules"] }), make({ name: "rules" })] }),
    /^plugins\[0\]: guard needs the plugin rules before it in the list$/,
  ],
  [
    "a plugin that needs itself",
    () => ({ plugins: [make({ name: "guard", requires: ["guard"] })] }),
    /^plugins\[0\]: guard needs the plugin guard before it/,
  ],
  [
    "a tool that the agent has",
    () => ({ tools: [look], plugins: [make({ name: "guard", tools: [lookToo] })] }),
    /^plugins\[0\] \(guard\): tools\[0\]: the name look is used twice$/,
  ],
  [
    "a tool that another plugin has",
    () => ({ plugins: [make({ name: "first", tools: [look] }), make({ name: "guard", tools: () => [lookToo] })] }),
    /^plugins\[1\] \(guard\): tools\[0\]: the name look is used twice$/,
  ],
  [
    "a tool that is none",
    () => ({ plugins: [make({ name: "guard", tools: [look, { name: "x" }] })] }),
    /^plugins\[0\] \(guard\): tools\[1\]: must come from tool/,
  ],
  [
    "null for a tool",
    () => ({ plugins: [make({ name: "guard", tools: [null] })] }),
    /^plugins\[0\] \(guard\): tools\[0\]: must come from tool/,
  ],
  [
    "tools that are no list",
    () => ({ plugins: [make({ name: "guard", tools: () => look })] }),
    /^plugins\[0\]: tools of guard must be a list$/,
  ],
  [
    "tools that throw",
    () => ({ plugins: [make({ name: "guard", tools: trap })] }),
    /^plugins\[0\]: tools of guard threw: trapped$/,
  ],
  [
    "a state key of another plugin's name",
    () => ({ plugins: [make({ name: "first", state: [count] }), make({ name: "guard", state: [countToo] })] }),
    /^plugin guard: the state key count is defined twice$/,
  ],
  [
    "context that is no list",
    () => ({ plugins: [make({ name: "guard", context: () => ({ key: "a", text: "b" }) })] }),
    /^plugins\[0\]: context of guard must be a list$/,
  ],
  [
    "context that throws",
    () => ({ plugins: [make({ name: "guard", context: trap })] }),
    /^plugins\[0\]: context of guard threw: trapped$/,
  ],
  [
    "context without words",
    () => ({ plugins: [make({ name: "guard", context: [{ key: "a", text: "b" }, { key: "c" }] })] }),
    /^plugins\[0\] \(guard\): context\[1\]: text: must be a string$/,
  ],
  [
    "context that is null",
    () => ({ plugins: [make({ name: "guard", context: [null] })] }),
    /^plugins\[0\] \(guard\): context\[0\]: /,
  ],
  [
    "context with a getter that throws",
    () => ({
      plugins: [
        make({
          name: "guard",
          context: [
            {
              key: "a",
              get text(): never {
                return trap();
              },
            },
          ],
        }),
      ],
    }),
    /^plugins\[0\] \(guard\): context\[0\]: .*trapped/,
  ],
  [
    "context with an unknown field",
    () => ({ plugins: [make({ name: "guard", context: [{ key: "a", text: "b", tone: "kind" }] })] }),
    /^plugins\[0\] \(guard\): context\[0\]: tone: unknown field; known are key, text, target,/,
  ],
  [
    "context with a lone surrogate",
    () => ({ plugins: [make({ name: "guard", context: [{ key: "a", text: loneSurrogate }] })] }),
    /^plugins\[0\] \(guard\): context\[0\]: .*lone surrogate/,
  ],
  [
    "context of 17 KiB",
    () => ({ plugins: [make({ name: "guard", context: [{ key: "a", text: "x".repeat(17 * 1024) }] })] }),
    /^plugins\[0\] \(guard\): context\[0\]: text: is longer than 16384 bytes$/,
  ],
  [
    "100,000 context messages",
    () => ({ plugins: [make({ name: "guard", context: words("a", 100_000) })] }),
    /^plugins\[0\] \(guard\): with it 100000 context messages, the limit is 256$/,
  ],
  [
    "more context messages of all plugins than a run may hold",
    () => ({
      plugins: [make({ name: "first", context: words("a", 200) }), make({ name: "guard", context: words("b", 57) })],
    }),
    /^plugins\[1\] \(guard\): with it 257 context messages, the limit is 256$/,
  ],
];

function words(key: string, length: number): readonly object[] {
  return Array.from({ length }, (_, index) => ({ key: `${key}${index}`, text: "word" }));
}

test.each(wrong)("%s", (_what, given, says) => {
  const problems = problemsOf(given());
  const expected = Array.isArray(says) ? (says as readonly RegExp[]) : [says as RegExp];
  expect(problems).toEqual(expected.map((each) => expect.stringMatching(each)));
});

test("one error names every problem of every plugin", () => {
  const plugins = wrong.slice(1, 13).flatMap(([, given]) => given().plugins as readonly unknown[]);
  const problems = problemsOf({ plugins });
  for (const place of plugins.keys()) {
    if (place === 3) continue; // the good one beside the number
    expect(problems.filter((problem) => problem.startsWith(`plugins[${place}]`)).length).toBeGreaterThan(0);
  }
});

test("one tool object, or one state key, may come from many", () => {
  const plugins = [make({ name: "first", state: [count] }), make({ name: "second", state: [count] })];
  expect(define({ plugins }).stateKeys).toEqual([count]);
});

test("what was checked is what is used: a config or words that change later change nothing", () => {
  const given = { most: 1, words: ["a"] };
  const said = [{ key: "a", text: "kind words" }];
  const made = make({ name: "guard", config: anything, context: said }, given);
  const [used] = define({ plugins: [made] }).plugins;
  given.most = 99;
  given.words.push("b");
  (said[0] as { text: string }).text = loneSurrogate;
  said.push({ key: "b", text: "more" });
  expect(used).toMatchObject({ config: { most: 1, words: ["a"] }, declared: { most: 1, words: ["a"] } });
  expect(used?.context).toEqual([{ key: "a", text: "kind words" }]);
  expect(used?.config).toSatisfy((own: { words: string[] }) => Object.isFrozen(own) && Object.isFrozen(own.words));
});

test("live things in a config stay what they are", () => {
  class Counter {
    count = 0;
  }
  const counter = new Counter();
  const meter = {
    count: 0,
    add(): void {
      this.count += 1;
    },
  };
  const [used] = define({ plugins: [make({ name: "guard", config: anything }, { counter, meter })] }).plugins;
  const live = used?.config as { counter: Counter; meter: typeof meter };
  live.counter.count += 1;
  live.meter.add();
  expect([counter.count, meter.count]).toEqual([1, 1]);
  expect(used?.declared).toEqual({ counter: "(code)", meter: { count: 0, add: "(code)" } });
});
