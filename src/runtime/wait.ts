/** Waiting for a run: hints wake it early, polling makes sure, the caller's signal ends it. */
import { HoldfastError } from "../domain/errors.ts";
import type { RunKey } from "../ports/store.ts";
import type { Desk } from "./desk.ts";

export interface Wait {
  readonly until: () => Promise<boolean>;
  readonly signal?: AbortSignal;
}

export async function waitUntil(key: RunKey, desk: Desk, wait: Wait): Promise<void> {
  let hinted = false;
  let wake: (() => void) | undefined;
  const unsubscribe = desk.bus.subscribe((hint) => {
    if (hint.run !== key.run || hint.scope !== key.scope) return;
    hinted = true;
    wake?.();
  });
  const stop = (): void => wake?.();
  wait.signal?.addEventListener("abort", stop, { once: true });
  desk.closed.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      refuseEnded(key, desk, wait);
      hinted = false;
      if (await wait.until()) return;
      if (hinted) continue;
      const timer = new AbortController();
      wake = () => timer.abort();
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
