/**
 * Asks every plugin at one moment and merges what they say into one list.
 *
 * G1 All hooks of a moment look at one snapshot; in which order they answer changes nothing.
 * G2 Of those that set the same exclusive thing, the first by registration is taken; each other one is asked once more, in
 *    its turn, on what has been merged by then, and its first answer is forgotten.
 * G3 What needs no waiting is done at once and arms no timer; otherwise one deadline is over all of it.
 * G4 The first failure, by registration, is the moment's: nothing of what the others said is taken.
 * G5 A policy that may withhold a result is asked before the others look at it: they see what it has left.
 */
import { rewritten } from "../domain/apply-plugins.ts";
import type { Command, CommandType, GivenCommand, PolicyRef, SetState } from "../domain/command.ts";
import type { PluginFailure } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { type Phase, phaseOfStage, policyStages } from "../domain/phase.ts";
import type { Slot } from "../domain/state-slots.ts";
import { changeState, type StateSpace, slotIn, withChange } from "../domain/state-space.ts";
import type { AnyHook, OpenPlugin } from "../ports/plugin-runner.ts";
import { readAnswer, refused } from "./check-command.ts";
import { failure, kept, QuietFailure, type Where, whatFailed } from "./hook-failure.ts";
import { settleWithin, type Timing } from "./settle-within.ts";
import { HookView, type Moment, type Scene } from "./view.ts";
import { isAwaitable, type Whenever, whenKnown } from "./whenever.ts";

/** What a moment came to. */
export type Ran =
  | {
      readonly kind: "said";
      readonly commands: readonly GivenCommand[];
      readonly seen: Seen;
      /** The policy that was asked. */
      readonly policy?: PolicyRef;
    }
  | ({
      readonly kind: "failed";
      /** What it said of it, for the logger alone (F1). */
      readonly unsaid?: string;
    } & PluginFailure);

/** The exclusive slots that a moment writes, as they were when it began: if one is another by now, it has to look again. */
export type Seen = ReadonlyMap<string, Slot | undefined>;

export interface Asked {
  readonly moment: Moment;
  /** As the run is, and as the hooks see it: with what was scheduled for this phase. */
  readonly space: StateSpace;
  readonly scene: Scene;
  readonly asking: readonly Asking[];
  readonly deadlineMs: number;
  readonly timing: Timing;
  readonly abort: () => void;
}

/** A hook that is asked, and whose it is. */
export interface Asking {
  readonly plugin: OpenPlugin;
  readonly hook: AnyHook;
}

/** By phase, in the order in which they are asked. */
export type AskedHooks = ReadonlyMap<Phase, readonly Asking[]>;

export function hooksByPhase(plugins: readonly OpenPlugin[]): AskedHooks {
  const byPhase = new Map<Phase, Asking[]>();
  for (const plugin of plugins) {
    for (const [phase, hooks] of plugin.hooks) {
      const asking = byPhase.get(phase) ?? [];
      for (const hook of hooks) asking.push({ plugin, hook });
      byPhase.set(phase, asking);
    }
  }
  return byPhase;
}

type Answer = readonly Command[] | HoldfastError;

/** Answers by place; a place is empty while its hook is waited for. */
type Answers = (Answer | undefined)[];

export function askHooks(asked: Asked): Whenever<Ran> {
  const judges = asked.asking.filter(({ plugin }) => plugin.policy);
  const areApart = asked.moment.phase === "after-tool" && judges.length > 0 && judges.length < asked.asking.length;
  return areApart ? askJudgesFirst(asked, judges) : askTogether(asked);
}

/** G5. Both have one deadline. */
function askJudgesFirst(asked: Asked, judges: readonly Asking[]): Whenever<Ran> {
  const { clock } = asked.timing;
  const began = clock.monotonic();
  return whenKnown(askTogether({ ...asked, asking: judges }), (ran) => {
    if (ran.kind === "failed") return ran;
    let { scene } = asked;
    for (const { plugin, command } of ran.commands) {
      const merged = mergeInto(scene, [command], { phase: asked.moment.phase, plugin });
      if (!(merged instanceof HoldfastError)) scene = merged;
    }
    const asking = asked.asking.filter((each) => !judges.includes(each));
    const deadlineMs = Math.max(0, asked.deadlineMs - (clock.monotonic() - began));
    return whenKnown(askTogether({ ...asked, asking, scene, deadlineMs }), (more) =>
      more.kind === "failed" ? more : { ...ran, ...more, commands: [...ran.commands, ...more.commands] },
    );
  });
}

function askTogether(asked: Asked): Whenever<Ran> {
  const { asking, scene, moment } = asked;
  const answers: Answers = [];
  const pending: [number, Promise<unknown>][] = [];
  for (const [index, each] of asking.entries()) {
    const said = call(each, scene, moment);
    if (said instanceof Promise) pending.push([index, said]);
    else answers[index] = read(said, each, moment);
  }
  if (pending.length === 0) return inTurn(mergeAnswers(asked, answers), asked, answers);
  const known = allOf(pending, (index, heard) => {
    answers[index] = read(heard, asking[index] as Asking, moment);
  });
  return inTime(
    known.then(() => mergeAnswers(asked, answers)),
    asked,
    answers,
  );
}

/** G3. Those that are asked again may have to be waited for where nobody was at first. */
function inTurn(ran: Whenever<Ran>, asked: Asked, answers: Answers): Whenever<Ran> {
  return isAwaitable(ran) ? inTime(Promise.resolve(ran), asked, answers) : ran;
}

/** What a hook answered or threw, in a box of our own: asking the thing itself what it is might throw. */
type Heard = { readonly answer: unknown } | { readonly thrown: unknown };

/** One promise for all of them: a step may have hundreds. */
function allOf(
  pending: readonly [number, Promise<unknown>][],
  keep: (index: number, heard: Heard) => void,
): Promise<void> {
  return new Promise((resolve) => {
    let left = pending.length;
    const end = (index: number, heard: Heard): void => {
      keep(index, heard);
      left -= 1;
      if (left === 0) resolve();
    };
    for (const [index, said] of pending) {
      said.then(
        (answer) => end(index, { answer }),
        (thrown: unknown) => end(index, { thrown }),
      );
    }
  });
}

/** Looked at once: a foreign answer may be something else the next time. */
function call({ plugin, hook }: Asking, scene: Scene, moment: Moment): Promise<unknown> | Heard {
  try {
    const answer = hook(new HookView(moment, scene, plugin.config));
    return isAwaitable(answer) ? Promise.resolve(answer) : { answer };
  } catch (thrown) {
    return { thrown };
  }
}

/** Never throws: what it is given may throw when it is read. */
function read(heard: Heard, { plugin }: Asking, moment: Moment): Answer {
  const where = whereIn(plugin, moment);
  try {
    if ("thrown" in heard) return failure(where, heard.thrown);
    const answer = readAnswer(heard.answer, { ...where, writes: plugin.writes, otherModel: moment.otherModel });
    return answer instanceof HoldfastError ? kept(where, answer) : answer;
  } catch (cause) {
    return failure(where, cause);
  }
}

function whereIn(plugin: OpenPlugin, moment: Moment): Where {
  return { phase: moment.phase, ...from(plugin, moment) };
}

function ask(each: Asking, scene: Scene, moment: Moment): Answer | Promise<Answer> {
  const said = call(each, scene, moment);
  if (!(said instanceof Promise)) return read(said, each, moment);
  return said.then(
    (answer) => read({ answer }, each, moment),
    (thrown: unknown) => read({ thrown }, each, moment),
  );
}

function mergeAnswers(asked: Asked, answers: Answers): Whenever<Ran> {
  const taken = new Set<string>();
  const commands: GivenCommand[] = [];
  const losers: number[] = [];
  let { scene } = asked;
  for (const [index, each] of asked.asking.entries()) {
    const answer = answers[index] as Answer;
    if (answer instanceof HoldfastError) return failed(each.plugin, asked.moment, answer); // G4
    if (answer.length === 0) continue;
    const touched = answer.flatMap((command) => touches(command, scene.space));
    if (touched.some((what) => taken.has(what))) losers.push(index);
    else {
      for (const what of touched) taken.add(what);
      const merged = mergeInto(scene, answer, whereIn(each.plugin, asked.moment));
      if (merged instanceof HoldfastError) return failed(each.plugin, asked.moment, merged);
      scene = merged;
      commands.push(...answer.map((command) => ({ ...from(each.plugin, asked.moment), command })));
    }
  }
  return askAgain(losers, { asked, answers, scene, commands });
}

interface Unfinished {
  readonly asked: Asked;
  readonly answers: Answers;
  readonly scene: Scene;
  readonly commands: readonly GivenCommand[];
}

/** G2, of those at these places. */
function askAgain(losers: readonly number[], so: Unfinished): Whenever<Ran> {
  const [index, ...rest] = losers;
  if (index === undefined) return said(so);
  const loser = so.asked.asking[index] as Asking;
  so.answers[index] = undefined;
  return whenKnown(ask(loser, so.scene, so.asked.moment), (answer) => {
    so.answers[index] = answer;
    if (answer instanceof HoldfastError) return failed(loser.plugin, so.asked.moment, answer);
    const scene = mergeInto(so.scene, answer, whereIn(loser.plugin, so.asked.moment));
    if (scene instanceof HoldfastError) return failed(loser.plugin, so.asked.moment, scene);
    const given = from(loser.plugin, so.asked.moment);
    const commands = [...so.commands, ...answer.map((command) => ({ ...given, command }))];
    return askAgain(rest, { ...so, scene, commands });
  });
}

function said({ commands, asked }: Unfinished): Ran {
  const { moment, space, asking } = asked;
  const policy = asking.map(({ plugin }) => refOf(plugin, moment)).find((ref) => ref !== undefined);
  return { kind: "said", commands, seen: seenBy(commands, space), ...(policy ? { policy } : {}) };
}

function from(plugin: OpenPlugin, moment: Moment): Omit<GivenCommand, "command"> {
  const policy = refOf(plugin, moment);
  return { plugin: plugin.name, ...(policy ? { policy } : {}) };
}

/** Of what follows from an answer to its question, the stage is the one that asked. */
function refOf({ policy }: OpenPlugin, { phase, subject, state }: Moment): PolicyRef | undefined {
  if (!policy) return undefined;
  const ticket = state.plugins.decided.find(({ id }) => id === subject);
  const stage = policyStages.find((each) => phaseOfStage[each] === phase || each === ticket?.name);
  return stage && { ...policy, stage };
}

function seenBy(commands: readonly GivenCommand[], space: StateSpace): Seen {
  const seen = new Map<string, Slot | undefined>();
  for (const { command } of commands) {
    const key = command.type === "set-state" ? space.keys.get(command.key) : undefined;
    if (key?.merge === "exclusive") seen.set(key.name, slotIn(space, key));
  }
  return seen;
}

const exclusive: readonly CommandType[] = ["patch-input", "rewrite-result", "rewrite-output"];

/** Names of what can have only one writer at a moment. */
function touches(command: Command, space: StateSpace): readonly string[] {
  if (exclusive.includes(command.type)) return [`~${command.type}`];
  if (command.type !== "set-state" || space.keys.get(command.key)?.merge !== "exclusive") return [];
  return [command.key];
}

/** The scene as later hooks see it: with this one's writes. */
function mergeInto(scene: Scene, commands: readonly Command[], where: Where): Scene | HoldfastError {
  let next = scene;
  for (const command of commands) {
    if (command.type === "set-state") {
      const space = written(next.space, command, where);
      if (space instanceof HoldfastError) return space;
      next = { ...next, space };
    }
    if (command.type === "patch-input") next = { ...next, input: command.input };
    if (command.type === "rewrite-result") next = { ...next, result: rewritten(command) };
    if (command.type === "rewrite-output") next = { ...next, output: command.text };
  }
  return next;
}

export function written(space: StateSpace, write: SetState, where: Where): StateSpace | HoldfastError {
  const changed = changeState(space, write, where.plugin);
  return changed.ok ? withChange(space, changed.entry) : refused(where, changed.problem);
}

function failed(plugin: OpenPlugin, moment: Moment, error: HoldfastError): Ran {
  return { kind: "failed", ...from(plugin, moment), ...told(error) };
}

function told(failure: HoldfastError): Pick<Extract<Ran, { kind: "failed" }>, "error" | "unsaid"> {
  const { code, message } = failure;
  return { error: { code, message }, ...(failure instanceof QuietFailure ? { unsaid: failure.unsaid } : {}) };
}

/** Turns of the event loop's inner queue that an answer may take before a timer is set: nobody has waited for anything. */
const turnsWithoutTimer = 8;

async function inTime(ran: Promise<Ran>, asked: Asked, answers: Answers): Promise<Ran> {
  const { deadlineMs, timing, moment, abort } = asked;
  let isKnown = false;
  const noted = ran.finally(() => {
    isKnown = true;
  });
  for (let turn = 0; turn < turnsWithoutTimer && !isKnown; turn += 1) await undefined;
  if (isKnown) return noted;
  const within = await settleWithin(noted, deadlineMs, timing);
  if (within.kind === "value") return within.value;
  abort();
  const silent = asked.asking.filter((_each, index) => answers[index] === undefined);
  const [first = { phase: moment.phase, plugin: "(unknown)" }, ...others] = silent.map((each) =>
    whereIn(each.plugin, moment),
  );
  const { phase: _phase, ...who } = first;
  if (within.kind === "threw") return { kind: "failed", ...who, ...told(failure(first, within.cause)) };
  const message = `${whatFailed([first, ...others])}: no answer within ${deadlineMs} ms`;
  return { kind: "failed", ...who, error: { code: "plugin-failed", message } };
}
