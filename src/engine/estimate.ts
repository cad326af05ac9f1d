/** About how many tokens a model call sends. Close enough to hold money by; what it really was comes with the answer. */
import type { Message } from "../domain/message.ts";
import type { BoundAgent } from "./deps.ts";

/** Characters of JSON per token. Real text has more; a model that counts less leaves something over. */
const charactersPerToken = 3;

/** Instructions may be a function, and plugins add to them: a flat guess. */
const instructionsTokens = 500;

export function estimateInput(
  { shown, output }: Pick<BoundAgent, "shown" | "output">,
  messages: readonly Message[],
): number {
  let characters = sizeOf(shown) + (output ? sizeOf(output.spec.schema) : 0);
  for (const message of messages) characters += sizeOf(message.parts);
  return Math.ceil(characters / charactersPerToken) + instructionsTokens;
}

const sizes = new WeakMap<object, number>();

/** Messages never change, so each is measured once. */
function sizeOf(value: object): number {
  const known = sizes.get(value);
  if (known !== undefined) return known;
  const size = JSON.stringify(value).length;
  sizes.set(value, size);
  return size;
}
