/**
 * What a delegate may be at most: its own manifest, cut down to what its parent has.
 *
 * M4 A child has no tool, no delegate, no plugin, no state key and no sink that its parent does not have, no looser approval, and no more
 *    of any budget. A child that may only read has none but pure tools, lends no more, and tells nobody. Narrowing twice is narrowing once.
 *    What guards is never cut away: the child keeps its own policies, and its parent's hold for it too.
 */
import { narrowBudget } from "./budget.ts";
import type { DeclaredDelegate, DeclaredManifest } from "./declared-manifest.ts";
import type { JsonValue } from "./json.ts";
import { isSame } from "./manifest-diff.ts";
import { narrowTerms } from "./narrow-terms.ts";
import { policyOf } from "./policy.ts";
import type { ToolSpec } from "./tool.ts";

export function narrowManifest(
  parent: DeclaredManifest,
  child: DeclaredManifest,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): DeclaredManifest {
  const { plugins: _plugins, state, sinks, delegates: lent, ...rest } = child;
  const keys = state?.filter((each) => parent.state?.some((has) => isSame({ ...has }, { ...each }))) ?? [];
  const delegates = narrowDelegates(parent.delegates, lent, readOnly);
  const isLent = (name: string): boolean => delegates.some((each) => each.name === name);
  const tools = child.tools.flatMap((spec) =>
    spec.effect === "child" && !isLent(spec.name) ? [] : narrowTool(spec, parent.tools),
  );
  const plugins = narrowPlugins(parent, child);
  const told = readOnly ? [] : (sinks?.filter((name) => parent.sinks?.includes(name)) ?? []);
  return {
    ...rest,
    tools: readOnly ? tools.filter(({ effect }) => effect === "pure" || effect === "child") : tools,
    ...(delegates.length > 0 ? { delegates } : {}),
    ...(plugins.length > 0 ? { plugins } : {}),
    ...(keys.length > 0 ? { state: keys } : {}),
    budget: narrowBudget(parent.budget, child.budget),
    ...(told.length > 0 ? { sinks: told } : {}),
  };
}

/** What one that may only read lends may only read. */
function narrowDelegates(has: Delegates = [], wanted: Delegates = [], readOnly: boolean): Delegates {
  const kept = wanted.filter((each) => has.some((one) => isSame(json(one), json(each))));
  return readOnly ? kept.map((each) => ({ ...each, readOnly: true as const })) : kept;
}

type Delegates = readonly DeclaredDelegate[];

function json(delegate: DeclaredDelegate): JsonValue {
  return delegate as unknown as JsonValue;
}

/** As policies are called in a manifest. */
export function isPolicyPlugin(name: string): boolean {
  return policyOf(name) !== undefined;
}

type Plugins = NonNullable<DeclaredManifest["plugins"]>;

/** The parent's policies first: they are asked before what the child has of its own, and count where names are the same. */
function narrowPlugins({ plugins: has = [] }: DeclaredManifest, { plugins: own = [] }: DeclaredManifest): Plugins {
  const inherited = has.filter(({ name }) => isPolicyPlugin(name));
  const isKept = (each: Named): boolean =>
    isPolicyPlugin(each.name)
      ? !inherited.some(({ name }) => name === each.name)
      : has.some((one) => isSameCode(one, each));
  return [...inherited, ...own.filter(isKept)];
}

interface Named {
  readonly name: string;
  readonly version: string;
}

function isSameCode(a: Named, b: Named): boolean {
  return a.name === b.name && a.version === b.version;
}

const strictness: readonly ToolSpec["gate"][] = ["never", "by-input", "always"];

/** The same code of the same class for the same input, as carefully as the stricter of the two. */
function narrowTool(spec: ToolSpec, parents: readonly ToolSpec[]): readonly ToolSpec[] {
  const parent = parents.find((each) => isSameCode(each, spec) && isSame(privileges(each), privileges(spec)));
  if (!parent) return [];
  const terms = narrowTerms(parent.approval, spec.approval);
  if (terms === "nobody") return [];
  const gate = strictness[Math.max(strictness.indexOf(parent.gate), strictness.indexOf(spec.gate))] ?? "always";
  const { approval: _approval, ...rest } = spec;
  return [
    {
      ...rest,
      gate,
      timeoutMs: Math.min(parent.timeoutMs, spec.timeoutMs),
      concurrency: Math.min(parent.concurrency, spec.concurrency),
      onUnknown: parent.onUnknown === "ask" ? "ask" : spec.onUnknown,
      ...(terms === undefined ? {} : { approval: terms }),
    },
  ];
}

/** What a call can do. Where it differs without a new version, the code is not the same after all. */
function privileges({ effect, inputSchema, transaction, writes = [] }: ToolSpec): JsonValue {
  return { effect, inputSchema, transaction: transaction ?? null, writes };
}
