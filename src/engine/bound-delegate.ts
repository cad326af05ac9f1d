import type { DeclaredManifest } from "../domain/declared-manifest.ts";

/** An agent that another one gives work to, as the engine knows it. */
export interface BoundDelegate {
  readonly agent: string;
  /** What it is at most, and what a run of it is started with. */
  readonly manifest: () => DeclaredManifest;
  readonly ephemeral: boolean;
  readonly background: boolean;
  /** Why its backend cannot have it as a delegate of this kind, if that is so: it is never begun then. */
  readonly refusal?: string;
  /** How many levels of delegates are below it. */
  readonly height: number;
}
