/** Who watches in a schedule, what, and how badly. */
import type { EventFilter } from "../../domain/event-filter.ts";

/** Runs are named as the plan names them; who watches one finds out its id once it is there. */
export type Subject =
  | { readonly kind: "run"; readonly run: string }
  | { readonly kind: "many"; readonly filter: EventFilter };

export interface SpectatorPlan {
  readonly name: string;
  readonly subject: Subject;
  readonly joinAfterMs: number;
  /** How often it leaves before it stays to the end. */
  readonly departures: number;
  /** Chance of looking away after a frame. */
  readonly slowness: number;
}
