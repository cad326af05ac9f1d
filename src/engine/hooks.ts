/**
 * Asks every plugin at one moment and merges what they say into one list.
 *
 * G1 All hooks of a moment look at one snapshot; in which order they answer changes nothing.
 * G2 Of those that set the same exclusive thing, the first by registration is taken; each other one is asked once more, in
 *    its turn, on what has been merged by then, and its first answer is forgotten.
 * G3 What needs no waiting is done at once and arms no timer; otherwise one deadline is over all of it.
 * G4 The first failure, by registration, is the moment's: nothing of what the others said is taken.
 */
import { rewritten } from "../domain/apply-plugins.ts";
import type { Command, GivenCommand, SetState } from "../domain/command.ts";
import type { PluginFailure } from "../domain/entry.ts";
import { HoldfastError, isHoldfastError } from "../domain/errors.ts";
import { messageOf } from "../domain/json.ts";
import type { Slot } from "../domain/state-slots.ts";
import { changeState, type StateSpace, slotIn, withChange } from "../domain/state-space.ts";
import type { AnyHook, OpenPlugin } from "../ports/plugin-runner.ts";
import { readAnswer } from "./check-command.ts";
import { settleWithin, type Timing } from "./settle-within.ts";
import { HookView, type Moment, type Scene } from "./view.ts";
import { isAwaitable, type Whenever, whenKnown } from "./whenever.ts";

/** What a moment came to. */
export type Ran =
  | { readonly kind: "said"; readonly commands: readonly GivenCommand[]; readonly seen: Seen }
  | ({ readonly kind: "failed" } & PluginFailure);

/** The exclusive slots that a moment writes, as they were when it began: if one is another by now, it has to look again. */
export type Seen = ReadonlyMap<string, Slot | undefined>;

export interface Asked {
  readonly moment: Moment;
  /** As the run is, and as the hooks see it: with what was scheduled for this phase. */
  readonly space: StateSpace;
  readonly scene: Scene;
  readonly plugins: readonly OpenPlugin[];
  readonly deadlineMs: number;
  readonly timing: Timing;
  readonly abort: () => void;
}

interface Asking {
  readonly plugin: OpenPlugin;
  readonly hook: AnyHook;
}

type Answer = readonly Command[] | HoldfastError;

export function askHooks(asked: Asked): Whenever<Ran> {
  const { moment, plugins } = asked;
  const waiting = new Set<string>();
  const asking = plugins.flatMap((plugin) =>
    (plugin.hooks.get(moment.phase) ?? []).map((hook): Asking => ({ plugin, hook })),
  );
  const answers = asking.map((each) => ask(each, asked.scene, { moment, waiting }));
  const merge = (known: readonly Answer[]): Whenever<Ran> => mergeAnswers(asking, known, { asked, waiting });
  const ran = answers.some(isAwaitable) ? Promise.all(answers).then(merge) : merge(answers as Answer[]);
  return isAwaitable(ran) ? inTime(Promise.resolve(ran), asked, waiting) : ran; // G3
}

interface Round {
  readonly moment: Moment;
  /** Plugins that have not answered yet. */
  readonly waiting: Set<string>;
}

function ask({ plugin, hook }: Asking, scene: Scene, { moment, waiting }: Round): Whenever<Answer> {
  const view = new HookView(moment, scene, plugin.config);
  const fail = (cause: unknown): HoldfastError => failure(plugin.name, moment.phase, cause);
  try {
    const answer = hook(view);
    if (!isAwaitable(answer)) return readAnswer(answer, { phase: moment.phase, plugin: plugin.name });
    waiting.add(plugin.name);
    return Promise.resolve(answer).then((said) => {
      waiting.delete(plugin.name);
      return readAnswer(said, { phase: moment.phase, plugin: plugin.name });
    }, fail);
  } catch (cause) {
    return fail(cause);
  }
}

export function failure(plugin: string, phase: string, cause: unknown): HoldfastError {
  if (isHoldfastError(cause, "command-refused") || isHoldfastError(cause, "plugin-failed")) return cause;
  return new HoldfastError("plugin-failed", `Plugin ${plugin} failed in ${phase}: ${messageOf(cause)}`, { cause });
}

interface Merging {
  readonly asked: Asked;
  readonly waiting: Set<string>;
}

function mergeAnswers(asking: readonly Asking[], answers: readonly Answer[], merging: Merging): Whenever<Ran> {
  const taken = new Set<string>();
  const commands: GivenCommand[] = [];
  const losers: Asking[] = [];
  let scene = merging.asked.scene;
  for (const [index, each] of asking.entries()) {
    const answer = answers[index] as Answer;
    if (answer instanceof HoldfastError) return failed(each.plugin.name, answer); // G4
    const touched = answer.flatMap((command) => touches(command, scene.space));
    if (touched.some((what) => taken.has(what))) losers.push(each);
    else {
      for (const what of touched) taken.add(what);
      const merged = mergeInto(scene, answer, each.plugin.name);
      if (merged instanceof HoldfastError) return failed(each.plugin.name, merged);
      scene = merged;
      commands.push(...answer.map((command) => ({ plugin: each.plugin.name, command })));
    }
  }
  return askAgain(losers, { ...merging, scene, commands });
}

interface Unfinished extends Merging {
  readonly scene: Scene;
  readonly commands: readonly GivenCommand[];
}

/** G2. */
function askAgain(losers: readonly Asking[], so: Unfinished): Whenever<Ran> {
  const [loser, ...rest] = losers;
  if (!loser) return { kind: "said", commands: so.commands, seen: seenBy(so.commands, so.asked.space) };
  const { moment } = so.asked;
  const { name } = loser.plugin;
  return whenKnown(ask(loser, so.scene, { moment, waiting: so.waiting }), (answer) => {
    if (answer instanceof HoldfastError) return failed(name, answer);
    const scene = mergeInto(so.scene, answer, name);
    if (scene instanceof HoldfastError) return failed(name, scene);
    const commands = [...so.commands, ...answer.map((command) => ({ plugin: name, command }))];
    return askAgain(rest, { ...so, scene, commands });
  });
}

function seenBy(commands: readonly GivenCommand[], space: StateSpace): Seen {
  const seen = new Map<string, Slot | undefined>();
  for (const { command } of commands) {
    const key = command.type === "set-state" ? space.keys.get(command.key) : undefined;
    if (key?.merge === "exclusive") seen.set(key.name, slotIn(space, key));
  }
  return seen;
}

/** Names of what can have only one writer at a moment. */
function touches(command: Command, space: StateSpace): readonly string[] {
  if (command.type === "patch-input" || command.type === "rewrite-result") return [`~${command.type}`];
  if (command.type !== "set-state" || space.keys.get(command.key)?.merge !== "exclusive") return [];
  return [command.key];
}

/** The scene as later hooks see it: with this one's writes. */
function mergeInto(scene: Scene, commands: readonly Command[], plugin: string): Scene | HoldfastError {
  let next = scene;
  for (const command of commands) {
    if (command.type === "set-state") {
      const space = written(next.space, command, plugin);
      if (space instanceof HoldfastError) return space;
      next = { ...next, space };
    }
    if (command.type === "patch-input") next = { ...next, input: command.input };
    if (command.type === "rewrite-result") next = { ...next, result: rewritten(command) };
  }
  return next;
}

export function written(space: StateSpace, write: SetState, by: string): StateSpace | HoldfastError {
  const changed = changeState(space, write, by);
  if (changed.ok) return withChange(space, changed.entry);
  return new HoldfastError("command-refused", `Plugin ${by}: ${changed.problem}`);
}

function failed(plugin: string, { code, message }: HoldfastError): Ran {
  return { kind: "failed", plugin, error: { code, message } };
}

async function inTime(ran: Promise<Ran>, asked: Asked, waiting: ReadonlySet<string>): Promise<Ran> {
  const { deadlineMs, timing, moment, abort } = asked;
  const within = await settleWithin(ran, deadlineMs, timing);
  if (within.kind === "value") return within.value;
  const [plugin = "(unknown)"] = waiting;
  abort();
  const cause = within.kind === "threw" ? within.cause : `no answer within ${deadlineMs} ms`;
  return failed(plugin, failure([...waiting].join(", ") || plugin, moment.phase, cause));
}
