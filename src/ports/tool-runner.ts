/** User code behind a port: the engine never calls a tool directly, so a cut, a fault or a scheduler can sit here. */
import type { Verdict } from "../domain/entry.ts";
import type { JsonValue } from "../domain/json.ts";
import type { Reconciled, ToolContext, ToolSpec } from "../domain/tool.ts";

export interface JudgedCall {
  readonly tool: string;
  readonly input: JsonValue;
  /** The input is a person's edit, which itself answers an ask. */
  readonly edited: boolean;
}

export interface ToolWork {
  readonly tx: unknown;
  readonly prepared: unknown;
  readonly context: ToolContext;
}

export interface ToolRunner {
  spec(tool: string): ToolSpec | undefined;
  /** Validates the input, then asks the gate. A plain value when nothing had to be waited for. */
  judge(call: JudgedCall): Verdict | Promise<Verdict>;
  /** Parses the input again and runs the code once. Throws what the code throws. */
  execute(tool: string, input: JsonValue, context: ToolContext): Promise<unknown>;
  /** The work of a transactional tool, with what `execute` has prepared. A plain value when nothing had to be waited for. */
  apply(tool: string, work: ToolWork): unknown;
  /** A read: did the call with this key take effect? */
  reconcile(tool: string, key: string, input: JsonValue): Promise<Reconciled>;
}
