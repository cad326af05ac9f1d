/**
 * Which workers there are, as far as anyone needs to know: so that a run whose agent nobody has does not wait unseen.
 * Claims do not rest on it.
 *
 * K1 What a worker announced counts until its time is over, by store time; its next announcement replaces it.
 * K2 An agent is unserved in a scope when one of its runs has been claimable for so long and no announcement in force
 *    names it for that scope or for all scopes.
 */
import type { Scope } from "../domain/ids.ts";

export interface Announcement {
  readonly worker: string;
  /** None takes back what was announced. */
  readonly agents: readonly string[];
  readonly scopes: readonly Scope[] | "all";
  readonly ttlMs: number;
}

export interface UnservedRequest {
  readonly scope: Scope;
  readonly dueForMs: number;
  readonly limit: number;
}

export interface WorkerStore {
  announce(announcement: Announcement): Promise<void>;
  /** Names of agents, in their order. */
  unserved(request: UnservedRequest): Promise<readonly string[]>;
}

/** No scope has this name. */
export const allScopes = "";

export function announcedScopes({ scopes }: Announcement): readonly string[] {
  return scopes === "all" ? [allScopes] : scopes;
}
