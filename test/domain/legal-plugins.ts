/** What plugins may have written at a place of a journal: commands at the moments that come there, and state. */
import type { Command } from "../../src/domain/command.ts";
import type { EntryBody, Settled } from "../../src/domain/entry.ts";
import { momentId, type Phase, phases } from "../../src/domain/phase.ts";
import type { CallState, RunState, StepState } from "../../src/domain/run-state.ts";
import type { StateScope } from "../../src/domain/state-key.ts";
import { merged } from "../../src/domain/state-slots.ts";
import * as j from "./journal.ts";

interface Moment {
  readonly phase: Phase;
  readonly subject?: string;
  readonly commands: readonly Command[];
}

export function pluginFacts(state: RunState): EntryBody[] {
  const open = moments(state).filter(({ phase, subject }) => !state.plugins.passed.includes(momentId(phase, subject)));
  return [...open.flatMap((moment) => answers(state, moment)), ...stateFacts(state), j.opened(nextQuestion(state))];
}

function nextQuestion(state: RunState): ReturnType<typeof j.question> {
  return j.question(state.plugins.opened + 1);
}

/** Each command alone, several together, none because only scheduled ones were due, and a failure. */
function answers(state: RunState, { phase, subject, commands }: Moment): EntryBody[] {
  const possible = [...commands, ...anywhere(state), ...nothingToTheFold];
  return [
    ...possible.map((command) => j.applied(phase, [command], subject)),
    j.applied(phase, [...anywhere(state), ...commands.slice(0, 1)], subject),
    j.applied(phase, [], subject),
    j.pluginFailed(phase, subject),
  ];
}

/** What is allowed in nearly every phase. */
function anywhere(state: RunState): readonly Command[] {
  const phase = phases[state.seq % phases.length] as Phase;
  const isScheduled = state.plugins.scheduled.some((each) => each.phase === phase); // else they would only add up
  const text = `note ${state.seq % 3}`;
  return [
    { type: "add-context", key: "note", text, target: "suffix" },
    { type: "add-context", key: "rule", text, persistent: true, cooldown: 2, priority: -1 },
    { type: "add-context", key: "once", text, consumeOnce: true, target: "session" },
    { type: "add-context", key: "hint", text, cooldown: 1, target: "conversation" },
    ...(isScheduled ? [] : [{ type: "schedule", phase, command: stops[0] } as const]),
  ];
}

const stops = [
  { type: "stop", code: "enough" },
  { type: "stop", code: "enough", detail: "three errors" },
  { type: "stop", code: "done", outcome: "completed" },
  { type: "stop", code: "limit", outcome: "blocked" },
] as const satisfies readonly Command[];

/** Said by entries of their own. */
const nothingToTheFold: readonly Command[] = [
  { type: "open-ticket", name: "go-on", prompt: "Go on?" },
  { type: "send-input", run: "run-2", message: "hello" },
  { type: "set-state", key: "notes", value: 1 },
];
/** Said in a verdict. */
const verdicts: readonly Command[] = [
  { type: "ask", prompt: "Really?" },
  { type: "patch-input", input: { cents: 4 } },
];

const changes: readonly Command[] = [
  { type: "hide-tools", tools: ["refund"] },
  { type: "restrict-tools", tools: ["refund", "look"] },
  { type: "restrict-tools", tools: ["look"] },
  { type: "patch-request", instructions: "Be brief.", settings: { temperature: 0 } },
  { type: "patch-request", settings: { seed: 1 } },
];
const refusals: readonly Command[] = [
  { type: "deny", reason: "no" },
  { type: "deny", reason: "no, and stop", stop: true },
  { type: "set-result", value: { ok: true } },
  { type: "set-result", value: null, say: "nothing to do" },
];
const rewrites: readonly Command[] = [
  { type: "rewrite-result", value: "shorter" },
  { type: "rewrite-result", value: ["much"], say: "much" },
  { type: "rewrite-result", error: "it does not fit" },
  { type: "retry", reason: "again, please" },
];
const ended: readonly (Settled["kind"] | undefined)[] = ["done", "failed", "refused", "aborted"];
const goOn: Command = { type: "continue", message: "Not yet." };

function moments(state: RunState): Moment[] {
  const { step } = state;
  const decided = state.plugins.decided.map(
    ({ id }) => ({ phase: "on-decision", subject: id, commands: stops }) as const,
  );
  const cancelled = state.cancel ? [{ phase: "on-cancel", commands: [] } as const] : [];
  const ahead =
    state.appended < state.inputCount ? [] : [{ phase: "before-step", commands: [...changes, ...stops] } as const];
  const outside = [...decided, ...cancelled];
  if (!step) return [...outside, { phase: "before-run", commands: stops }, ...ahead];
  if (!step.ended) return [...outside, ...insideOf(step)];
  return [...outside, ...ahead, { phase: "before-end", commands: [goOn] }, { phase: "after-run", commands: [] }];
}

function insideOf(step: StepState): Moment[] {
  if (step.model.attempt === 0) {
    const commands = [...changes, ...stops];
    return [
      { phase: "context-ready", commands },
      { phase: "before-model", commands },
    ];
  }
  if (step.pending) {
    const changed: Command = { type: "rewrite-output", text: "shorter" };
    return [{ phase: "output-gate", commands: [changed, ...stops] }];
  }
  if (step.calls.length === 0) return [];
  const ofCalls = step.calls.flatMap(momentsOf);
  const isJudged = step.calls.some((call) => call.status !== "proposed");
  const answered: Moment = { phase: "after-model", commands: [{ type: "retry", reason: "shorter" }, ...stops] };
  const isOver = step.calls.every((call) => call.status === "settled");
  const over: Moment = { phase: "after-step", commands: [goOn, ...stops] };
  return [...(isJudged ? [] : [answered]), ...ofCalls, ...(isOver ? [over] : [])];
}

function momentsOf({ id, status, result, effect }: CallState): Moment[] {
  if (status === "proposed") return [{ phase: "tool-gate", subject: id, commands: verdicts }];
  if (status === "ready") return [{ phase: "before-tool", subject: id, commands: refusals }];
  const isHeld = status === "concluded" && result && ended.includes(effect?.last?.kind);
  return isHeld ? [{ phase: "after-tool", subject: id, commands: rewrites }] : [];
}

/** What a thread keeps is written with its value, since stores do not merge; for a run the operand is enough. */
function stateFacts({ seq, slots, threadSlots }: RunState): EntryBody[] {
  const operands = [
    ["count", { merge: "sum", initial: 0, operand: 1 }],
    ["most", { merge: "max", initial: 0, operand: seq }],
    ["least", { merge: "min", initial: 99, operand: seq }],
    ["seen", { merge: "union", initial: ["a"], operand: [seq % 4, "a"] }],
  ] as const;
  const ofRun = operands.map(([key, change]) => j.stateChanged(change, { key }));
  const ofThread = operands.map(([key, change]) => {
    const { operand, merge, initial } = change;
    const value = merged(merge, threadSlots[key]?.value ?? initial, operand);
    return j.stateChanged({ value, operand }, { scope: "thread", key });
  });
  return [...ofRun, ...ofThread, ...setFacts("run", seq), ...setFacts("thread", Object.keys(slots).length)];
}

function setFacts(scope: StateScope, value: number): EntryBody[] {
  return [
    j.stateChanged({ value: { value } }, { scope, key: "last" }),
    j.stateChanged({ value: `custom ${value}`, operand: value }, { scope, key: "made", version: 2 }),
  ];
}
