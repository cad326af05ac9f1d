/**
 * C7: a run that ends asks the runs below it to end too, and gives them a grace before it ends without them.
 * It waits without a lease; what it has asked is written, so whoever goes on after a crash asks nobody twice. Where no
 * process was up at the end of the grace, there is another one: those below were not up either.
 */
import type { RunEnded } from "../domain/entry.ts";
import type { CallState } from "../domain/run-state.ts";
import { isChild } from "./delegate.ts";
import { type Draft, emit, wakeBy } from "./draft.ts";

const mostRounds = 10;

/** True while some of them may still end in time. */
export function stopChildren(draft: Draft): boolean {
  const alive = aliveBelow(draft);
  if (alive.length === 0) return false;
  const { now, limits } = draft.at;
  const { status, stopping = [], tickets, stopWait } = draft.state;
  const grace = graceOf(draft, alive);
  const asked = new Set(stopping.map(({ run }) => run));
  const more = alive.flatMap(({ effect }) => {
    const child = effect?.child;
    return child && !asked.has(child.run) ? [{ run: child.run, agent: child.agent }] : [];
  });
  const graceEnd = (stopWait?.at ?? now) + grace;
  const isMissed = now >= graceEnd + limits.graceMs && (stopWait?.rounds ?? 0) < mostRounds;
  const isOver = more.length === 0 && now >= graceEnd && !isMissed;
  if (isOver) return false;
  const isAnew = more.length > 0 || isMissed;
  if (isAnew || status === "running") {
    emit(draft, {
      type: "run-waiting",
      tickets: tickets.map(({ id }) => id),
      reasons: [...new Set(tickets.map(({ kind }) => kind))],
      ...(more.length > 0 ? { stopping: more } : {}),
    });
  }
  wakeBy(draft, isAnew ? now + grace : graceEnd);
  return true;
}

type Below = Pick<CallState, "tool" | "effect" | "ended">;

/** The calls it waits for, and the tasks beside it. */
function aliveBelow({ state }: Draft): readonly Below[] {
  const calls: readonly Below[] = state.step?.calls.filter(isChild) ?? [];
  return [...calls, ...(state.tasks ?? [])].filter(({ effect, ended }) => effect?.open && !ended);
}

/** Each level needs one for its own effects, and hears of it later than the one above. */
function graceOf({ at }: Draft, calls: readonly Below[]): number {
  const heights = calls.map(({ tool }) => at.delegate(tool)?.height ?? 0);
  return at.limits.graceMs * (2 + Math.max(0, ...heights));
}

/** What is said at the end of those that were asked. */
export function descendantsOf({ state }: Draft): Pick<RunEnded, "descendants"> {
  if (!state.stopping) return {};
  return { descendants: state.stopping.map(({ run, agent, how = "would-not-stop" }) => ({ run, agent, how })) };
}
