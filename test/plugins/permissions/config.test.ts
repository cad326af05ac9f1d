/** What the plugin takes: a config that does not fit is refused with the agent, the plugin and the field. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { isHoldfastError } from "../../../src/domain/errors.ts";
import { agent } from "../../../src/index.ts";
import { parseToolPattern } from "../../../src/plugins/shared/tool-pattern.ts";
import { permissions } from "../../../src/plugins.ts";
import { scripted } from "../../../src/testing.ts";

const rule = { tool: "pay", behavior: "ask" };
const yearMs = 365 * 24 * 60 * 60_000;

/** What is wrong with it, for the agent "teller". */
function refusal(config: unknown): { message: string; problems: string } {
  try {
    agent({ name: "teller", instructions: "", model: scripted([]), plugins: [permissions(config as never)] });
  } catch (cause) {
    if (!isHoldfastError(cause, "invalid-agent")) throw cause;
    return { message: cause.message, problems: cause.problems.join("\n") };
  }
  return { message: "", problems: "" };
}

const bad: readonly (readonly [field: string, config: unknown])[] = [
  ["options must be an object", null],
  ["options must be an object", "allow"],
  ["options must be an object", [rule]],
  ["defaults: unknown option", { defaults: "ask" }],
  ["default: must be one of allow, ask, deny", { default: "maybe" }],
  ["default: must be one of", { default: null }],
  ["rules: must be a list", { rules: rule }],
  ["rules: must be a list", { rules: null }],
  ["rules: must be a list of at most 1000", { rules: Array.from({ length: 1_001 }, () => rule) }],
  ["rules[0].options must be an object", { rules: [null] }],
  ["rules[0].options must be an object", { rules: ["pay"] }],
  ["rules[1].scope: unknown option", { rules: [rule, { ...rule, scope: "thread" }] }],
  ["rules[0].tool: a tool pattern is a string", { rules: [{ behavior: "ask" }] }],
  ["rules[0].tool: ", { rules: [{ ...rule, tool: "" }] }],
  ["rules[0].tool: ", { rules: [{ ...rule, tool: "pay(" }] }],
  ["rules[0].tool: ", { rules: [{ ...rule, tool: "/(a+)\\1/" }] }],
  ["rules[0].behavior: must be one of", { rules: [{ tool: "pay" }] }],
  ["rules[0].behavior: must be one of", { rules: [{ tool: "pay", behavior: "block" }] }],
  ["rules[0].reason: must be a text", { rules: [{ ...rule, reason: "" }] }],
  ["rules[0].reason: must be a text", { rules: [{ ...rule, reason: 5 }] }],
  ["rules[0].reason: must be a text", { rules: [{ ...rule, reason: "\ud800" }] }],
  ["rules[0].reason: must be a text", { rules: [{ ...rule, reason: "x".repeat(1_001) }] }],
  ["remember.options must be an object", { remember: true }],
  ["remember.options must be an object", { remember: null }],
  ["remember.forMs: unknown option", { remember: { forMs: 5 } }],
  ["remember.scopes: must be a list of run, thread", { remember: { scopes: "run" } }],
  ["remember.scopes: must be a list of", { remember: { scopes: [] } }],
  ["remember.scopes: must be a list of", { remember: { scopes: ["run", "user"] } }],
  ["remember.what: must be a list of tool, input", { remember: { what: ["all"] } }],
  ["remember.what: must be a list of", { remember: { what: [] } }],
  ["remember.maxMs: must be a whole number from 1 to", { remember: { maxMs: 0 } }],
  ["remember.maxMs: must be a whole number", { remember: { maxMs: 1.5 } }],
  ["remember.maxMs: must be a whole number", { remember: { maxMs: yearMs + 1 } }],
  ["remember.maxMs: must be a whole number", { remember: { maxMs: "1d" } }],
  ["remember.defaultMs: must be a whole number from 1 to 10", { remember: { maxMs: 10, defaultMs: 11 } }],
  ["remember.defaultMs: must be a whole number from 1 to 86400000", { remember: { defaultMs: 86_400_001 } }],
  ["remember.defaultMs: must be a whole number", { remember: { defaultMs: 0 } }],
];

test.each(bad)("%s is said of %j, with the plugin and the agent", (field, config) => {
  const { message, problems } = refusal(config);
  expect(message).toContain('"teller"');
  expect(problems).toContain("the config of permissions does not fit");
  expect(problems).toContain(field);
});

test("every problem is named at once", () => {
  const { problems } = refusal({ default: "x", rules: [{ tool: "(", behavior: "y" }], remember: { maxMs: -1 } });
  for (const field of ["default:", "rules[0].tool:", "rules[0].behavior:", "remember.maxMs:"]) {
    expect(problems).toContain(field);
  }
});

test("what is at the border fits", () => {
  const rules = Array.from({ length: 1_000 }, () => ({ ...rule, reason: "x".repeat(1_000) }));
  const remember = { scopes: ["run", "thread"], what: ["tool", "input"], maxMs: yearMs, defaultMs: yearMs };
  for (const config of [undefined, {}, { rules }, { remember }, { remember: { maxMs: 1, defaultMs: 1 } }]) {
    expect(refusal(config)).toEqual({ message: "", problems: "" });
  }
});

test("two permissions in one agent are refused: one list of rules says it all", () => {
  const plugins = [permissions(), permissions()];
  expect(() => agent({ name: "teller", instructions: "", model: scripted([]), plugins })).toThrow();
});

test("every pattern on the page is one", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/how-to/permissions.md"), "utf8");
  const [, section = ""] = page.split("## Patterns");
  const patterns = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, text = ""]) => text.replaceAll("\\|", "|"));
  expect(patterns.length).toBeGreaterThan(5);
  const fields = ["remember", "what", "forMs"]; // the table after it
  for (const text of patterns.filter((each) => !fields.includes(each))) {
    expect([text, parseToolPattern(text).ok]).toEqual([text, true]);
  }
});
