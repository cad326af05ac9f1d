/** What every verb of the front desk shares. */

import { isHoldfastError } from "../domain/errors.ts";
import type { Scope } from "../domain/ids.ts";
import type { Redactor } from "../domain/redaction.ts";
import type { EngineLimits } from "../engine/limits.ts";
import { insist, persist } from "../engine/retry.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Hash } from "../ports/hash.ts";
import type { Ids } from "../ports/ids.ts";
import type { Logger } from "../ports/logger.ts";
import type { SchemaChecker } from "../ports/schema-checker.ts";
import type { Store } from "../ports/store.ts";
import type { AgentDirectory } from "./agent-directory.ts";
import type { FindRoute } from "./routed-models.ts";

export interface Desk {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly hash: Hash;
  readonly logger: Logger;
  readonly schemas: SchemaChecker;
  readonly redactor: Redactor;
  readonly scope: Scope;
  readonly agents: AgentDirectory;
  /** How large what comes in may be, in the journal and at all. */
  readonly limits: Pick<EngineLimits, "inlineBytes" | "contentBytes">;
  readonly findRoute: FindRoute;
  readonly pollMs: number;
  /** The same for watchers, who want to see others' work sooner. */
  readonly watchPollMs: number;
  /** Aborts when the runtime closes. */
  readonly closed: AbortSignal;
}

/** A read that someone waits for: repeated while the store says "later". */
export function surely<T>(what: string, desk: Desk, call: () => Promise<T>): Promise<T> {
  return persist(what, { clock: desk.clock, logger: desk.logger, signal: desk.closed }, call);
}

/** A caller behind a request waits no longer than this for a store that does not take its write. */
const writePatienceMs = 30_000;

/**
 * A keyed write: repeated while the store says "later" or cannot tell; the key makes the repeat harmless. A full disk is
 * told at once: it does not pass by waiting.
 */
export function written<T>(what: string, desk: Desk, call: () => Promise<T>): Promise<T> {
  const until = desk.clock.monotonic() + writePatienceMs;
  const isHopeless = (cause: unknown): boolean =>
    isHoldfastError(cause, "store-full") || desk.closed.aborted || desk.clock.monotonic() >= until;
  const patience = { clock: desk.clock, logger: desk.logger, signal: desk.closed, isHopeless };
  return insist(what, patience, call);
}
