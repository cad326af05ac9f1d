/** What a provider wants back, as our parts keep it: its metadata as it came, under the provider's name. */
import type { JsonObject } from "../../domain/json.ts";
import type { PartMetadata } from "../../domain/message.ts";
import { recordIn } from "../shared/fields.ts";
import type { PromptCustom, ProviderOptions } from "./types.ts";

/** Marks a part as this provider's, also when it wants nothing back. */
export function kept(provider: string, metadata: unknown): PartMetadata {
  return { [provider]: recordIn(metadata) as JsonObject };
}

const customMark = "holdfast.custom";

/** Content that nobody but its provider can read is kept as a thought without words. */
export function keptAsCustom(provider: string, kind: string, metadata: unknown): PartMetadata {
  return { [provider]: { ...(recordIn(metadata) as JsonObject), [customMark]: { kind } } };
}

export function keptCustom(own: JsonObject): PromptCustom | undefined {
  const { [customMark]: mark, ...metadata } = own;
  const { kind } = recordIn(mark);
  if (typeof kind !== "string") return undefined;
  const options = Object.keys(metadata).length === 0 ? {} : { providerOptions: metadata as ProviderOptions };
  return { type: "custom", kind: kind as PromptCustom["kind"], ...options };
}
