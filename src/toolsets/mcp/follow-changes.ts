/**
 * The stream on which a server of 2026 tells its changes. It may be cut by anybody on the way: that alone says nothing about
 * the server, nor about calls that are with it. So it is asked for again, and only a server that cannot be reached at all
 * counts as lost.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { McpLimits } from "./limits.ts";
import type { Opened } from "./open.ts";
import { neverArrived } from "./outcome.ts";

interface Following {
  readonly limits: McpLimits;
  readonly isLive: () => boolean;
  /** The stream is back; what was told meanwhile is not known. */
  readonly onMissed: () => void;
  readonly onGone: (why: string) => void;
}

export async function followChanges({ client }: Opened, following: Following): Promise<void> {
  const { limits, isLive, onMissed, onGone } = following;
  let stream = client.autoOpenedSubscription;
  for (let times = 0; stream; times += 1) {
    if ((await stream.closed) === "local" || !isLive()) return;
    await sleep(Math.min(limits.reconnectMaxMs, limits.reconnectMs * 2 ** Math.min(times, 30)), undefined, {
      ref: false,
    });
    if (!isLive()) return;
    try {
      stream = await client.listen({ toolsListChanged: true }, { timeout: limits.connectMs });
      onMissed();
    } catch (cause) {
      if (neverArrived(cause)) onGone("the server ended its stream of changes and cannot be reached");
      return; // without the stream, changes are found when the list is old
    }
  }
}
