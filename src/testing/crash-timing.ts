/** When a store's answers come, and when a write that was given up arrives after all. */
import type { Intercept, PortCall } from "./intercept.ts";
import { turn } from "./test-process.ts";

/**
 * Calls reach the store as they are made, but their answers come back in that order, each when nothing is left to do
 * about the one before: however slow the store is, every play of a scenario makes the same calls.
 */
export function answersInOrder(): Intercept {
  let last: Promise<unknown> = Promise.resolve();
  return async (call, proceed) => {
    if (call.port !== "store") return proceed();
    const before = last;
    const answer = proceed();
    last = Promise.allSettled([before, answer]).then(turn);
    await last;
    return answer;
  };
}

export interface LateWrites {
  /** Keeps a write whose caller has been told that nobody knows its outcome. */
  hold(call: PortCall, write: () => Promise<unknown>): void;
  /** Lets what is held arrive first, when this call is the same write again; then the call itself. */
  readonly before: Intercept;
  /** Lets what is held arrive now. */
  land(): Promise<void>;
}

/** A COMMIT whose connection was cut may be at work in the server while its caller reads and finds nothing. */
export function createLateWrites(): LateWrites {
  let held: { readonly name: string; readonly write: () => Promise<unknown> } | undefined;

  async function land(): Promise<void> {
    const write = held?.write;
    held = undefined;
    await write?.().catch(() => undefined);
  }

  return {
    hold(call, write) {
      held = { name: nameOf(call), write };
    },
    before: (call, proceed) => (held?.name === nameOf(call) ? land().then(proceed) : proceed()),
    land,
  };
}

/** The same method about the same run, where it is about one. */
function nameOf({ method, args }: PortCall): string {
  return `${method} ${(args[0] as { readonly run?: string } | undefined)?.run ?? ""}`;
}
