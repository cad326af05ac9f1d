/** How a store that cannot be opened says so. */
import { type HoldfastError, isHoldfastError } from "../../src/domain/errors.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { deps } from "./shared-server.ts";

export async function refusal(definition: StoreDefinition): Promise<HoldfastError> {
  try {
    await (await definition.open(deps)).close();
  } catch (cause) {
    if (isHoldfastError(cause)) return cause;
    throw cause;
  }
  throw new Error("it was opened");
}

/** The same URL with something else in it. */
export function changed(
  url: string,
  change: Partial<Pick<URL, "host" | "username" | "password" | "pathname">>,
): string {
  return Object.assign(new URL(url), change).href;
}
