/** Nothing to tell, but the provider is alive. */
import type { ModelPart } from "../../ports/provider.ts";

export const alive: readonly ModelPart[] = [{ type: "ping" }];
