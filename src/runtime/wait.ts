/** Waiting for a run: hints wake it early, polling makes sure, the caller's signal ends it; a busy store does not. */
import type { EntryType } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { persist } from "../engine/retry.ts";
import type { RunKey } from "../ports/store.ts";
import type { Desk } from "./desk.ts";

export interface Wait {
  readonly until: () => Promise<boolean>;
  /** The entries that can make it true; a hint that carries others is not looked into. */
  readonly by: readonly EntryType[];
  readonly signal?: AbortSignal;
  /** What other runs do can make it true as well. */
  readonly isOfAny?: boolean;
}

export async function waitUntil(key: RunKey, desk: Desk, wait: Wait): Promise<void> {
  let hinted = false;
  let wake: (() => void) | undefined;
  const unsubscribe = desk.bus.subscribe((hint) => {
    if ((hint.run !== key.run && !wait.isOfAny) || hint.scope !== key.scope) return;
    if (hint.entries && !hint.entries.some((entry) => wait.by.includes(entry.type))) return;
    hinted = true;
    wake?.();
  });
  const stopped = new AbortController();
  const stop = (): void => {
    stopped.abort("stopped");
    wake?.();
  };
  const patience = { clock: desk.clock, logger: desk.logger, signal: stopped.signal };
  const unlessStopped = (cause: unknown): false => {
    if (stopped.signal.aborted) return false;
    throw cause;
  };
  wait.signal?.addEventListener("abort", stop, { once: true });
  desk.closed.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      refuseEnded(key, desk, wait);
      hinted = false;
      if (await persist(`Waiting for run ${key.run}`, patience, wait.until).catch(unlessStopped)) return;
      if (hinted) continue;
      const timer = new AbortController();
      wake = () => timer.abort("woken");
      if (wait.signal?.aborted || desk.closed.aborted) continue;
      await desk.clock.sleep(desk.pollMs, timer.signal);
      wake = undefined;
    }
  } finally {
    unsubscribe();
    wait.signal?.removeEventListener("abort", stop);
    desk.closed.removeEventListener("abort", stop);
  }
}

function refuseEnded(key: RunKey, desk: Desk, wait: Wait): void {
  if (wait.signal?.aborted) {
    throw new HoldfastError("wait-aborted", `Waiting for run ${key.run} was aborted by its caller`, {
      cause: wait.signal.reason,
      details: { run: key.run },
    });
  }
  if (desk.closed.aborted) {
    throw new HoldfastError("runtime-closed", `The runtime was closed while run ${key.run} was awaited`, {
      details: { run: key.run },
    });
  }
}
