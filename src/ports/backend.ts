/** Backend: where a run executes. Only what the in-process one needs yet; remote backends widen it. */
import type { HeldClaim } from "./dispatcher.ts";

export interface Backend {
  readonly name: string;
  /** Drives the claimed run until it waits, ends or the claim is lost. Rejects only for defects. */
  executeRoot(claim: HeldClaim): Promise<void>;
}
