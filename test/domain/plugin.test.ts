import { expect, test } from "vitest";
import { z } from "zod";
import { type HoldfastError, isHoldfastError } from "../../src/domain/errors.ts";
import { type ConfiguredPlugin, type PluginOptions, type PluginRun, plugin } from "../../src/domain/plugin.ts";
import type { StandardSchema } from "../../src/domain/standard-schema.ts";
import { isStateKey, stateKey } from "../../src/domain/state-key.ts";
import { tool } from "../../src/domain/tool.ts";

const good = { name: "guard" };
const count = stateKey({ name: "count", schema: z.number(), initial: 0 });
const look = tool({ name: "look", description: "Look", input: z.object({}), execute: () => "seen" });
const run = {} as PluginRun;

/** What a caller without types may write. */
function define(options: unknown): (config?: unknown) => ConfiguredPlugin {
  return plugin(options as PluginOptions<StandardSchema>);
}

function refusalOf(options: unknown): HoldfastError {
  try {
    define(options);
  } catch (error) {
    if (isHoldfastError(error, "invalid-plugin")) return error;
    throw error;
  }
  throw new Error("the plugin was defined");
}

test("the smallest plugin is of version 1 and contributes nothing", () => {
  const made = plugin(good)();
  expect(made).toMatchObject({ name: "guard", version: "1", config: undefined });
  const { requires, state, tools, context, create } = made.code;
  expect({ requires, state, tools: tools({}), context: context({}), created: create({}, run) }).toEqual({
    requires: [],
    state: [],
    tools: [],
    context: [],
    created: {},
  });
  expect(made.code).not.toHaveProperty("config");
});

test("every option arrives where it is read", () => {
  const config = z.object({ most: z.number() });
  const words = [{ key: "rule", text: "Be kind." }];
  const instance = { close: () => undefined };
  const made = plugin({
    name: "guard",
    version: "2",
    config,
    requires: ["other"],
    state: [count],
    tools: [look],
    context: words,
    create: () => instance,
  })({ most: 3 });
  expect(made).toMatchObject({ name: "guard", version: "2", config: { most: 3 } });
  expect(made.code).toMatchObject({ config, requires: ["other"], state: [count] });
  expect(made.code.tools({ most: 3 })).toEqual([look]);
  expect(made.code.context({ most: 3 })).toBe(words);
  expect(made.code.create({ most: 3 }, run)).toBe(instance);
});

test("tools, context and code are made from the config where they are functions", () => {
  const config = z.object({ word: z.string() });
  const made = plugin({
    name: "guard",
    config,
    tools: ({ word }) => (word === "look" ? [look] : []),
    context: ({ word }) => [{ key: "word", text: word }],
    create: ({ word }) => ({ hooks: { "before-run": () => ({ type: "stop", code: word }) } }),
  })({ word: "look" });
  expect(made.code.tools({ word: "look" })).toEqual([look]);
  expect(made.code.context({ word: "look" })).toEqual([{ key: "word", text: "look" }]);
  const { hooks } = made.code.create({ word: "look" }, run);
  expect(hooks).toHaveProperty("before-run");
});

test("two configs of one factory are two plugins of one code", () => {
  const factory = plugin({ name: "guard", config: z.number() });
  const [one, two] = [factory(1), factory(2)];
  expect([one.config, two.config]).toEqual([1, 2]);
  expect(one.code).toBe(two.code);
});

test("a config is not checked before an agent takes the plugin: there every problem is named", () => {
  expect(define({ ...good, config: z.number() })("no number").config).toBe("no number");
});

test("undefined is the same as leaving an option out", () => {
  const names = ["version", "config", "requires", "state", "tools", "context", "create"];
  const left = Object.fromEntries(names.map((name) => [name, undefined]));
  expect(JSON.stringify(define({ ...good, ...left })())).toBe(JSON.stringify(plugin(good)()));
});

const wrong: readonly [string, unknown, string][] = [
  ["name", undefined, "name: must match"],
  ["name", "", "name: must match"],
  ["name", "my guard", "name: must match"],
  ["name", "x".repeat(65), "name: must match"],
  ["name", 7, "name: must match"],
  ["version", "", "version: must be a non-empty string"],
  ["version", 2, "version: must be a non-empty string"],
  ["config", { most: 3 }, "config: must be a Standard Schema"],
  ["config", null, "config: must be a Standard Schema"],
  ["requires", "other", "requires: must be a list of names"],
  ["requires", ["other", 7], "requires: must be a list of names"],
  ["requires", ["no name"], "requires: must be a list of names"],
  ["state", count, "state: must be a list of stateKey({ … })"],
  ["state", [count, { name: "count" }], "state: must be a list of stateKey({ … })"],
  ["state", [null], "state: must be a list of stateKey({ … })"],
  ["tools", look, "tools: must be a list of tool({ … }) or a function of the config"],
  ["context", "Be kind.", "context: must be a list of context messages or a function of the config"],
  ["create", {}, "create: must be a function (config, run)"],
];

test.each(wrong)("%s: %o is refused by name", (name, value, problem) => {
  const { problems } = refusalOf({ ...good, [name]: value });
  expect(problems).toEqual([expect.stringContaining(problem)]);
});

test("an unknown option is refused and the known ones are named", () => {
  const { problems } = refusalOf({ ...good, hooks: {} });
  expect(problems).toEqual([
    "hooks: unknown option; known are name, version, config, requires, state, tools, context, create",
  ]);
});

test("one error names every problem and the plugin", () => {
  const names = ["version", "config", "requires", "state", "tools", "context", "create"];
  const error = refusalOf({ name: "guard", ...Object.fromEntries(names.map((name) => [name, 7])) });
  expect(error.problems.map((problem) => problem.split(":")[0])).toEqual(names);
  expect(error.message).toContain('Plugin "guard" cannot be defined');
});

test.each([null, undefined, "guard", 7, [], () => 1])("%o is no options record", (options) => {
  expect(refusalOf(options).problems[0]).toMatch(/^options must be an object, got /);
});

test("only what stateKey made is a state key", () => {
  expect(isStateKey(count)).toBe(true);
  const strangers = [undefined, null, "count", {}, { name: "count", code: {} }, { code: count.code }];
  expect(strangers.filter(isStateKey)).toEqual([]);
});
