/**
 * Permissions: rules that say which tool calls run, which a person decides, and which are refused.
 *
 * P1 A refused call is a result that the model reads; the run goes on.
 * P2 Rules are read from the config of the process at hand, never from state: a rule that was removed has no effect on old
 *    threads, and one that denies by now holds for calls that were approved before it.
 * P3 Only an approval of a question that this plugin asked is remembered, and only when it asks the same by now.
 * P4 It never lets through what somebody else holds: a tool's own approval rule and other plugins are asked as ever.
 */
import type { Command } from "../../domain/command.ts";
import {
  type CallPhaseView,
  type ConfiguredPlugin,
  type DecisionView,
  type Hooks,
  type PhaseView,
  plugin,
} from "../../domain/plugin.ts";
import { type PermissionsConfig, type PermissionsOptions, permissionsSchema } from "./config.ts";
import { type Judged, judge, neverAllowed } from "./judge.ts";
import { answerKeys, isRemembered, questionOf, withAnswer } from "./remembered.ts";
import { type RememberWish, readWish } from "./wish.ts";

const name = "permissions";

const define = plugin({
  name,
  config: permissionsSchema,
  state: Object.values(answerKeys),
  create: (config) => ({ hooks: hooksFor(config) }),
});

/** Rules for tool calls: most specific wins, an explicit deny always. */
export function permissions(options: PermissionsOptions = {}): ConfiguredPlugin {
  return define(options);
}

function hooksFor(config: PermissionsConfig): Hooks<PermissionsConfig> {
  const never = neverAllowed(config);
  return {
    ...(never.size > 0
      ? { "before-model": ({ tools }: PhaseView) => hide(tools.filter((tool) => never.has(tool))) }
      : {}),
    "tool-gate": gate,
    "before-tool": ({ config: rules, call }) => refusal(judge(rules, call)),
    "on-decision": hear,
  };
}

function hide(tools: readonly string[]): Command | undefined {
  return tools.length > 0 ? { type: "hide-tools", tools } : undefined;
}

function gate({ config, call, run, now, state }: CallPhaseView<PermissionsConfig>): Command | undefined {
  const judged = judge(config, call);
  if (judged.behavior !== "ask") return refusal(judged);
  const { remember } = config;
  if (remember && isRemembered({ ...call, judged, run }, remember, { now, state })) return undefined;
  return { type: "ask", prompt: judged.words };
}

function refusal({ behavior, words }: Judged): Command | undefined {
  return behavior === "deny" ? { type: "deny", reason: words } : undefined; // P1
}

/** P3. Whatever is wrong with a wish, the approval itself counts. */
function hear(view: DecisionView<PermissionsConfig>): Command | undefined {
  const { config, ticket, decision, run } = view;
  if (ticket.plugin !== name || decision.kind !== "approve") return undefined;
  const read = readWish(decision.value, config.remember);
  if (read.kind === "none") return undefined;
  const said = read.kind === "unfit" ? read.problem : remember(view, read.wish);
  if (typeof said !== "string") return said;
  run.log(`Ticket ${ticket.id} is approved, but nothing is remembered: ${said}`, { ticket: ticket.id });
  return undefined;
}

/** The command that remembers it, or why there is none. */
function remember(view: DecisionView<PermissionsConfig>, wish: Required<RememberWish>): Command | string {
  const { config, ticket, at, now, run, state } = view;
  const { tool = "", input = null } = ticket;
  const judged = judge(config, { tool, input });
  const isSame = judged.behavior === "ask" && judged.words === ticket.prompt;
  if (!isSame) return "the rules have changed since this was asked";
  const until = at + wish.forMs;
  if (until <= now) return "its time is over already";
  const question = questionOf({ tool, input, judged, run }, wish.what);
  const key = answerKeys[wish.remember];
  const answer = { tool, what: wish.what, question, since: at, until, ticket: ticket.id };
  return key.set(withAnswer(state.get(key), answer, now));
}
