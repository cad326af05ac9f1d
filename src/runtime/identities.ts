/** Who a run is, read once from its first entry and kept while there is room. */
import { isHoldfastError } from "../domain/errors.ts";
import type { RunId } from "../domain/ids.ts";
import type { RunIdentity } from "../domain/run.ts";
import type { CommittedRow } from "../ports/store.ts";
import type { Desk } from "./desk.ts";
import { type Placed, placeEntry } from "./placed.ts";
import { noSuchRun } from "./refusals.ts";

export interface Identities {
  of(run: RunId): Promise<RunIdentity>;
  /** The events of a commit, with what they need of their run. */
  place(row: CommittedRow): Promise<readonly Placed[]>;
}

const limit = 4_096;

export function createIdentities(desk: Desk): Identities {
  const known = new Map<RunId, RunIdentity>();

  async function of(run: RunId): Promise<RunIdentity> {
    const identity = known.get(run) ?? (await read(run));
    known.set(run, identity);
    const [oldest] = known.keys();
    if (known.size > limit && oldest !== undefined) known.delete(oldest);
    return identity;
  }

  async function read(run: RunId): Promise<RunIdentity> {
    const [created] = await desk.store.readRun({ scope: desk.scope, run, after: 0, limit: 1 });
    if (created?.type === "run-created") return created.identity;
    throw noSuchRun(run, desk);
  }

  return {
    of,
    async place(row) {
      const [first] = row.entries;
      const identity = first?.type === "run-created" ? first.identity : await of(row.run).catch(unlessErased);
      if (!identity) return [];
      return row.entries.map((entry) => placeEntry(entry, identity, { position: row.position, seq: entry.seq }));
    },
  };
}

/** Between the two reads somebody took the run away: there is nothing to show of it. */
function unlessErased(cause: unknown): undefined {
  if (!isHoldfastError(cause, "run-not-found")) throw cause;
  return undefined;
}
