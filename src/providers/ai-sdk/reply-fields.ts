/** What the readers of a reply share. */
import type { ModelPart } from "../../ports/provider.ts";

/** Of a part that may be anything. */
export type Fields = Readonly<Record<string, unknown>>;

/** Nothing to tell, but the provider is alive. */
export const alive: readonly ModelPart[] = [{ type: "ping" }];

export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
