/** Manifest: what decides a run's behaviour. The declared part is data; its hash is the fingerprint. */
import type { Agent } from "./agent.ts";
import type { UsedPlugin } from "./agent-plugins.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ModelDescription } from "./model.ts";
import type { OutputSpec } from "./output.ts";
import type { RunBudget } from "./run.ts";
import type { StateKeyFacts } from "./state-key.ts";
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
  /** Absent when the answer is text. */
  readonly output?: OutputSpec;
  /** In the order in which they are asked; absent when there are none. */
  readonly plugins?: readonly { readonly name: string; readonly version: string; readonly config: JsonValue }[];
  /** Sorted by name; absent when there are none. */
  readonly state?: readonly Pick<StateKeyFacts, "name" | "scope" | "version" | "merge">[];
  readonly budget: RunBudget;
}

export function declare(agent: Agent<unknown>): DeclaredManifest {
  return {
    format: 1,
    agent: agent.name,
    model: described(agent.model.description),
    instructions:
      typeof agent.instructions === "string" ? { kind: "text", text: agent.instructions } : { kind: "function" },
    tools: agent.tools.map((each) => each.spec).sort((a, b) => (a.name < b.name ? -1 : 1)),
    context: agent.contextSchema ?? null,
    ...(agent.output ? { output: agent.output.spec } : {}),
    ...(agent.plugins.length > 0 ? { plugins: agent.plugins.map(declaredPlugin) } : {}),
    ...(agent.stateKeys.length > 0 ? { state: agent.stateKeys.map(declaredKey) } : {}),
    budget: agent.budget,
  };
}

function declaredPlugin({ name, version, declared }: UsedPlugin): NonNullable<DeclaredManifest["plugins"]>[number] {
  return { name, version, config: declared };
}

function declaredKey({ name, scope, version, merge }: StateKeyFacts): NonNullable<DeclaredManifest["state"]>[number] {
  return { name, scope, version, merge };
}

/** Only what we know the meaning of: a foreign description may hold anything. */
function described({ provider, model, prices, maxOutputTokens, structuredOutput }: ModelDescription): ModelDescription {
  return {
    provider,
    model,
    ...(prices
      ? { prices: { inputPerMillion: prices.inputPerMillion, outputPerMillion: prices.outputPerMillion } }
      : {}),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(structuredOutput === undefined ? {} : { structuredOutput }),
  };
}
