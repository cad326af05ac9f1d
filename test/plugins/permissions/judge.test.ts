/** What rules come to, against an evaluator so small that it can be read at a glance. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "../../../src/domain/json.ts";
import { type Behavior, type PermissionsOptions, permissionsSchema } from "../../../src/plugins/permissions/config.ts";
import { type Judged, judge, neverAllowed } from "../../../src/plugins/permissions/judge.ts";

type Rules = readonly (readonly [pattern: string, behavior: Behavior])[];

function read(options: PermissionsOptions): Parameters<typeof judge>[0] {
  const result = permissionsSchema["~standard"].validate(options);
  if (result instanceof Promise || result.issues) throw new Error(JSON.stringify(result));
  return result.value;
}

function judged(call: { tool: string; input?: JsonValue }, rules: Rules, otherwise: Behavior = "ask"): Judged {
  const given = rules.map(([tool, behavior]) => ({ tool, behavior }));
  return judge(read({ default: otherwise, rules: given }), { input: {}, ...call });
}

const toAda = 'pay(to = "ada")';
const rows: readonly (readonly [why: string, rules: Rules, input: JsonValue, expected: Behavior])[] = [
  ["no rule: the default", [], {}, "ask"],
  ["another tool's rule: the default", [["wipe", "allow"]], {}, "ask"],
  ["one rule", [["pay", "allow"]], {}, "allow"],
  [
    "a specific ask beats a broad allow",
    [
      ["*", "allow"],
      ["pay", "ask"],
    ],
    {},
    "ask",
  ],
  [
    "a specific ask beats a broad allow after it",
    [
      ["pay", "ask"],
      ["*", "allow"],
    ],
    {},
    "ask",
  ],
  [
    "a specific allow beats a broad ask",
    [
      ["*", "ask"],
      ["pay", "allow"],
    ],
    {},
    "allow",
  ],
  [
    "an input beats a name",
    [
      ["pay", "ask"],
      [toAda, "allow"],
    ],
    { to: "ada" },
    "allow",
  ],
  [
    "an input that does not fit is no rule",
    [
      ["pay", "ask"],
      [toAda, "allow"],
    ],
    { to: "bob" },
    "ask",
  ],
  [
    "two fields beat one",
    [
      [toAda, "allow"],
      ['pay(to ~ "a*", c ~ "*")', "ask"],
    ],
    { to: "ada", c: 5 },
    "ask",
  ],
  [
    "a text beats a glob",
    [
      ['pay(to ~ "a*")', "ask"],
      [toAda, "allow"],
    ],
    { to: "ada" },
    "allow",
  ],
  [
    "a glob beats a regular expression",
    [
      ["/pay/", "ask"],
      ["pa*", "allow"],
    ],
    {},
    "allow",
  ],
  [
    "equally specific: the stricter",
    [
      ["pay", "allow"],
      ["pay", "ask"],
    ],
    {},
    "ask",
  ],
  [
    "equally specific: the stricter, given first",
    [
      ["pay", "ask"],
      ["pay", "allow"],
    ],
    {},
    "ask",
  ],
  [
    "a broad deny beats a specific allow",
    [
      [toAda, "allow"],
      ["*", "deny"],
    ],
    { to: "ada" },
    "deny",
  ],
  [
    "a broad deny beats a specific ask",
    [
      ["/./", "deny"],
      ["pay", "ask"],
    ],
    {},
    "deny",
  ],
  [
    "a deny of another input is no rule",
    [
      ['pay(to = "bob")', "deny"],
      ["pay", "allow"],
    ],
    { to: "ada" },
    "allow",
  ],
];

test.each(rows)("%s", (...[, rules, input, expected]) => {
  expect(judged({ tool: "pay", input }, rules).behavior).toBe(expected);
});

const behaviors: readonly Behavior[] = ["allow", "ask", "deny"];

test.each(behaviors)("where no rule fits, the default %s counts, and any rule beats it", (otherwise) => {
  const alone = judged({ tool: "pay" }, [], otherwise);
  expect(alone.behavior).toBe(otherwise);
  expect(alone).not.toHaveProperty("rule");
  for (const said of behaviors) expect(judged({ tool: "pay" }, [["/pay/", said]], otherwise).behavior).toBe(said);
});

// From broad to narrow: a call that fits one of them fits all before it.
const ladder = ["/./", "p*", "pay", 'pay(to =~ "a")', 'pay(to ~ "a*")', toAda, 'pay(to = "ada", cents = "5")'];
const calls: readonly { tool: string; input: JsonValue; fits: number }[] = [
  { tool: "wipe", input: {}, fits: 1 },
  { tool: "print", input: {}, fits: 2 },
  { tool: "pay", input: { to: "bob" }, fits: 3 },
  { tool: "pay", input: { to: "eva" }, fits: 4 },
  { tool: "pay", input: { to: "amy" }, fits: 5 },
  { tool: "pay", input: { to: "ada", cents: 6 }, fits: 6 },
  { tool: "pay", input: { to: "ada", cents: 5 }, fits: 7 },
];

/** Of the rungs that fit: deny if one says so, else what the highest says, the stricter if it says two things. */
function reference(rungs: readonly (readonly [rung: number, said: Behavior])[], otherwise: Behavior): Behavior {
  if (rungs.some(([, said]) => said === "deny")) return "deny";
  const top = Math.max(...rungs.map(([rung]) => rung));
  const said = rungs.filter(([rung]) => rung === top).map(([, each]) => behaviors.indexOf(each));
  return said.length === 0 ? otherwise : (behaviors[Math.max(...said)] as Behavior);
}

test("J1–J3: any rules, in any order, come to what the reference says", () => {
  const behavior = fc.constantFrom(...behaviors);
  const rungs = fc.array(fc.tuple(fc.nat(ladder.length - 1), behavior), { maxLength: 12 });
  fc.assert(
    fc.property(rungs, behavior, fc.constantFrom(...calls), (given, otherwise, { fits, ...call }) => {
      const rules = given.map(([rung, said]) => [ladder[rung] as string, said] as const);
      const expected = reference(
        given.filter(([rung]) => rung < fits),
        otherwise,
      );
      expect(judged(call, rules, otherwise).behavior).toBe(expected);
      expect(judged(call, rules.toReversed(), otherwise).behavior).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});

test("the words name the rule and its reason, or the default", () => {
  const rules = [
    { tool: "pay", behavior: "ask", reason: "money leaves" },
    { tool: "wipe", behavior: "deny", reason: "never in production" },
    { tool: "print", behavior: "ask" },
    { tool: "w*", behavior: "deny" },
  ] as const;
  const say = (tool: string, otherwise: Behavior = "ask"): string =>
    judge(read({ default: otherwise, rules }), { tool, input: {} }).words;
  expect(say("pay")).toBe("May pay run? The rule pay asks: money leaves");
  expect(say("print")).toBe("May print run? The rule print asks");
  expect(say("look")).toBe("May look run? No rule is about this call, and the default is to ask");
  expect(say("wipe")).toBe("The rule wipe forbids this call: never in production");
  expect(say("write")).toBe("The rule w* forbids this call");
  expect(say("look", "deny")).toBe("No rule allows look");
});

test("only a deny that names one tool, whatever its input, makes it one that can never be called", () => {
  const denied = ["wipe", "drop(*)", 'pay(to = "bob")', "db_*", "/x/"];
  const rules = denied.map((tool) => ({ tool, behavior: "deny" as const }));
  const others = (["ask", "allow"] as const).map((behavior) => ({ tool: "look", behavior }));
  expect([...neverAllowed(read({ rules: [...rules, ...others] }))]).toEqual(["wipe", "drop"]);
});
