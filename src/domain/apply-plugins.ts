/**
 * The part of `apply` that plugins cause: what a moment's commands mean for the run.
 *
 * P1 A moment is passed at most once; what was scheduled for its phase is used up by it.
 * P2 Of several ends that plugins ask for, the first one counts.
 * P3 A call takes something from plugins only at its own moments: never while it runs, is asked about or has its result.
 */

import { freshStep } from "./apply-step.ts";
import type { Command, GivenCommand, PolicyRef } from "./command.ts";
import type { CommandApplied, EntryStamp, TicketDecided } from "./entry.ts";
import { HoldfastError } from "./errors.ts";
import type { CallResult, Message } from "./message.ts";
import { momentId, type Phase } from "./phase.ts";
import {
  afterSaying,
  contextSlot,
  noPlugins,
  type PluginState,
  saidIn,
  withChanges,
  withContext,
} from "./plugin-state.ts";
import type { Outcome } from "./run.ts";
import type { CallState, CallStatus, RunState, StepState } from "./run-state.ts";
import { engine, type TicketRecord } from "./ticket.ts";

export function startStep(state: RunState, step: number): RunState {
  const { plugins } = state;
  const { output: _output, ...rest } = state; // another step, another answer
  const begun: RunState = { ...rest, step: freshStep(step, state) };
  return isFresh(plugins)
    ? begun
    : { ...begun, plugins: { ...plugins, passed: [], ahead: noPlugins.ahead, goesOn: false, decided: [] } };
}

function isFresh({ passed, ahead, goesOn, decided }: PluginState): boolean {
  return !goesOn && passed.length + decided.length === 0 && ahead === noPlugins.ahead;
}

/** The first attempt of a step's model call fixes what plugins say in it; later attempts say the same. */
export function whileIntended(state: RunState, step: number): RunState {
  const { plugins } = state;
  if (plugins.context.length === 0 || !state.step) return state;
  const context = saidIn(step, plugins.context);
  return {
    ...state,
    step: { ...state.step, context },
    plugins: { ...plugins, context: afterSaying(step, plugins.context) },
  };
}

export function stopWith(state: RunState, stop: NonNullable<PluginState["stop"]>): RunState {
  if (state.plugins.stop) return state; // P2
  return { ...state, plugins: { ...state.plugins, stop } };
}

/** What a person said is kept until on-decision has seen it; the engine's own answers are nobody's news. */
export function noteDecision(state: RunState, ticket: TicketRecord, entry: EntryStamp & TicketDecided): RunState {
  if (entry.by === engine && entry.decision.kind !== "expired") return state;
  if (entry.decision.kind === "child-ended") return state; // which nobody has said
  const { id, kind, prompt, plugin, name, openedAt, call } = ticket;
  const { decision, by, at } = entry;
  const about = call ? { call: call.id, tool: call.tool, input: call.input } : {};
  const from = { ...(plugin === undefined ? {} : { plugin }), ...(name === undefined ? {} : { name }) };
  const noted = { id, kind, prompt, ...from, openedAt, ...about, decision, by, at };
  return { ...state, plugins: { ...state.plugins, decided: [...state.plugins.decided, noted] } };
}

/** Nothing is intended before plugins have heard what was decided: one that had nothing to say of it is not asked again. */
export function afterHearing(state: RunState): RunState {
  if (state.plugins.decided.length === 0) return state;
  return { ...state, plugins: { ...state.plugins, decided: [] } };
}

export function applyCommands(state: RunState, entry: EntryStamp & CommandApplied): RunState {
  const moment = momentId(entry.phase, entry.subject);
  const { plugins } = state;
  if (plugins.passed.includes(moment)) {
    throw new HoldfastError("illegal-transition", `Run ${state.created.identity.run} has passed ${moment} already`); // P1
  }
  const passed: PluginState = {
    ...plugins,
    passed: [...plugins.passed, moment],
    scheduled: plugins.scheduled.filter((each) => each.phase !== entry.phase),
    decided:
      entry.phase === "on-decision" ? plugins.decided.filter((each) => each.id !== entry.subject) : plugins.decided,
  };
  let next: RunState = { ...state, plugins: passed };
  for (const given of entry.commands) next = applyCommand(next, given, entry);
  return entry.failed ? applyFailure(next, entry) : next;
}

function applyCommand(state: RunState, given: GivenCommand, entry: EntryStamp & CommandApplied): RunState {
  const { plugins } = state;
  const { plugin, policy, command } = given;
  switch (command.type) {
    case "add-context":
      return { ...state, plugins: { ...plugins, context: withContext(plugins.context, contextSlot(plugin, command)) } };
    case "hide-tools":
    case "restrict-tools":
    case "patch-request":
      return changeStep(state, command);
    case "stop":
      return stopWith(state, { outcome: outcomeOf(command, policy), at: entry.at });
    case "continue":
      return { ...state, plugins: { ...plugins, goesOn: true } };
    case "schedule": {
      const scheduled = { plugin, phase: command.phase, command: command.command };
      return { ...state, plugins: { ...plugins, scheduled: [...plugins.scheduled, scheduled] } };
    }
    case "retry":
      return entry.phase === "after-tool"
        ? callAgain(state, entry)
        : replyAgain(state, { plugin, reason: command.reason });
    case "deny": {
      const refused = concludeCall(state, entry, { kind: "error", code: "denied", message: command.reason });
      if (!command.stop) return refused;
      const { reason, code } = command;
      return stopWith(refused, { outcome: blocked(reason, { code, policy }), at: entry.at });
    }
    case "set-result": // a call that is denied stays so, whoever else knows its result
      return changeCall(state, entry, (call) =>
        call.status === "concluded" ? call : { ...call, status: "concluded", result: valueResult(command) },
      );
    case "rewrite-result":
      return isReady(state, entry) ? state : concludeCall(state, entry, rewritten(command));
    case "rewrite-output":
      return changeAnswer(state, { plugin, policy, text: command.text });
    case "open-ticket":
    case "send-input":
    case "set-state":
    case "ask":
    case "patch-input":
      return state; // said by entries of their own, or in a verdict
    default:
      return command satisfies never;
  }
}

/** In before-step the step is still to come, and so it is after one has ended. */
function changeStep(state: RunState, command: Command): RunState {
  const { step, plugins } = state;
  if (!step || step.ended) return { ...state, plugins: { ...plugins, ahead: withChanges(plugins.ahead, command) } };
  return { ...state, step: { ...step, changes: withChanges(step.changes, command) } };
}

interface ChangedAnswer {
  readonly plugin: string;
  readonly policy: PolicyRef | undefined;
  readonly text: string;
}

/** What was found of the model's own answer says nothing of another one. */
function changeAnswer(state: RunState, { plugin, policy, text }: ChangedAnswer): RunState {
  const { pending, report: _report, reportPending: _reportPending, ...step } = state.step ?? {};
  if (!pending || !state.step) return state;
  const message: Message = { ...pending.message, parts: [{ type: "text", text }] };
  const by = { changedBy: plugin, ...(policy ? { policy } : {}) };
  return { ...state, step: { ...(step as StepState), pending: { message, ...by } } };
}

export function blocked(
  reason: string,
  { code, policy }: { readonly code: string | undefined; readonly policy: PolicyRef | undefined },
): Outcome {
  return { kind: "blocked", reason, ...(code === undefined ? {} : { code }), ...(policy ? { policy } : {}) };
}

export function outcomeOf({ code, detail, outcome }: Extract<Command, { type: "stop" }>, policy?: PolicyRef): Outcome {
  if (outcome === "completed") return { kind: "completed", reason: "requested" };
  if (outcome === "blocked") return blocked(detail ?? code, { code, policy });
  return { kind: "stopped", code, ...(detail === undefined ? {} : { detail }) };
}

function replyAgain(
  state: RunState,
  { plugin, reason }: { readonly plugin: string; readonly reason: string },
): RunState {
  const { step, plugins } = state;
  if (!step) return state;
  const slot = contextSlot(plugin, { key: "~retry", text: reason, target: "suffix" });
  return {
    ...state,
    step: { ...step, retried: step.retried ?? reason },
    plugins: { ...plugins, goesOn: true, context: withContext(plugins.context, slot) },
  };
}

/** The moment is not over then: the next attempt has an after-tool of its own. */
function callAgain(state: RunState, entry: CommandApplied): RunState {
  const moment = momentId(entry.phase, entry.subject);
  const again = changeCall(state, entry, ({ result: _result, ...call }) => ({ ...call, status: "ready" }));
  const passed = again.plugins.passed.filter((each) => each !== moment);
  return { ...again, plugins: { ...again.plugins, passed } };
}

/** It is attempted again: what its last result should have been no longer matters. */
function isReady({ step }: RunState, { subject }: CommandApplied): boolean {
  return step?.calls.find((call) => call.id === subject)?.status === "ready";
}

function concludeCall(state: RunState, entry: CommandApplied, result: CallResult): RunState {
  return changeCall(state, entry, (call) => ({ ...call, status: "concluded", result }));
}

/** P3: what a call is at its moments, and what an earlier command of the same moment may have made of it. */
const openAt: Partial<Record<Phase, readonly CallStatus[]>> = {
  "tool-gate": ["proposed", "concluded"],
  "before-tool": ["ready", "concluded"],
  "after-tool": ["concluded", "ready"],
};

function changeCall(state: RunState, entry: CommandApplied, change: (call: CallState) => CallState): RunState {
  const { phase, subject: id } = entry;
  const { step } = state;
  const call = step?.calls.find((each) => each.id === id);
  if (!step || !call) {
    throw new HoldfastError(
      "illegal-transition",
      `Run ${state.created.identity.run} has no open call ${id ?? "at all"}`,
    );
  }
  if (!openAt[phase]?.includes(call.status)) {
    throw new HoldfastError("illegal-transition", `Call ${id} is ${call.status} and takes nothing from ${phase}`);
  }
  return { ...state, step: { ...step, calls: step.calls.map((each) => (each === call ? change(call) : each)) } };
}

export function valueResult({ value, say }: Extract<Command, { type: "set-result" }>): CallResult {
  return { kind: "value", value, ...(say === undefined ? {} : { say }) };
}

export function rewritten({
  value = null,
  say,
  error,
  code,
}: Extract<Command, { type: "rewrite-result" }>): CallResult {
  if (error !== undefined)
    return { kind: "error", code: code === undefined ? "tool-failed" : "denied", message: error };
  return { kind: "value", value, ...(say === undefined ? {} : { say }) };
}

/** Of a call's own phases the call bears the failure, never the other way round; of all others the run. */
function applyFailure(state: RunState, entry: EntryStamp & CommandApplied): RunState {
  const { phase, failed } = entry;
  if (!failed || phase === "on-cancel") return state;
  const { error } = failed;
  if (openAt[phase]) {
    return concludeCall(state, entry, { kind: "error", code: "plugin-failed", message: error.message });
  }
  return stopWith(state, { outcome: { kind: "failed", error, retry: "never" }, at: entry.at });
}
