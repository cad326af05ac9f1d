/**
 * What this process remembers about rows, so that a commit need not ask for it: only what can never change again.
 *
 * P1 A run's numbers never change. `calmEpoch` is a claim whose crash count is known to be 0, which stays so, because
 *    only the next claim raises it.
 * P2 All of it is dropped when a transaction is undone: it may come from there.
 * P3 A number is never used again, so a run that was erased, here or by another process, is found nowhere and never
 *    mistaken. Its id may begin anew: who found nothing looks `again` before he says so.
 */
import type { Fingerprint, Scope } from "../../domain/ids.ts";
import type { RunKey } from "../../ports/store.ts";
import type { Connection } from "./database.ts";

export interface Place {
  readonly no: number;
  readonly thread: number;
  calmEpoch: number;
}

export interface Places {
  find(key: RunKey): Place | undefined;
  /** The place as the file has it now. */
  again(key: RunKey): Place | undefined;
  /** The manifest is certainly stored. */
  hasManifest(scope: Scope, fingerprint: Fingerprint): boolean;
  addManifest(scope: Scope, fingerprint: Fingerprint): void;
  forget(): void;
}

const maxPlaces = 20_000;
const maxManifests = 1_000;

export function createPlaces(db: Connection): Places {
  const places = new Map<string, Place>();
  const manifests = new Map<string, true>();
  function again(key: RunKey): Place | undefined {
    const name = pairOf(key.scope, key.run);
    const known = places.get(name);
    const sql = "SELECT no, thread FROM runs WHERE scope = ? AND id = ?";
    const row = db.get<{ no: number; thread: number }>(sql, key.scope, key.run);
    if (row && row.no === known?.no) return known;
    places.delete(name);
    if (!row) return undefined;
    const place: Place = { no: row.no, thread: row.thread, calmEpoch: 0 };
    keep(places, { name, value: place, limit: maxPlaces });
    return place;
  }
  return {
    find: (key) => places.get(pairOf(key.scope, key.run)) ?? again(key),
    again,
    hasManifest: (scope, fingerprint) => manifests.has(pairOf(scope, fingerprint)),
    addManifest: (scope, fingerprint) =>
      keep(manifests, { name: pairOf(scope, fingerprint), value: true, limit: maxManifests }),
    forget: () => {
      places.clear();
      manifests.clear();
    },
  };
}

/** Ids have no control characters, so the pair cannot be read in two ways. */
function pairOf(scope: Scope, id: string): string {
  return `${scope}\n${id}`;
}

function keep<T>(
  map: Map<string, T>,
  added: { readonly name: string; readonly value: T; readonly limit: number },
): void {
  map.set(added.name, added.value);
  if (map.size <= added.limit) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
