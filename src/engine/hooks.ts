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
import { HoldfastError } from "../domain/errors.ts";
import type { Phase } from "../domain/phase.ts";
import type { OpenPlugin } from "../ports/plugin-runner.ts";
import { type Asking, call, type Heard, type Ran, read, told, whereIn } from "./asked-hook.ts";
import { failure, whatFailed } from "./hook-failure.ts";
import { type Answers, type Asked, mergeAnswers, mergeInto } from "./merge-answers.ts";
import { settleWithin } from "./settle-within.ts";
import { isAwaitable, type Whenever, whenKnown } from "./whenever.ts";

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
