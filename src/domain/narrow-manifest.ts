/**
 * What a delegate may be at most: its own manifest, cut down to what its parent has.
 *
 * M4 A child has no tool, no plugin and no state key that its parent does not have, no looser approval, and no more of any
 *    budget. A child that may only read has none but pure tools. Narrowing twice is narrowing once.
 */
import type { DeclaredManifest } from "./declared-manifest.ts";
import type { RunBudget } from "./run.ts";
import type { ToolSpec } from "./tool.ts";

export function narrowManifest(
  parent: DeclaredManifest,
  child: DeclaredManifest,
  options: { readonly readOnly?: boolean } = {},
): DeclaredManifest {
  const { plugins, state, ...rest } = child;
  const tools = child.tools.flatMap((spec) => narrowTool(spec, parent.tools));
  const kept = plugins?.filter((each) => parent.plugins?.some((has) => isSameCode(has, each))) ?? [];
  const keys = state?.filter((each) => parent.state?.some(({ name }) => name === each.name)) ?? [];
  return {
    ...rest,
    tools: options.readOnly ? tools.filter(({ effect }) => effect === "pure") : tools,
    ...(kept.length > 0 ? { plugins: kept } : {}),
    ...(keys.length > 0 ? { state: keys } : {}),
    budget: narrowBudget(parent.budget, child.budget),
  };
}

interface Named {
  readonly name: string;
  readonly version: string;
}

function isSameCode(a: Named, b: Named): boolean {
  return a.name === b.name && a.version === b.version;
}

const strictness: readonly ToolSpec["gate"][] = ["never", "by-input", "always"];

/** The same code of the same class, as carefully as the stricter of the two. */
function narrowTool(spec: ToolSpec, parents: readonly ToolSpec[]): readonly ToolSpec[] {
  const parent = parents.find((each) => isSameCode(each, spec) && each.effect === spec.effect);
  if (!parent) return [];
  const gate = strictness[Math.max(strictness.indexOf(parent.gate), strictness.indexOf(spec.gate))] ?? "always";
  const timeoutMs = Math.min(parent.timeoutMs, spec.timeoutMs);
  return [{ ...spec, gate, timeoutMs, concurrency: Math.min(parent.concurrency, spec.concurrency) }];
}

/** A limit that only one of them has holds. */
function narrowBudget(parent: RunBudget, child: RunBudget): RunBudget {
  const limits = Object.entries({ ...parent, ...child }).map(([name, most]) => {
    const other = parent[name as keyof RunBudget] ?? Number.POSITIVE_INFINITY;
    return [name, Math.min(other, most ?? Number.POSITIVE_INFINITY)];
  });
  return Object.fromEntries(limits) as unknown as RunBudget;
}
