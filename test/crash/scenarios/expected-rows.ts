import type { Expected } from "../../../src/testing/crash-scenario.ts";

export interface ExpectedRow {
  /** Also after every cut, save that a `once` effect in flight at a death may be missing, and is then unknown. */
  readonly uncut: Expected;
  /** By label of the call that throws: tools, checks and reconciles only, every other error changes nothing. */
  readonly afterError: Readonly<Record<string, Expected>>;
}

export type ExpectedRows = Readonly<Record<string, ExpectedRow>>;
