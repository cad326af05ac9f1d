/** What of a backend's output the run keeps: all of it where there is room, and never a part in silence. */
import { bytesOf, slotOf, stateLimits } from "../state-slots.ts";
import type { Capabilities } from "./capabilities.ts";
import type { Adaptation } from "./negotiate.ts";
import { type BackendOutput, writtenOutput } from "./result.ts";

export type Kept =
  | { readonly kind: "kept"; readonly output: BackendOutput; readonly dropped: readonly ("artifacts" | "raw")[] }
  | { readonly kind: "refused"; readonly problem: string };

interface Terms {
  readonly capabilities: Pick<Capabilities, "output">;
  readonly adapt: readonly Adaptation[];
}

/** `raw` is a copy for whoever wants more, so it goes first; artifacts only where the caller allows it. */
export function keptOutput(output: BackendOutput, terms: Terms | undefined): Kept {
  const { artifacts = [], ...words } = output;
  const isText = terms?.capabilities.output === "text" && artifacts.length > 0;
  if (!isText && fits(output)) return { kind: "kept", output, dropped: [] };
  const { raw, ...whole } = output;
  const raws = raw === undefined ? [] : (["raw"] as const);
  if (!isText && fits(whole)) return { kind: "kept", output: whole, dropped: raws };
  if (artifacts.length > 0 && !terms?.adapt.includes("artifacts")) {
    const why = isText
      ? "it publishes that it gives text only"
      : `they have ${sizeOf({ artifacts })} bytes of JSON, and a run keeps ${stateLimits.keyBytes}`;
    const problem = `its ${artifacts.length} artifacts cannot be kept: ${why}; let the agent adapt: ["artifacts"] to go on without them`;
    return { kind: "refused", problem };
  }
  const dropped = artifacts.length > 0 ? (["artifacts", ...raws] as const) : raws;
  const { raw: _raw, ...text } = words;
  const kept = [words, text].find(fits) ?? {}; // a long text is in its message
  return { kind: "kept", output: kept, dropped };
}

function fits(output: BackendOutput): boolean {
  return sizeOf(output) <= stateLimits.keyBytes;
}

function sizeOf(output: BackendOutput): number {
  return bytesOf({ output: slotOf(writtenOutput(output), 1) });
}
