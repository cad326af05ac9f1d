/**
 * C7: a run that ends asks the runs below it to end too, and gives them a grace before it ends without them.
 * It waits without a lease; what it has asked is written, so whoever goes on after a crash asks nobody twice.
 */
import type { RunEnded } from "../domain/entry.ts";
import type { CallState } from "../domain/run-state.ts";
import { isChild } from "./delegate.ts";
import { type Draft, emit, wakeBy } from "./draft.ts";

/** True while some of them may still end in time. */
export function stopChildren(draft: Draft, since: number): boolean {
  const alive = aliveBelow(draft);
  const graceEnd = since + graceOf(draft, alive);
  if (alive.length === 0 || draft.at.now >= graceEnd) return false;
  const { status, stopping = [], tickets } = draft.state;
  const asked = new Set(stopping.map(({ run }) => run));
  const more = alive.flatMap(({ effect }) => {
    const child = effect?.child;
    return child && !asked.has(child.run) ? [{ run: child.run, agent: child.agent }] : [];
  });
  if (more.length > 0 || status === "running") {
    emit(draft, {
      type: "run-waiting",
      tickets: tickets.map(({ id }) => id),
      reasons: [...new Set(tickets.map(({ kind }) => kind))],
      ...(more.length > 0 ? { stopping: more } : {}),
    });
  }
  wakeBy(draft, graceEnd);
  return true;
}

function aliveBelow({ state }: Draft): readonly CallState[] {
  return state.step?.calls.filter((call) => isChild(call) && call.effect?.open && !call.ended) ?? [];
}

/** Each level needs one for its own effects, and hears of it later than the one above. */
function graceOf({ at }: Draft, calls: readonly CallState[]): number {
  const heights = calls.map(({ tool }) => at.delegate(tool)?.height ?? 0);
  return at.limits.graceMs * (2 + Math.max(0, ...heights));
}

/** What is said at the end of those that were asked. */
export function descendantsOf({ state }: Draft): Pick<RunEnded, "descendants"> {
  if (!state.stopping) return {};
  return { descendants: state.stopping.map(({ run, agent, how = "would-not-stop" }) => ({ run, agent, how })) };
}
