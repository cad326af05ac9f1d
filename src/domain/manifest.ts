/** Manifest: what decides a run's behaviour. The declared part is data; its hash is the fingerprint. */
import type { Agent } from "./agent.ts";
import type { JsonObject } from "./json.ts";
import type { ModelDescription } from "./model.ts";
import type { RunBudget } from "./run.ts";
import type { ToolSpec } from "./tool.ts";

/** Stored once per (scope, fingerprint), in the transaction of the birth that first cites it. */
export interface DeclaredManifest {
  readonly format: 1;
  readonly agent: string;
  readonly model: ModelDescription;
  /** A function's text is code: bound by name, invisible to the fingerprint. */
  readonly instructions: { readonly kind: "text"; readonly text: string } | { readonly kind: "function" };
  /** Sorted by name. */
  readonly tools: readonly ToolSpec[];
  readonly context: JsonObject | null;
  readonly budget: RunBudget;
}

export function declare(agent: Agent<unknown>): DeclaredManifest {
  const { provider, model } = agent.model.description;
  return {
    format: 1,
    agent: agent.name,
    model: { provider, model },
    instructions:
      typeof agent.instructions === "string" ? { kind: "text", text: agent.instructions } : { kind: "function" },
    tools: agent.tools.map((each) => each.spec).sort((a, b) => (a.name < b.name ? -1 : 1)),
    context: agent.contextSchema ?? null,
    budget: agent.budget,
  };
}
