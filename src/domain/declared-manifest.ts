/** What a manifest declares: plain data, stored and restorable. Each field is listed in manifest-fields.ts. */

import type { DeclaredBackend } from "./backend/endpoint.ts";
import type { Adaptation } from "./backend/negotiate.ts";
import type { HistorySpec } from "./history.ts";
import type { Fingerprint } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ModelDescription } from "./model.ts";
import type { OutputSpec } from "./output.ts";
import type { RunBudget } from "./run.ts";
import type { StateKeyFacts } from "./state-key.ts";
import type { ToolSpec } from "./tool.ts";

/** Stored once per (scope, fingerprint), in the transaction of the birth that first cites it. */
export interface DeclaredManifest {
  readonly format: 1;
  readonly agent: string;
  readonly version: string;
  readonly model: ModelDescription;
  /** A function's text is code: bound by name, invisible to the fingerprint. */
  readonly instructions: { readonly kind: "text"; readonly text: string } | { readonly kind: "function" };
  /** Sorted by name. */
  readonly tools: readonly ToolSpec[];
  readonly context: JsonObject | null;
  /** Absent when the answer is text. */
  readonly output?: OutputSpec;
  /** Absent where nothing was said of it. */
  readonly history?: HistorySpec;
  /** In the order in which they are asked; absent when there are none. */
  readonly plugins?: readonly { readonly name: string; readonly version: string; readonly config: JsonValue }[];
  /** Sorted by name; absent when there are none. */
  readonly state?: readonly Pick<StateKeyFacts, "name" | "scope" | "version" | "merge">[];
  /** Absent when its runs execute where they are claimed. */
  readonly backend?: DeclaredBackend & { readonly adapt: readonly Adaptation[] };
  /** Sorted by name; absent when there are none. Their tools are among `tools`. */
  readonly delegates?: readonly DeclaredDelegate[];
  /** Of a delegate as its parent lends it: the delegations above it as `agent/delegate`, the first first. */
  readonly under?: readonly string[];
  readonly budget: RunBudget;
  /** Sorted; absent when there are none. */
  readonly sinks?: readonly string[];
  /** Volatile: who was the first to declare exactly this. */
  readonly declaredBy: { readonly holdfast: string };
}

/** An agent that this one may give work to, and the most that it may be. */
export interface DeclaredDelegate {
  readonly name: string;
  readonly agent: string;
  readonly declared: Omit<DeclaredManifest, "declaredBy">;
  readonly budget?: Partial<RunBudget>;
  readonly readOnly?: true;
  readonly ephemeral?: true;
  readonly background?: true;
  readonly handoff?: true;
}

/** What a run is started with, and its name. */
export interface Manifest {
  readonly fingerprint: Fingerprint;
  readonly declared: DeclaredManifest;
}
