/**
 * Whatever ends a run, the other side is told when it may still work for it.
 *
 * X5 Before run-ended the task is not known to be finished, or an abort of it was committed and made. One that died with its
 *    process is made again; one that failed is logged, and changes nothing.
 */
import { supportsRemoteAbort } from "../domain/backend/capabilities.ts";
import { abortEffectId } from "../domain/ids.ts";
import { act, type Draft, emit, wakeBy } from "./draft.ts";

/** How long to wait for a renewal when the lease is too near its end to begin anything. */
const renewalWaitMs = 50;

/** True while the other side is being told. */
export function stopTask(draft: Draft): boolean {
  const { at } = draft;
  const { remote } = draft.state;
  const abort = remote?.abort;
  if (abort?.open?.epoch === at.epoch) return true;
  if (abort?.open) {
    const { attempt } = abort.open; // closed also where nobody here can make it again (L3)
    emit(draft, { type: "effect-settled", effect: abort.id, attempt, result: { kind: "lost" } });
  }
  if (!remote?.mayRun || !at.remote || !supportsRemoteAbort(at.remote.capabilities.cancellation)) return false;
  if (abort?.last?.kind === "failed") return false;
  if (at.elapsed >= at.beginBy) {
    wakeBy(draft, at.now + renewalWaitMs);
    return true;
  }
  intendAbort(draft, (abort?.attempt ?? 0) + 1);
  return true;
}

function intendAbort(draft: Draft, attempt: number): void {
  const { created, remote } = draft.state;
  const step = remote?.step ?? 0;
  const effect = abortEffectId(created.identity.run, step);
  const { startBy, beginBy, limits } = draft.at;
  const intent = { effect, kind: "remote-abort" as const, step, attempt, key: effect, startBy };
  act(draft, { type: "effect-intended", ...intent, timeoutMs: limits.graceMs });
  draft.start.push({ ...intent, timeoutMs: limits.graceMs, beginBy });
}
