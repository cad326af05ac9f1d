/**
 * stopConditions: ends a run as `stopped`, with a code and what was seen.
 *
 * S1 A limit (steps, wall time, tokens) is looked at before a step: what would exceed it is not begun and not paid for. A
 *    run that has no further step ends by itself, whatever the limit.
 * S2 A finding (errors, tool, text, loop) is looked at when the step has ended: every call of it has its result.
 * S3 What is counted over steps is in the run's state: no crash and no resume starts it again (C1).
 * S4 Of several at one moment the first counts, in the order of the options; `custom` is asked last.
 */
import type { Command, Stop } from "../../domain/command.ts";
import { type ConfiguredPlugin, type Hooks, type PhaseView, plugin } from "../../domain/plugin.ts";
import { type Conditions, conditionsSchema, type StopConditionsOptions } from "./config.ts";
import { errorsInARow, recentCalls } from "./counters.ts";
import { findIn } from "./findings.ts";
import { reachedLimit, timeIsUp } from "./limits.ts";

export const stopConditions: (options: StopConditionsOptions) => ConfiguredPlugin = plugin({
  name: "stop-conditions",
  version: "1",
  config: conditionsSchema,
  state: [errorsInARow, recentCalls],
  create: (conditions) => ({ hooks: hooksOf(conditions) }),
});

type Answer = readonly Command[] | Promise<readonly Command[]>;

/** Only the hooks that have something to look at. */
function hooksOf(conditions: Conditions): Hooks<Conditions> {
  const { steps, wallTimeMs, tokens, custom, consecutiveErrors, onTool, onText, loop } = conditions;
  const hasLimits = (steps ?? wallTimeMs ?? tokens ?? custom) !== undefined;
  const hasFindings = (consecutiveErrors ?? onTool ?? onText ?? loop ?? custom) !== undefined;
  return {
    ...(onTool ? { "before-run": (view) => refuseUnknown(view, onTool) } : {}),
    ...(hasLimits ? { "before-step": (view) => beforeStep(view, conditions) } : {}),
    // Another plugin may have asked somebody something in before-step: the time until the answer counts as well.
    ...(wallTimeMs === undefined ? {} : { "before-model": (view) => timeIsUp(view, wallTimeMs) }),
    ...(hasFindings ? { "after-step": (view) => afterStep(view, conditions) } : {}),
  };
}

/** A name that no tool has would be a condition that never holds. */
function refuseUnknown({ tools }: PhaseView, onTool: readonly string[]): void {
  const unknown = onTool.filter((name) => !tools.includes(name));
  if (unknown.length === 0) return;
  throw new Error(`onTool: the agent has no tool ${unknown.join(", ")}; it has ${tools.join(", ") || "none"}`);
}

function beforeStep(view: PhaseView, conditions: Conditions): Answer {
  const stop = reachedLimit(view, conditions);
  return stop ? [stop] : withCustom([], view, conditions);
}

function afterStep(view: PhaseView, conditions: Conditions): Answer {
  const { writes, stop } = findIn(view, conditions);
  return stop ? [...writes, stop] : withCustom(writes, view, conditions);
}

function withCustom(writes: readonly Command[], view: PhaseView, { custom }: Conditions): Answer {
  const said: unknown = custom?.(view);
  const all = (known: unknown): readonly Command[] => [...writes, ...stopOf(known)];
  return isAwaitable(said) ? Promise.resolve(said).then(all) : all(said);
}

function isAwaitable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === "function";
}

/** It never fails open: an answer that is not understood fails the run. */
function stopOf(said: unknown): readonly Stop[] {
  if (said === undefined) return [];
  const isRecord = typeof said === "object" && said !== null;
  const strange = isRecord ? Object.keys(said).filter((name) => name !== "code" && name !== "detail") : [];
  const { code, detail } = (said ?? {}) as { readonly code?: unknown; readonly detail?: unknown };
  const fits = (text: unknown): text is string => typeof text === "string" && text !== "";
  if (!isRecord || strange.length > 0 || !fits(code) || (detail !== undefined && !fits(detail))) {
    throw new Error(`custom: must answer { code, detail? } or undefined, not ${JSON.stringify(said)?.slice(0, 200)}`);
  }
  return [{ type: "stop", code, ...(detail === undefined ? {} : { detail }) }];
}
