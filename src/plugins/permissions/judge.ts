/**
 * What the rules say of a call.
 *
 * J1 A rule that denies wins over every rule that does not, however specific that is.
 * J2 Otherwise the most specific rule that fits wins; of equally specific ones the stricter, then the first in the list.
 * J3 The default counts only where no rule fits.
 */
import type { JsonValue } from "../../domain/json.ts";
import { compareSpecificity } from "../shared/tool-pattern.ts";
import type { Behavior, PermissionsConfig, Rule } from "./config.ts";

export interface Judged {
  readonly behavior: Behavior;
  /** None when it is the default. */
  readonly rule?: Rule;
  /** Why, for the person who is asked or the model that is refused. */
  readonly words: string;
}

export interface JudgedCall {
  readonly tool: string;
  readonly input: JsonValue;
}

const strictness: Readonly<Record<Behavior, number>> = { allow: 0, ask: 1, deny: 2 };

export function judge({ rules, otherwise }: PermissionsConfig, call: JudgedCall): Judged {
  let best: Rule | undefined;
  for (const rule of rules) {
    if (rule.pattern.matches(call.tool, call.input) && (!best || beats(rule, best))) best = rule;
  }
  const behavior = best?.behavior ?? otherwise;
  return { behavior, ...(best ? { rule: best } : {}), words: wordsFor(call.tool, behavior, best) };
}

function beats(rule: Rule, best: Rule): boolean {
  const isDeny = Number(rule.behavior === "deny") - Number(best.behavior === "deny");
  if (isDeny !== 0) return isDeny > 0; // J1
  const bySpecificity = compareSpecificity(rule.pattern, best.pattern);
  return (bySpecificity || strictness[rule.behavior] - strictness[best.behavior]) > 0; // J2
}

function wordsFor(tool: string, behavior: Behavior, rule: Rule | undefined): string {
  const why = rule?.reason === undefined ? "" : `: ${rule.reason}`;
  if (behavior === "deny") {
    return rule ? `The rule ${rule.pattern.text} forbids this call${why}` : `No rule allows ${tool}`;
  }
  return rule
    ? `May ${tool} run? The rule ${rule.pattern.text} asks${why}`
    : `May ${tool} run? No rule is about this call, and the default is to ask`;
}

/** Tools that can never be called: a rule names them and denies, whatever the input is. */
export function neverAllowed({ rules }: PermissionsConfig): ReadonlySet<string> {
  const names = rules.flatMap(({ behavior, pattern }) =>
    behavior === "deny" && pattern.isUnconditional && pattern.exactTool !== undefined ? [pattern.exactTool] : [],
  );
  return new Set(names);
}
