/** Tools, keys and plugins that the scenarios of options share. */
import { z } from "zod";
import {
  type ConfiguredPlugin,
  type Hooks,
  plugin,
  stateKey,
  type Tool,
  ToolFailure,
  tool,
} from "../../../src/index.ts";

const input = z.object({ at: z.number().optional() });

export const look = tool({
  name: "look",
  description: "Looks",
  input,
  effect: "pure",
  execute: ({ at = 0 }) => {
    if (at < 0) throw new ToolFailure(`There is nothing at ${at}`);
    return { saw: at };
  },
});

export const ask: Tool = tool({
  name: "ask",
  description: "Asks first",
  input,
  effect: "pure",
  needsApproval: true,
  execute: () => "asked",
});

/** Never answers by itself. */
export function slow(): Tool {
  const execute = (_input: unknown, { signal }: { readonly signal: AbortSignal }): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new ToolFailure("aborted")), { once: true });
    });
  return tool({ name: "slow", description: "Is slow", input, effect: "pure", timeoutMs: 3_000, execute });
}

export const count = stateKey({ name: "count", schema: z.number(), initial: 0, merge: "sum" });

/** A plugin that does this, with the keys that it may write. */
export function hooking(hooks: Hooks, name = "hooking"): ConfiguredPlugin {
  return plugin({ name, state: [count], create: () => ({ hooks }) })();
}

/** Counts its steps, so that it is seen in the journal. */
export function noting(): ConfiguredPlugin {
  return hooking({ "before-step": () => count.update(1) }, "noting");
}
