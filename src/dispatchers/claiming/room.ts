/**
 * How many more runs this process takes, in all, of each agent and in each scope.
 *
 * R1 No limit is ever passed: what may be asked for is counted from what is in hand, and one claim is under way at a time.
 * R2 An agent or scope without room is not asked for, so it keeps nobody else from being found.
 */
import type { Scope } from "../../domain/ids.ts";
import type { Claim } from "../../ports/store.ts";

export interface RoomOptions {
  /** Whose runs are taken; asked each time, for it may change. */
  readonly agents: () => readonly string[];
  /** Runs in hand at once. */
  readonly concurrency: number;
  /** The same of single agents, by name. */
  readonly concurrencyPerAgent: Readonly<Record<string, number>>;
  /** The same in each scope. */
  readonly concurrencyPerScope: number;
}

/** Agents that may be claimed together, and how many runs of them. */
export interface Ask {
  readonly agents: readonly string[];
  readonly limit: number;
}

export interface Room {
  /** In all. */
  left(): number;
  /** In a scope, of all agents together. */
  leftIn(scope: Scope): number;
  /** In a scope: agents with a limit of their own one by one, the others together. Empty when there is no room. */
  asks(scope: Scope): readonly Ask[];
  /** Some agent is left out of what may be asked for in the scope. */
  isShort(scope: Scope): boolean;
  took(claim: Claim): void;
  gave(claim: Claim): void;
}

type Counted = Pick<Claim, "agent" | "scope">;

export function createRoom(options: RoomOptions): Room {
  const { concurrency, concurrencyPerScope } = options;
  const limits = new Map(Object.entries(options.concurrencyPerAgent));
  const byAgent = new Map<string, number>();
  const byScope = new Map<Scope, number>();
  let taken = 0;

  function count({ agent, scope }: Counted, change: 1 | -1): void {
    taken += change;
    add(byAgent, agent, change);
    add(byScope, scope, change);
  }

  function leftIn(scope: Scope): number {
    return Math.min(concurrency - taken, concurrencyPerScope - (byScope.get(scope) ?? 0));
  }

  function asks(scope: Scope): readonly Ask[] {
    const most = leftIn(scope);
    if (most <= 0) return [];
    const agents = options.agents();
    const others = agents.filter((agent) => !limits.has(agent));
    const single = agents.flatMap((agent) => {
      const limit = Math.min(most, (limits.get(agent) ?? 0) - (byAgent.get(agent) ?? 0));
      return limit > 0 ? [{ agents: [agent], limit }] : [];
    });
    return others.length === 0 ? single : [...single, { agents: others, limit: most }];
  }

  return {
    left: () => concurrency - taken,
    leftIn,
    asks,
    isShort: (scope) => asks(scope).flatMap((ask) => ask.agents).length < options.agents().length,
    took: (claim) => count(claim, 1),
    gave: (claim) => count(claim, -1),
  };
}

/** What is not in hand takes no place in the map either: scopes come and go. */
function add<Key>(counts: Map<Key, number>, key: Key, change: number): void {
  const next = (counts.get(key) ?? 0) + change;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}
