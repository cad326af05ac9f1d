/** Puts a question of the loop to user code: a verdict on a call, or what plugins say at a moment. */

import { rewritten } from "../domain/apply-plugins.ts";
import type { Verdict } from "../domain/entry.ts";
import { momentId, type Phase } from "../domain/phase.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StateSpace } from "../domain/state-space.ts";
import type { Ran } from "./asked-hook.ts";
import { checkAnswer } from "./check-output.ts";
import { brokenGate, gateCall } from "./gate.ts";
import { askHooks } from "./hooks.ts";
import { type Asked, written } from "./merge-answers.ts";
import { phaseTable } from "./phases.ts";
import { settleWithin } from "./settle-within.ts";
import type { Stage, Standing } from "./stage.ts";
import type { Moment, Scene } from "./view.ts";
import { isAwaitable, type Whenever, whenKnown } from "./whenever.ts";
import type { Fact, JudgeOrder, PhaseOrder, Question } from "./work.ts";

export function put(question: Question, standing: Standing, stage: Stage): Whenever<Fact> {
  switch (question.kind) {
    case "judge":
      return judge(question, standing, stage);
    case "check-output":
      return checkAnswer(question, standing, stage);
    case "phase":
      return runPhase(question, standing, stage);
    default:
      return question satisfies never;
  }
}

function judge(order: JudgeOrder, standing: Standing, stage: Stage): Whenever<Fact> {
  const { call, tool, edited } = order;
  const { tools } = stage.boundAgent;
  const isAsked = stage.hooks.has("tool-gate");
  const about = { phase: "tool-gate", subject: call } as const;
  const verdict = gateCall(order, {
    judge: (input) => inTime(tools.judge({ tool, input, edited }), stage),
    ask: isAsked ? (input) => askAll(asked({ ...about, input }, standing, stage), stage) : undefined,
  });
  const fact = (known: Verdict): Fact => ({ kind: "judged", call, verdict: known });
  return isAwaitable(verdict) ? Promise.resolve(verdict).catch(brokenGate).then(fact) : fact(verdict);
}

/** A check that hangs never lets a call through. */
function inTime(verdict: Whenever<Verdict>, stage: Stage): Whenever<Verdict> {
  if (!(verdict instanceof Promise)) return verdict;
  const { phaseTimeoutMs } = stage.limits;
  return settleWithin(verdict, phaseTimeoutMs, stage).then((within) => {
    if (within.kind === "value") return within.value;
    const message = `Checking the call did not end within ${phaseTimeoutMs} ms`;
    return { kind: "refuse", code: "tool-failed", message };
  });
}

function runPhase(order: PhaseOrder, standing: Standing, stage: Stage): Whenever<Fact> {
  const ran = askAll(asked(order, standing, stage), stage);
  const fact = (known: Ran): Fact => ({ kind: "phase-ran", order, ran: withStatic(order.phase, known, stage) });
  return isAwaitable(ran) ? Promise.resolve(ran).then(fact) : fact(ran);
}

/** What plugins say at every model call, unless they say otherwise, is said once to the run, before its first step. */
function withStatic(phase: Phase, ran: Ran, stage: Stage): Ran {
  const { context } = stage.boundAgent.plugins;
  if (phase !== "before-run" || ran.kind === "failed" || context.length === 0) return ran;
  const said = context.map(({ plugin, message }) => ({
    plugin,
    command: { persistent: true, ...message, type: "add-context" } as const,
  }));
  return { ...ran, commands: [...said, ...ran.commands] };
}

interface Session extends Asked {
  /** Nobody waits for its signal any more. */
  readonly done: () => void;
}

function askAll(question: Session, { logger }: Stage): Whenever<Ran> {
  return whenKnown(askHooks(question), (ran) => {
    question.done();
    if (ran.kind !== "failed" || ran.unsaid === undefined) return ran;
    const { unsaid, ...told } = ran;
    const { state, phase, subject } = question.moment;
    const { run } = state.created.identity;
    logger.warn(told.error.message, { run, moment: momentId(phase, subject), code: told.error.code, words: unsaid });
    return told;
  });
}

type AboutMoment = Pick<PhaseOrder, "phase" | "subject" | "outcome" | "result">;
/** With what the call's input would become, where hooks are asked about that. */
type About = AboutMoment & { readonly input?: JudgeOrder["input"] | undefined };

function asked({ input, ...about }: About, { state, entries }: Standing, stage: Stage): Session {
  const { phase } = about;
  let controller: AbortController | undefined;
  let isOver = false;
  const abort = (): void => {
    isOver = true;
    controller?.abort();
  };
  const signal = (): AbortSignal => {
    controller ??= new AbortController();
    if (isOver) controller.abort();
    else stage.timers.add(abort); // the run may leave this process before the answer is there
    return controller.signal;
  };
  const moment = momentOf(about, { state, entries }, { stage, signal });
  const space: StateSpace = {
    keys: stage.boundAgent.plugins.keys,
    run: state.slots,
    thread: state.threadSlots,
    base: stage.threadBase,
  };
  return {
    moment,
    space,
    scene: withScheduled({ space, ...(input === undefined ? {} : { input }) }, state, phase),
    asking: stage.hooks.get(phase) ?? [],
    deadlineMs: stage.limits[phaseTable[phase].deadline],
    timing: stage,
    abort,
    done: () => stage.timers.delete(abort),
  };
}

export function momentOf(
  about: AboutMoment,
  { state, entries }: Standing,
  by: { readonly stage: Stage; readonly signal: () => AbortSignal },
): Moment {
  const { stage, signal } = by;
  const { transcript, pluginRun, toolNames, boundAgent } = stage;
  return {
    ...about,
    run: pluginRun,
    state,
    now: pluginRun.now(),
    signal,
    tools: toolNames,
    delegate: (tool) => boundAgent.delegates.get(tool)?.agent,
    otherModel: stage.otherModel,
    output: boundAgent.output?.spec,
    messages: transcript.fixed(entries),
  };
}

/** Scheduled commands come first: hooks see their writes. One that does not fit is found when it is taken. */
function withScheduled(scene: Scene, state: RunState, phase: Phase): Scene {
  let next = scene;
  for (const { plugin, phase: due, command } of state.plugins.scheduled) {
    if (due !== phase) continue;
    if (command.type === "set-state") {
      const space = written(next.space, command, { phase, plugin });
      if (!(space instanceof Error)) next = { ...next, space };
    }
    if (command.type === "rewrite-result") next = { ...next, result: rewritten(command) };
  }
  return next;
}

/** Hooks that only look: nobody waits for what they say, and what they break is noted. */
export function observe(about: AboutMoment & Pick<Moment, "delta">, standing: Standing, stage: Stage): Whenever<void> {
  const { phase } = about;
  if (!stage.hooks.has(phase)) return undefined;
  const question = asked(about, standing, stage);
  const moment = about.delta ? { ...question.moment, delta: about.delta } : question.moment;
  const ran = askAll({ ...question, moment }, stage);
  const note = (known: Ran): void => {
    if (known.kind !== "failed") return;
    const { run } = standing.state.created.identity;
    stage.logger.warn(known.error.message, { run, moment: momentId(phase), code: known.error.code });
  };
  if (isAwaitable(ran)) return Promise.resolve(ran).then(note);
  note(ran);
}
