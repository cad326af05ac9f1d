/**
 * How the failure of a hook is told.
 *
 * F1 Where a hook looks at what may be withheld, a result or an answer, what it throws may quote that. The journal, the
 *    model, events and results are told that it failed; its words go to the logger, and nowhere else.
 * F2 A policy is called what its author called it, with the stage that failed.
 */
import type { PolicyRef } from "../domain/command.ts";
import { HoldfastError } from "../domain/errors.ts";
import { messageOf } from "../domain/json.ts";
import type { Phase } from "../domain/phase.ts";
import { VerdictProblem } from "../domain/policy.ts";

export interface Where {
  readonly phase: Phase;
  readonly plugin: string;
  readonly policy?: PolicyRef;
}

/** Its words are not to be told. */
export class QuietFailure extends HoldfastError {
  readonly unsaid: string;

  constructor(code: HoldfastError["code"], message: string, unsaid: string) {
    super(code, message);
    this.unsaid = unsaid;
  }
}

/** F1. What has no verdict at all is told in words of our own. */
export function failure(where: Where, cause: unknown): HoldfastError {
  const message = whatFailed([where]);
  if (!looksAtHidden(where.phase) || cause instanceof VerdictProblem) {
    return new HoldfastError("plugin-failed", `${message}: ${messageOf(cause)}`, { cause });
  }
  return new QuietFailure("plugin-failed", message, messageOf(cause));
}

/** F1. Of a policy, what is wrong with a verdict may name what it was made of. */
export function kept(where: Where, error: HoldfastError): HoldfastError {
  if (!where.policy || !looksAtHidden(where.phase)) return error;
  return new QuietFailure(error.code, whatFailed([where]), error.message);
}

export function looksAtHidden(phase: Phase): boolean {
  return phase === "after-tool" || phase === "output-gate";
}

/** F2. */
export function whatFailed(all: readonly Where[]): string {
  const policies = all.flatMap(({ policy }) => (policy ? [`Policy ${policy.name} failed at ${policy.stage}`] : []));
  const plugins = [...new Set(all.flatMap(({ plugin, policy }) => (policy ? [] : [plugin])))];
  const others = plugins.length > 0 ? [`Plugin ${plugins.join(", ")} failed in ${all[0]?.phase}`] : [];
  return [...new Set(policies), ...others].join(", ");
}

export function whoIn({ phase, plugin, policy }: Where): string {
  return policy ? `Policy ${policy.name} at ${policy.stage}` : `Plugin ${plugin} in ${phase}`;
}
