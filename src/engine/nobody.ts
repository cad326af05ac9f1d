/** Stands for an agent whose code is not here: nothing of it is ever called (D8). */
import { HoldfastError } from "../domain/errors.ts";
import { defaultHistory } from "../domain/history.ts";
import type { BoundAgent } from "./deps.ts";

export function nobody(name: string): BoundAgent {
  function refuse(): never {
    throw new HoldfastError("unknown-agent", `This process does not have agent ${name}`);
  }
  return {
    name,
    provider: "none",
    model: { description: { provider: "none", model: "none" }, call: refuse },
    tools: { spec: () => undefined, judge: refuse, execute: refuse, apply: refuse, reconcile: refuse },
    plugins: { keys: new Map(), context: [], open: () => [] },
    shown: [],
    instructions: refuse,
    history: defaultHistory,
    delegates: new Map(),
  };
}
