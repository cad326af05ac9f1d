/** When calls reach the store, and when a write that was given up arrives after all. */
import type { Intercept, PortCall } from "./intercept.ts";
import { turn } from "./test-process.ts";

/**
 * One call reaches the store at a time, in the order in which they were made, and each when nothing is left to do about
 * the answer before: however slow the store is, every play of a scenario makes the same calls and gets the same answers.
 */
export function oneAtATime(): Intercept {
  let last: Promise<unknown> = Promise.resolve();
  return (call, proceed) => {
    if (call.port !== "store") return proceed();
    const answer = last.then(proceed);
    const told = Promise.allSettled([answer]).then(turn);
    last = told;
    return told.then(() => answer);
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
