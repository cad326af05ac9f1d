/** Wishes that are not granted are logged, and what is remembered stays bounded. */
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../../src/domain/json.ts";
import type { DecisionView, Hook, PluginInstance, PluginRun } from "../../../src/domain/plugin.ts";
import type { Decision } from "../../../src/domain/ticket.ts";
import {
  type Answer,
  type Asked,
  mostRemembered,
  questionOf,
  withAnswer,
} from "../../../src/plugins/permissions/remembered.ts";
import { type PermissionsOptions, permissions } from "../../../src/plugins.ts";

const prompt = "May pay run? No rule is about this call, and the default is to ask";
const wish = { remember: "run", what: "input", forMs: 1_000 };

interface Heard {
  readonly said: unknown;
  readonly logged: readonly string[];
}

interface Heeding {
  readonly options?: PermissionsOptions;
  readonly decision?: Decision;
  readonly value?: JsonValue;
  readonly ticket?: object;
  readonly now?: number;
}

/** What the hook says to a decision at time 100 on a ticket of this plugin. */
function hear({ options = { remember: {} }, value = wish, decision, ticket = {}, now = 200 }: Heeding): Heard {
  const logged: string[] = [];
  const run = {
    agent: "teller",
    hash: JSON.stringify,
    log: (text: string) => logged.push(text),
  } as unknown as PluginRun;
  const { code, config: given } = permissions(options);
  const checked = code.config?.["~standard"].validate(given);
  const config = (checked as { value: unknown }).value;
  const hook = (code.create(config, run) as PluginInstance).hooks?.["on-decision"] as Hook<DecisionView>;
  const about = { id: "t", kind: "approval", prompt, plugin: "permissions", tool: "pay", input: {}, ...ticket };
  const state = { get: () => [] };
  const view = { config, run, ticket: about, decision: decision ?? { kind: "approve", value }, at: 100, now, state };
  return { said: hook(view as unknown as DecisionView), logged };
}

test("a wish that fits is a write, and logs nothing", () => {
  const { said, logged } = hear({});
  expect(said).toMatchObject({
    key: "permissions.run",
    value: [{ tool: "pay", what: "input", since: 100, until: 1_100 }],
  });
  expect(logged).toEqual([]);
});

test.each<[why: string, heeding: Heeding]>([
  ["forms: unknown; known are remember, what, forMs", { value: { ...wish, forms: 5 } }],
  ["remember: allowed are run", { value: { ...wish, remember: "thread" } }],
  ["remember: allowed are run", { value: { ...wish, remember: true } }],
  ["remember: allowed are run", { value: { ...wish, remember: null } }],
  ["what: allowed are tool, input", { value: { ...wish, what: "all" } }],
  ["what: allowed are tool", { options: { remember: { what: ["tool"] } } }],
  ["forMs: must be a whole number from 1 to 86400000", { value: { ...wish, forMs: 0 } }],
  ["forMs: must be a whole number from 1 to 86400000", { value: { ...wish, forMs: 86_400_001 } }],
  ["forMs: must be a whole number from 1 to 999", { options: { remember: { maxMs: 999 } } }],
  ["forMs: must be a whole number", { value: { ...wish, forMs: "1h" } }],
  ["forMs: must be a whole number", { value: { ...wish, forMs: 1.5 } }],
  ["the config of permissions has no remember", { options: {} }],
  ["the rules have changed since this was asked", { ticket: { prompt: "May pay run?" } }],
  ["the rules have changed since this was asked", { options: { default: "allow", remember: {} } }],
  ["its time is over already", { now: 1_100 }],
])("%s: the approval counts, nothing is remembered, and it is logged", (why, heeding) => {
  const { said, logged } = hear(heeding);
  expect(said).toBeUndefined();
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("Ticket t is approved, but nothing is remembered");
  expect(logged[0]).toContain(why);
});

test("a millisecond before its time is over it is still remembered", () => {
  expect(hear({ now: 1_099 }).said).toMatchObject({ type: "set-state" });
});

test.each<[what: string, heeding: Heeding]>([
  ["a ticket of the tool itself", { ticket: { plugin: undefined } }],
  ["a ticket of another plugin", { ticket: { plugin: "guard" } }],
  ["an edit", { decision: { kind: "edit", input: {} } }],
  ["a no", { decision: { kind: "reject", reason: "no" } }],
  ["an answer", { decision: { kind: "answer", value: wish } }],
  ["an approval without a value", { decision: { kind: "approve" } }],
  ["a value that is none of its business", { value: { note: "for the tool" } }],
  ["a list", { value: ["remember"] }],
  ["a text", { value: "remember" }],
  ["null", { value: null }],
])("P3: %s is not heard, and nothing is logged", (_what, heeding) => {
  expect(hear(heeding)).toEqual({ said: undefined, logged: [] });
});

test("R1: two inputs that share a short name are two questions", () => {
  // Each part alone is short enough that somebody could look for two inputs with the same one.
  const run = { agent: "teller", hash: ([part, about]: JsonValue[]) => (part === 1 ? "same" : JSON.stringify(about)) };
  const asked = (input: JsonValue): Asked => ({
    run: run as unknown as PluginRun,
    tool: "pay",
    input,
    judged: { behavior: "ask", words: prompt },
  });
  expect(questionOf(asked({ to: "ada" }), "input")).not.toBe(questionOf(asked({ to: "bob" }), "input"));
  expect(questionOf(asked({ to: "ada" }), "tool")).toBe(questionOf(asked({ to: "bob" }), "tool"));
});

describe("R3: what is kept", () => {
  const answer = (question: string, until: number): Answer => ({
    tool: "pay",
    what: "tool",
    question,
    since: 0,
    until,
    ticket: "t",
  });
  const names = (answers: readonly Answer[]): readonly string[] => answers.map(({ question }) => question);

  test("what is over is dropped when something is written, at its exact time", () => {
    const kept = [answer("a", 10), answer("b", 11), answer("c", 12)];
    expect(names(withAnswer(kept, answer("d", 20), 11))).toEqual(["c", "d"]);
    expect(names(withAnswer(kept, answer("d", 20), 9))).toEqual(["a", "b", "c", "d"]);
  });

  test("a new answer to the same question takes the place of the old one, also when it is shorter", () => {
    expect(withAnswer([answer("a", 50)], answer("a", 20), 0)).toEqual([answer("a", 20)]);
  });

  test("of too many those that end first are forgotten, never the new one", () => {
    const full = Array.from({ length: mostRemembered }, (_, index) => answer(`q${index}`, 1_000 + index));
    const kept = withAnswer(full, answer("new", 5), 0);
    expect(kept).toHaveLength(mostRemembered);
    expect(names(kept)).toContain("new");
    expect(names(kept)).not.toContain("q0");
    expect(names(kept)).toContain("q1");
  });

  test("as many as there may be fit into a state key", () => {
    const long = { ...answer("f".repeat(64), 9_999_999_999_999), tool: "t".repeat(64), ticket: "\u{1f600}".repeat(64) };
    const full = Array.from({ length: mostRemembered }, () => long);
    expect(Buffer.byteLength(JSON.stringify(full))).toBeLessThan(64 * 1024);
  });
});
