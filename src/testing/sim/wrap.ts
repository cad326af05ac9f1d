/** Where a mutant may sit. The simulator itself never changes a call. */
import type { RuntimePorts } from "../../compose.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import type { AgentCode } from "../../runtime/bind-agent.ts";

/** Another await inside a wrapped port call: one that the scheduler may fill with anything. */
export type Turn = (what: string) => Promise<void>;

/** Wrappers around ports, for mutants: what they break, the checks must find. */
export interface Wrap {
  /** Inside the checks: the store they watch. */
  readonly store?: (deps: { readonly clock: Clock; readonly turn: Turn }) => Promise<Store>;
  /** Between a process and the checks. */
  readonly ports?: (ports: RuntimePorts, turn: Turn) => RuntimePorts;
  readonly agent?: (agent: AgentCode) => AgentCode;
}
