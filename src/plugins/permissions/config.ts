/** What `permissions({ … })` takes, and every problem with it. */
import { Problems } from "../../domain/problems.ts";
import { configSchema } from "../shared/config-schema.ts";
import { parseToolPattern, type ToolPattern } from "../shared/tool-pattern.ts";

const behaviors = ["allow", "ask", "deny"] as const;
/** allow: the call runs · ask: a person decides · deny: the call does not run, and the model reads why */
export type Behavior = (typeof behaviors)[number];

export interface PermissionRule {
  /** A tool pattern: `refund`, `refund(cents ~ "9*")`, `db_*`, `/^(get|list)_/`. */
  readonly tool: string;
  readonly behavior: Behavior;
  /** Read by the person who is asked, or by the model that is refused. */
  readonly reason?: string;
}

export const rememberScopes = ["run", "thread"] as const;
export type RememberScope = (typeof rememberScopes)[number];
export const rememberedThings = ["tool", "input"] as const;
/** tool: whatever its input is · input: this tool with exactly this input */
export type RememberedThing = (typeof rememberedThings)[number];

export interface RememberOptions {
  /** How far an answer may reach; `["run"]` unless said. */
  readonly scopes?: readonly RememberScope[];
  /** What an answer may be about; `["tool", "input"]` unless said. */
  readonly what?: readonly RememberedThing[];
  /** The longest time that may be asked for; one day unless said. */
  readonly maxMs?: number;
  /** For how long, when the person does not say; one hour unless said, and never more than `maxMs`. */
  readonly defaultMs?: number;
}

export interface PermissionsOptions {
  /** For calls that no rule is about; `ask` unless said. */
  readonly default?: Behavior;
  readonly rules?: readonly PermissionRule[];
  /** What people may have remembered when they approve; nothing unless said. */
  readonly remember?: RememberOptions;
}

export interface Rule {
  readonly pattern: ToolPattern;
  readonly behavior: Behavior;
  readonly reason?: string;
}

export type Remember = Required<RememberOptions>;

export interface PermissionsConfig {
  readonly otherwise: Behavior;
  readonly rules: readonly Rule[];
  readonly remember?: Remember;
}

const mostRules = 1_000;
const longestReason = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const longestMs = 365 * dayMs;

export const permissionsSchema = configSchema<PermissionsOptions, PermissionsConfig>({
  known: ["default", "rules", "remember"],
  read({ default: otherwise = "ask", rules = [], remember }, problems) {
    problems.oneOf("default", behaviors);
    return {
      otherwise: otherwise as Behavior,
      rules: readRules(rules, problems),
      ...(remember === undefined ? {} : { remember: readRemember(remember, problems) }),
    };
  },
});

function readRules(rules: unknown, problems: Problems): readonly Rule[] {
  if (!Array.isArray(rules) || rules.length > mostRules) {
    problems.add(`rules: must be a list of at most ${mostRules} rules`);
    return [];
  }
  return rules.flatMap((rule: unknown, index) => {
    const inner = new Problems(rule, ["tool", "behavior", "reason"]);
    const read = readRule((rule ?? {}) as Partial<PermissionRule>, inner);
    problems.include(`rules[${index}]`, inner);
    return read ? [read] : [];
  });
}

function readRule({ tool, behavior, reason }: Partial<PermissionRule>, problems: Problems): Rule | undefined {
  const parsed = parseToolPattern(tool);
  if (!parsed.ok) problems.add(`tool: ${parsed.problem}`);
  problems.check(
    "behavior",
    (value) => behaviors.includes(value as Behavior),
    `must be one of ${behaviors.join(", ")}`,
  );
  problems.optional("reason", isReason, `must be a text of 1 to ${longestReason} characters`);
  if (!parsed.ok) return undefined;
  return { pattern: parsed.pattern, behavior: behavior as Behavior, ...(reason === undefined ? {} : { reason }) };
}

function isReason(reason: unknown): boolean {
  return typeof reason === "string" && reason !== "" && reason.length <= longestReason && reason.isWellFormed();
}

function readRemember(given: unknown, problems: Problems): Remember {
  const inner = new Problems(given, ["scopes", "what", "maxMs", "defaultMs"]);
  const { scopes = ["run"], what = rememberedThings, maxMs = dayMs, defaultMs } = (given ?? {}) as RememberOptions;
  inner.optional("scopes", someOf(rememberScopes), `must be a list of ${rememberScopes.join(", ")}`);
  inner.optional("what", someOf(rememberedThings), `must be a list of ${rememberedThings.join(", ")}`);
  inner.integer("maxMs", 1, longestMs);
  inner.integer("defaultMs", 1, Number.isInteger(maxMs) ? Math.min(maxMs, longestMs) : longestMs);
  problems.include("remember", inner);
  return { scopes, what, maxMs, defaultMs: defaultMs ?? Math.min(hourMs, maxMs) };
}

/** An empty list would be an option that does nothing: leaving `remember` out says the same. */
function someOf(allowed: readonly string[]): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && value.length > 0 && value.every((each) => allowed.includes(each));
}
