/**
 * What a call is named on the wire: as this provider named it, so that what it keeps of the call still fits. A name of
 * another provider is taken if every provider reads such names; else, or when it is there twice, our own id stands in.
 */
import type { CallId } from "../../domain/ids.ts";
import { callsOf, type Message } from "../../domain/message.ts";

export type CallIds = (call: CallId) => string;

const readByAll = /^[A-Za-z0-9_-]{1,64}$/;

export function callIds(messages: readonly Message[], provider: string): CallIds {
  const ids = new Map<CallId, string>();
  const taken = new Set<string>();
  for (const { call, alias = "", metadata } of messages.flatMap(callsOf)) {
    if (ids.has(call)) continue;
    const isOwn = alias !== "" && metadata?.[provider] !== undefined;
    const id = (isOwn || readByAll.test(alias)) && !taken.has(alias) ? alias : free(ourName(call), taken);
    ids.set(call, id);
    taken.add(id);
  }
  return (call) => ids.get(call) ?? ourName(call);
}

/** The end of an id differs most: it has the step and the index. */
function ourName(call: CallId): string {
  return `call_${call.replaceAll(/[^A-Za-z0-9]/g, "_").slice(-30)}`;
}

function free(name: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const candidate = n === 1 ? name : `${name}_${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}
