/** The manifest that a run has now: the one it was born with, or the one that an entry has brought since. */

import type { DeclaredManifest, Manifest } from "../domain/declared-manifest.ts";
import { HoldfastError } from "../domain/errors.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Store } from "../ports/store.ts";

export async function readManifest(state: RunState, store: Store): Promise<Manifest> {
  const { fingerprint } = state.manifest;
  const declared = await readDeclared(state, store);
  if (declared) return { fingerprint, declared };
  const { run } = state.created.identity;
  throw new HoldfastError("entry-unreadable", `Run ${run}: its manifest ${fingerprint} is not stored`);
}

async function readDeclared({ manifest, created }: RunState, store: Store): Promise<DeclaredManifest | undefined> {
  const { scope, run } = created.identity;
  if (manifest.amendedAt === undefined) return store.manifest(scope, manifest.fingerprint);
  const [entry] = await store.readRun({ scope, run, after: manifest.amendedAt - 1, limit: 1 });
  return entry?.type === "manifest-amended" ? entry.declared : undefined;
}
