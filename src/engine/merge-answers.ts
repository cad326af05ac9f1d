/** What the hooks of a moment said, merged into one list (G2, G4), and the scene as those see it that are asked again. */
import { rewritten } from "../domain/apply-plugins.ts";
import type { Command, CommandType, GivenCommand, SetState } from "../domain/command.ts";
import { HoldfastError } from "../domain/errors.ts";
import type { Slot } from "../domain/state-slots.ts";
import { changeState, type StateSpace, slotIn, withChange } from "../domain/state-space.ts";
import { type Answer, type Asking, ask, failed, from, type Ran, refOf, type Seen, whereIn } from "./asked-hook.ts";
import { refused } from "./check-command.ts";
import type { Where } from "./hook-failure.ts";
import type { Timing } from "./settle-within.ts";
import type { Moment, Scene } from "./view.ts";
import { type Whenever, whenKnown } from "./whenever.ts";

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

/** Answers by place; a place is empty while its hook is waited for. */
export type Answers = (Answer | undefined)[];

export function mergeAnswers(asked: Asked, answers: Answers): Whenever<Ran> {
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
export function mergeInto(scene: Scene, commands: readonly Command[], where: Where): Scene | HoldfastError {
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
