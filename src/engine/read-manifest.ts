/** The manifest that a run has now: the one it was born with. */
import { HoldfastError } from "../domain/errors.ts";
import type { Manifest } from "../domain/manifest.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Store } from "../ports/store.ts";

export async function readManifest({ created }: RunState, store: Store): Promise<Manifest> {
  const { scope, run } = created.identity;
  const { fingerprint } = created.manifest;
  const declared = await store.manifest(scope, fingerprint);
  if (declared) return { fingerprint, declared };
  throw new HoldfastError("entry-unreadable", `Run ${run}: its manifest ${fingerprint} is not stored`);
}
