/**
 * What a call is named on the wire: as the server named it, where that is a name nobody else has; else by our own id.
 * Servers send empty names and the same name twice; our ids are too long for some.
 */
import type { CallId } from "../../domain/ids.ts";
import { callsOf, type Message } from "../../domain/message.ts";

export interface CallNames {
  of(call: CallId): string;
}

const fitting = /^[A-Za-z0-9_-]{1,40}$/;

export function callNames(messages: readonly Message[]): CallNames {
  const names = new Map<CallId, string>();
  const taken = new Set<string>();
  for (const { call, alias = "" } of messages.flatMap(callsOf)) {
    if (names.has(call)) continue;
    const name = fitting.test(alias) && !taken.has(alias) ? alias : freshName(call, taken);
    names.set(call, name);
    taken.add(name);
  }
  return { of: (call) => names.get(call) ?? freshName(call, new Set()) };
}

/** The end of the id differs most: it has the step and the index. */
function freshName(call: CallId, taken: ReadonlySet<string>): string {
  const name = `call_${call.replaceAll(/[^A-Za-z0-9]/g, "_").slice(-30)}`;
  for (let n = 2; ; n += 1) {
    const candidate = n === 2 && !taken.has(name) ? name : `${name}_${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}
