/**
 * Moments: where the run stands among its phases, and what plugins asked for there.
 *
 * M1 A moment is over when its entry is written, or when plugins had nothing to say; before that nothing behind it begins.
 * M2 What a moment's commands mean is written in one commit with the entry that ends it: after a crash all of it counts, or
 *    the plugins are asked again.
 * M3 A moment that wrote an exclusive key which another has changed meanwhile is asked again, on the new state.
 */
import { answerView } from "../domain/candidate.ts";
import type { GivenCommand } from "../domain/command.ts";
import { commandLimits } from "../domain/command-shape.ts";
import type { CommandApplied, PluginFailure } from "../domain/entry.ts";
import type { MessageId } from "../domain/ids.ts";
import type { CallResult, Message } from "../domain/message.ts";
import { momentId, type Phase, phaseOf } from "../domain/phase.ts";
import type { Outcome } from "../domain/run.ts";
import type { Slot } from "../domain/state-slots.ts";
import { slotIn } from "../domain/state-space.ts";
import type { Ran, Seen } from "./asked-hook.ts";
import { refused } from "./check-command.ts";
import { act, type Draft, emit, resume } from "./draft.ts";
import { openPluginTicket } from "./tickets.ts";
import type { PhaseOrder } from "./work.ts";
import { spaceOf, writeState } from "./write-state.ts";

interface About {
  readonly subject?: string;
  readonly outcome?: Outcome;
  readonly result?: CallResult;
}

/** M1. True when it is over; otherwise the plugins are asked. */
export function pass(draft: Draft, phase: Phase, about: About = {}): boolean {
  if (!isMet(draft, phase)) return true;
  const { plugins } = draft.state;
  const moment = momentId(phase, about.subject);
  const id = quietId(draft, moment, about.subject);
  if (plugins.passed.includes(moment) || draft.at.quiet.has(id) || draft.quiet.has(id)) return true;
  if (about.subject === undefined && isBehind(phase, plugins.passed)) return true;
  resume(draft);
  draft.start.push({ kind: "phase", phase, id, ...about });
  return false;
}

/** Whether anything is to be said there: by a hook, or by what was scheduled. */
export function isMet({ state, at }: Draft, phase: Phase): boolean {
  return at.hooked(phase) || state.plugins.scheduled.some((each) => each.phase === phase);
}

/** From one begin of a step to the next, in this order: a later one that was written tells that this one is over. */
const fromStepToStep: readonly Phase[] = [
  ...(["context-ready", "before-model", "output-gate", "after-model"] as const),
  ...(["tool-gate", "before-tool", "after-tool", "after-step", "before-end", "before-step"] as const),
];

function isBehind(phase: Phase, passed: readonly string[]): boolean {
  const place = fromStepToStep.indexOf(phase);
  return place >= 0 && passed.some((moment) => fromStepToStep.indexOf(phaseOf(moment)) > place);
}

/** A moment that nothing was written of, told from the same moment of another step or attempt. */
function quietId({ state }: Draft, moment: string, subject: string | undefined): string {
  const attempt = state.step?.calls.find((call) => call.id === subject)?.effect?.attempt ?? 0;
  return `${state.step?.step ?? 0}/${moment}/${attempt}`;
}

/** The plugins have answered. What they said no longer counts when the run has gone past the moment by itself. */
export function takeRan(draft: Draft, order: PhaseOrder, ran: Ran): void {
  const moment = momentId(order.phase, order.subject);
  if (order.id !== quietId(draft, moment, order.subject) || draft.state.plugins.passed.includes(moment)) return;
  if (ran.kind === "failed") return fail(draft, order, ran);
  if (isOutdated(draft, ran.seen)) return; // M3
  const given = [...scheduledFor(draft, order.phase), ...ran.commands];
  if (given.length === 0) {
    draft.quiet.add(order.id);
    return;
  }
  const problem = problemWith(draft, order, given) ?? stateProblem(draft, order, given);
  if (problem) return fail(draft, order, problem);
  for (const [index, each] of given.entries())
    carryOut(draft, { ...each, index, shown: answerShown(draft, order, given) });
  end(draft, order, { commands: given.filter(({ command }) => command.type !== "set-state") });
}

function scheduledFor({ state }: Draft, phase: Phase): readonly GivenCommand[] {
  const due = state.plugins.scheduled.filter((each) => each.phase === phase);
  return due.map(({ phase: _phase, ...given }) => given);
}

function isOutdated(draft: Draft, seen: Seen): boolean {
  const space = spaceOf(draft);
  for (const [name, slot] of seen) {
    const key = space.keys.get(name);
    if (key && !isSameSlot(slotIn(space, key), slot)) return true;
  }
  return false;
}

/** A slot that was committed while the plugins were asked is another object, and says the same. */
function isSameSlot(a: Slot | undefined, b: Slot | undefined): boolean {
  if (a === b) return true;
  return a?.version === b?.version && JSON.stringify(a?.value) === JSON.stringify(b?.value);
}

/** M2. */
function stateProblem(draft: Draft, order: PhaseOrder, given: readonly GivenCommand[]): PluginFailure | undefined {
  const writes = given.flatMap(({ plugin, command }) =>
    command.type === "set-state" ? [{ by: plugin, write: command }] : [],
  );
  const unkept = writeState(draft, writes);
  return unkept && refusal(order, unkept.by, unkept.problem);
}

function problemWith(draft: Draft, order: PhaseOrder, given: readonly GivenCommand[]): PluginFailure | undefined {
  const { context, scheduled } = draft.state.plugins;
  const contexts = new Set(context.map(({ plugin, key }) => `${plugin}/${key}`));
  let schedules = scheduled.length;
  for (const { plugin, command } of given) {
    if (command.type === "add-context") contexts.add(`${plugin}/${command.key}`);
    if (command.type === "schedule") schedules += 1;
    const isFull = contexts.size > commandLimits.contexts || schedules > commandLimits.scheduled;
    if (isFull) return refusal(order, plugin, `${command.type}: the run holds as many of these as it may`);
    const problem = command.type === "retry" && order.phase === "after-tool" ? retryProblem(draft, order) : undefined;
    if (problem) return refusal(order, plugin, problem);
  }
  return undefined;
}

/** A `once` call is attempted again only when nothing has happened. */
function retryProblem({ state, at }: Draft, { subject }: PhaseOrder): string | undefined {
  const call = state.step?.calls.find((each) => each.id === subject);
  if (!call?.effect) return "retry: there is no attempt to repeat";
  if (call.effect.attempt >= at.limits.callAttempts)
    return `retry: call ${call.id} was attempted ${call.effect.attempt} times`;
  const { last } = call.effect;
  const isHarmless = last?.kind === "refused" && last.code !== "invalid-result";
  if (isHarmless || (at.spec(call.tool)?.effect ?? "once") !== "once") return undefined;
  return `retry: call ${call.id} of the once tool ${call.tool} took effect and must not be repeated`;
}

function refusal({ phase }: PhaseOrder, plugin: string, problem: string): PluginFailure {
  const { code, message } = refused({ phase, plugin }, problem);
  return { plugin, error: { code, message } };
}

/** Who is asked about an answer sees it as it would be published. */
function answerShown({ state }: Draft, { phase }: PhaseOrder, given: readonly GivenCommand[]): string | undefined {
  const { pending } = state.step ?? {};
  if (phase !== "output-gate" || !pending) return undefined;
  const texts = given.flatMap(({ command }) => (command.type === "rewrite-output" ? [command.text] : []));
  return texts.at(-1) ?? answerView(state.step).text;
}

interface Carried extends GivenCommand {
  readonly index: number;
  readonly shown: string | undefined;
}

/** Commands that are entries of their own; what the others mean is in the fold. */
function carryOut(draft: Draft, { plugin, policy, command, index, shown }: Carried): void {
  if (command.type === "open-ticket") openPluginTicket(draft, { plugin, policy, output: shown, ...command });
  if (command.type !== "continue") return;
  const { run } = draft.state.created.identity;
  const step = draft.state.step?.step ?? 0;
  const message: Message = {
    id: `${run}.${step}.continue.${index}` as MessageId,
    role: "user",
    parts: [{ type: "text", text: command.message }],
    visibility: "internal",
    producer: { run, step },
  };
  act(draft, { type: "message-appended", body: { kind: "here", message } });
}

function fail(draft: Draft, order: PhaseOrder, { plugin, policy, error }: PluginFailure): void {
  end(draft, order, { commands: [], failed: { plugin, ...(policy ? { policy } : {}), error } });
}

function end(draft: Draft, { phase, subject }: PhaseOrder, said: Pick<CommandApplied, "commands" | "failed">): void {
  resume(draft);
  emit(draft, { type: "command-applied", phase, ...(subject === undefined ? {} : { subject }), ...said });
}
