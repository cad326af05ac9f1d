/** What the engine needs of the outside. All of it comes through ports (L11). */
import type { JsonValue } from "../domain/json.ts";
import type { OutputReport, OutputSpec } from "../domain/output.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Counts } from "../ports/counts.ts";
import type { Hash } from "../ports/hash.ts";
import type { Logger } from "../ports/logger.ts";
import type { PluginRunner } from "../ports/plugin-runner.ts";
import type { Model, ModelTool } from "../ports/provider.ts";
import type { Store } from "../ports/store.ts";
import type { ToolRunner } from "../ports/tool-runner.ts";
import type { EngineLimits } from "./limits.ts";
import type { Live } from "./live.ts";

/** An agent's code, bound by name. */
export interface BoundAgent {
  readonly name: string;
  readonly model: Model;
  readonly tools: ToolRunner;
  /** As the model sees them. */
  readonly shown: readonly ModelTool[];
  readonly plugins: PluginRunner;
  /** Absent when the answer is text. */
  readonly output?: BoundOutput;
  readonly instructions: (context: JsonValue | undefined) => string;
}

export interface BoundOutput {
  readonly spec: OutputSpec;
  readonly check: (text: string) => OutputReport | Promise<OutputReport>;
}

export interface EngineDeps {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly hash: Hash;
  readonly logger: Logger;
  readonly live: Live;
  readonly counts: Counts;
  readonly limits: EngineLimits;
  /** Lease end minus this is the last moment at which an attempt may begin. */
  readonly startMarginMs: number;
  readonly agent: (name: string) => BoundAgent | undefined;
}
