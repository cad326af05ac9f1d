/** Listens for all watchers of this runtime, and only while there are any: to the bus, to live pieces, to the store. */
import type { RunId, Scope } from "../domain/ids.ts";
import type { Live } from "../engine/live.ts";
import type { Hint } from "../ports/bus.ts";
import type { Desk } from "./desk.ts";
import { createIdentities, type Identities } from "./identities.ts";
import type { Ring } from "./ring.ts";
import { createRunRings, type JoinedRun } from "./run-rings.ts";
import { createScopeTail } from "./scope-tail.ts";
import type { RingItem } from "./watch.ts";

export interface WatchHub {
  readonly live: Live;
  readonly identities: Identities;
  joinRun(run: RunId): Promise<JoinedRun>;
  joinAll(): Promise<{ readonly ring: Ring<RingItem>; leave(): void }>;
  /** Writers in other processes are asked for what they write, from its beginning. Returns the way to stop asking. */
  ask(run?: RunId): () => void;
}

export function createWatchHub(desk: Desk, live: Live): WatchHub {
  const identities = createIdentities(desk);
  const rings = createRunRings(desk, identities);
  const tail = createScopeTail(desk, identities);
  let stop: AbortController | undefined;

  function hear(hint: Hint): void {
    if (hint.scope !== desk.scope) return;
    rings.hear(hint);
    tail.look().catch(() => undefined);
  }

  function push(scope: Scope, item: Extract<RingItem, { kind: "told" }>): void {
    if (scope !== desk.scope) return;
    rings.push(item.told.run, item);
    tail.push(item);
  }

  function listen(): void {
    if (stop) return;
    const stopping = new AbortController();
    const offBus = desk.bus.subscribe(hear);
    const offLive = live.subscribe((scope, told) => push(scope, { kind: "told", told }));
    const offFar = desk.bus.pieces?.hear(({ scope, told, at }) => push(scope, { kind: "told", told, at }));
    stopping.signal.addEventListener("abort", () => [offBus, offLive, offFar].forEach((off) => void off?.()));
    stop = stopping;
    poll(stopping.signal).catch((cause: unknown) => desk.logger.warn("Polling stopped", { cause: String(cause) }));
  }

  /** Writers in other processes give no hints here: ask the store whether anything was added. */
  async function poll(signal: AbortSignal): Promise<void> {
    let last = "";
    for (;;) {
      await desk.clock.sleep(desk.watchPollMs, signal);
      if (signal.aborted || desk.closed.aborted) return;
      const pulse = await desk.store.pulse().catch(() => last);
      if (pulse === last) continue;
      const [runsSeen, tailSeen] = await Promise.all([rings.look(), tail.look()]);
      if (runsSeen && tailSeen) last = pulse; // else the same is looked at again
    }
  }

  /** Each watcher leaves once; the last one turns off the light. */
  function leaving(leave: () => void): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      leave();
      if (!rings.isEmpty() || !tail.isEmpty()) return;
      stop?.abort("unwatched");
      stop = undefined;
    };
  }

  return {
    live,
    identities,
    async joinRun(run) {
      const joined = await rings.join(run);
      listen();
      return { ...joined, leave: leaving(joined.leave) };
    },
    async joinAll() {
      const joined = await tail.join();
      listen();
      return { ...joined, leave: leaving(joined.leave) };
    },
    ask: (run) => askOthers(desk, run),
  };
}

function askOthers({ bus, scope }: Desk, run: RunId | undefined): () => void {
  const wish = run === undefined ? { scope } : { scope, run };
  return bus.pieces?.ask(wish) ?? (() => undefined);
}
