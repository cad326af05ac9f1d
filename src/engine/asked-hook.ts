/** One hook that is asked: what it is called with, what it answered or threw, and whose word that is. */
import type { Command, GivenCommand, PolicyRef } from "../domain/command.ts";
import type { PluginFailure } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { phaseOfStage, policyStages } from "../domain/phase.ts";
import type { Slot } from "../domain/state-slots.ts";
import type { AnyHook, OpenPlugin } from "../ports/plugin-runner.ts";
import { readAnswer } from "./check-command.ts";
import { failure, kept, QuietFailure, type Where } from "./hook-failure.ts";
import { HookView, type Moment, type Scene } from "./view.ts";
import { isAwaitable } from "./whenever.ts";

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

/** A hook that is asked, and whose it is. */
export interface Asking {
  readonly plugin: OpenPlugin;
  readonly hook: AnyHook;
}

export type Answer = readonly Command[] | HoldfastError;

/** What a hook answered or threw, in a box of our own: asking the thing itself what it is might throw. */
export type Heard = { readonly answer: unknown } | { readonly thrown: unknown };

/** Looked at once: a foreign answer may be something else the next time. */
export function call({ plugin, hook }: Asking, scene: Scene, moment: Moment): Promise<unknown> | Heard {
  try {
    const answer = hook(new HookView(moment, scene, plugin.config));
    return isAwaitable(answer) ? Promise.resolve(answer) : { answer };
  } catch (thrown) {
    return { thrown };
  }
}

/** Never throws: what it is given may throw when it is read. */
export function read(heard: Heard, { plugin }: Asking, moment: Moment): Answer {
  const where = whereIn(plugin, moment);
  try {
    if ("thrown" in heard) return failure(where, heard.thrown);
    const answer = readAnswer(heard.answer, { ...where, writes: plugin.writes, otherModel: moment.otherModel });
    return answer instanceof HoldfastError ? kept(where, answer) : answer;
  } catch (cause) {
    return failure(where, cause);
  }
}

export function whereIn(plugin: OpenPlugin, moment: Moment): Where {
  return { phase: moment.phase, ...from(plugin, moment) };
}

export function ask(each: Asking, scene: Scene, moment: Moment): Answer | Promise<Answer> {
  const said = call(each, scene, moment);
  if (!(said instanceof Promise)) return read(said, each, moment);
  return said.then(
    (answer) => read({ answer }, each, moment),
    (thrown: unknown) => read({ thrown }, each, moment),
  );
}

export function from(plugin: OpenPlugin, moment: Moment): Omit<GivenCommand, "command"> {
  const policy = refOf(plugin, moment);
  return { plugin: plugin.name, ...(policy ? { policy } : {}) };
}

/** Of what follows from an answer to its question, the stage is the one that asked. */
export function refOf({ policy }: OpenPlugin, moment: Moment): PolicyRef | undefined {
  if (!policy) return undefined;
  const { phase, subject, state } = moment;
  if (phase === "tool-gate" && isDelegation(moment)) return { ...policy, stage: "delegation" };
  const ticket = state.plugins.decided.find(({ id }) => id === subject);
  const stage = policyStages.find((each) => phaseOfStage[each] === phase || each === ticket?.name);
  return stage && { ...policy, stage };
}

function isDelegation({ state, subject, delegate }: Moment): boolean {
  const call = state.step?.calls.find(({ id }) => id === subject);
  return call !== undefined && delegate(call.tool) !== undefined;
}

export function failed(plugin: OpenPlugin, moment: Moment, error: HoldfastError): Ran {
  return { kind: "failed", ...from(plugin, moment), ...told(error) };
}

export function told(failure: HoldfastError): Pick<Extract<Ran, { kind: "failed" }>, "error" | "unsaid"> {
  const { code, message } = failure;
  return { error: { code, message }, ...(failure instanceof QuietFailure ? { unsaid: failure.unsaid } : {}) };
}
