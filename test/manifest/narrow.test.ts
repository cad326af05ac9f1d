/** M4: what a child may be is never more than its parent. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { DeclaredManifest } from "../../src/domain/declared-manifest.ts";
import { manifestProblems } from "../../src/domain/manifest.ts";
import { narrowManifest } from "../../src/domain/narrow-manifest.ts";
import type { ToolSpec } from "../../src/domain/tool.ts";

const gates = ["never", "by-input", "always"] as const;

function toolOf(name: string): fc.Arbitrary<ToolSpec> {
  return fc.record({
    name: fc.constant(name),
    version: fc.constantFrom("1", "2"),
    description: fc.constant(name),
    inputSchema: fc.constant({}),
    effect: fc.constantFrom("pure", "idempotent", "once"),
    resume: fc.constant("replay"),
    gate: fc.constantFrom(...gates),
    timeoutMs: fc.integer({ min: 1, max: 9 }),
    concurrency: fc.integer({ min: 1, max: 9 }),
    onUnknown: fc.constant("ask"),
    reconciles: fc.constant(false),
  }) as fc.Arbitrary<ToolSpec>;
}

function some<T>(names: readonly string[], of: (name: string) => fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.subarray([...names]).chain((picked) => fc.tuple(...picked.map(of)));
}

const limit = fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined });
const manifests: fc.Arbitrary<DeclaredManifest> = fc
  .record({
    tools: some(["a", "b", "c"], toolOf),
    plugins: some(["p", "q"], (name) =>
      fc.record({ name: fc.constant(name), version: fc.constantFrom("1", "2"), config: fc.constant(null) }),
    ),
    state: some(["k", "l"], (name) =>
      fc.constant({ name, scope: "run" as const, version: 1, merge: "exclusive" as const }),
    ),
    steps: fc.integer({ min: 1, max: 9 }),
    tokens: limit,
    wallTimeMs: limit,
  })
  .map(({ tools, plugins, state, steps, tokens, wallTimeMs }) => ({
    format: 1,
    agent: "x",
    version: "1",
    model: { provider: "scripted", model: "m" },
    instructions: { kind: "text", text: "" },
    tools,
    context: null,
    plugins,
    state,
    budget: {
      steps,
      ...(tokens === undefined ? {} : { tokens }),
      ...(wallTimeMs === undefined ? {} : { wallTimeMs }),
    },
    declaredBy: { holdfast: "0" },
  }));

const ids = (list: readonly { name: string; version: unknown }[] = []): readonly string[] =>
  list.map(({ name, version }) => `${name}@${String(version)}`);

test("M4 no tool, plugin, key, approval or budget of a child is more than its parent's, and nothing is made up", () => {
  fc.assert(
    fc.property(manifests, manifests, fc.boolean(), (parent, child, readOnly) => {
      const narrowed = narrowManifest(parent, child, { readOnly });
      for (const list of ["tools", "plugins", "state"] as const) {
        expect(ids(parent[list])).toEqual(expect.arrayContaining([...ids(narrowed[list])]));
        expect(ids(child[list])).toEqual(expect.arrayContaining([...ids(narrowed[list])]));
      }
      for (const spec of narrowed.tools) {
        const own = parent.tools.find(({ name }) => name === spec.name);
        expect(gates.indexOf(spec.gate)).toBeGreaterThanOrEqual(own ? gates.indexOf(own.gate) : 9);
        expect(spec.timeoutMs).toBeLessThanOrEqual(own?.timeoutMs ?? 0);
        if (readOnly) expect(spec.effect).toBe("pure");
      }
      for (const [name, most] of [...Object.entries(parent.budget), ...Object.entries(child.budget)]) {
        expect(narrowed.budget[name as "steps"]).toBeLessThanOrEqual(Number(most));
      }
      expect(manifestProblems(narrowed)).toEqual([]);
      expect(narrowManifest(parent, narrowed, { readOnly })).toEqual(narrowed);
    }),
    { numRuns: 500 },
  );
});
