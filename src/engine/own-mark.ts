/** Whose a mark is: the thread's, or only this run's. */
import { overridesOf } from "../domain/step-overrides.ts";
import type { Draft } from "./draft.ts";

/** Made for another model than the agent's, it is this run's own, and so is every one after it. */
export function ownMark({ state }: Draft): { readonly own?: true } {
  return state.ownMark !== undefined || overridesOf(state)?.model !== undefined ? { own: true } : {};
}
