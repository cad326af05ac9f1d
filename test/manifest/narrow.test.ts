/** M4: what a child may be is never more than its parent. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Answerer, type ApprovalTerms, mayAnswer, termsFrom } from "../../src/domain/approval.ts";
import type { DeclaredManifest } from "../../src/domain/declared-manifest.ts";
import type { RunId } from "../../src/domain/ids.ts";
import { declare, manifestProblems } from "../../src/domain/manifest.ts";
import { narrowManifest } from "../../src/domain/narrow-manifest.ts";
import type { ToolSpec } from "../../src/domain/tool.ts";
import { agent, policy } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";

const gates = ["never", "by-input", "always"] as const;

/** Who is in none of them may never answer; silence approves in one. */
const terms: readonly (ApprovalTerms | undefined)[] = [
  undefined,
  { audience: { roles: ["boss"] } },
  { audience: { roles: ["boss", "owner"], principals: ["ana"] }, answerWithinMs: 5 },
  { audience: { principals: ["ana"] }, answerWithinMs: 9, onExpiry: "approve" },
  { answerWithinMs: 3, onExpiry: "cancel-run", escalate: { afterMs: 1, audience: { roles: ["clerk"] } } },
];

function toolOf(name: string): fc.Arbitrary<ToolSpec> {
  return fc.record({
    name: fc.constant(name),
    version: fc.constantFrom("1", "2"),
    description: fc.constant(name),
    inputSchema: fc.constantFrom({}, { type: "object" }),
    effect: fc.constantFrom("pure", "idempotent", "once", "transactional"),
    resume: fc.constant("replay"),
    gate: fc.constantFrom(...gates),
    timeoutMs: fc.integer({ min: 1, max: 9 }),
    concurrency: fc.integer({ min: 1, max: 9 }),
    onUnknown: fc.constantFrom("ask", "tell-model"),
    reconciles: fc.constant(false),
    approval: fc.constantFrom(...terms),
  }) as fc.Arbitrary<ToolSpec>;
}

function some<T>(names: readonly string[], of: (name: string) => fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.subarray([...names]).chain((picked) => fc.tuple(...picked.map(of)));
}

const limit = fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined });
const manifests: fc.Arbitrary<DeclaredManifest> = fc
  .record({
    tools: some(["a", "b", "c"], toolOf),
    sinks: fc.subarray(["crm", "ledger"]),
    plugins: some(["p", "q", "policy-house", "policy-law"], (name) =>
      fc.record({ name: fc.constant(name), version: fc.constantFrom("1", "2"), config: fc.constant(null) }),
    ),
    state: some(["k", "l"], (name) =>
      fc.constant({ name, scope: "run" as const, version: 1, merge: "exclusive" as const }),
    ),
    steps: fc.integer({ min: 1, max: 9 }),
    tokens: limit,
    wallTimeMs: limit,
  })
  .map(({ tools, plugins, state, sinks, steps, tokens, wallTimeMs }) => ({
    format: 1,
    agent: "x",
    version: "1",
    model: { provider: "scripted", model: "m" },
    instructions: { kind: "text", text: "" },
    tools,
    context: null,
    plugins,
    state,
    sinks,
    budget: {
      steps,
      ...(tokens === undefined ? {} : { tokens }),
      ...(wallTimeMs === undefined ? {} : { wallTimeMs }),
    },
    declaredBy: { holdfast: "0" },
  }));

const ids = (list: readonly { name: string; version: unknown }[] = []): readonly string[] =>
  list.map(({ name, version }) => `${name}@${String(version)}`);

const runId = "run-1" as RunId;
const isPolicy = ({ name }: { name: string }): boolean => name.startsWith("policy-");
const people: readonly Answerer[] = [
  { by: "ana" },
  { by: "bob", roles: ["boss"] },
  { by: "cy", roles: ["owner"] },
  { by: "dee", roles: ["clerk"] },
];

/** Whether silence approves, and who might answer at some time. */
function allows({ approval }: ToolSpec): { readonly silence: boolean; readonly who: readonly string[] } {
  const ticket = { ...termsFrom(approval, 0), agent: "x", run: runId, rootRun: runId };
  const who = people.filter((each) => mayAnswer(ticket, each, 0) || mayAnswer(ticket, each, 99)).map(({ by }) => by);
  return { silence: ticket.answerBy !== undefined && ticket.onExpiry === "approve", who };
}

test("M4 no tool, plugin, key, sink, approval or budget of a child is more than its parent's, and nothing is made up", () => {
  fc.assert(
    fc.property(manifests, manifests, fc.boolean(), (parent, child, readOnly) => {
      const narrowed = narrowManifest(parent, child, { readOnly });
      for (const list of ["tools", "state"] as const) {
        expect(ids(parent[list])).toEqual(expect.arrayContaining([...ids(narrowed[list])]));
        expect(ids(child[list])).toEqual(expect.arrayContaining([...ids(narrowed[list])]));
      }
      const guards = narrowed.plugins?.filter(isPolicy) ?? [];
      const others = narrowed.plugins?.filter((each) => !isPolicy(each)) ?? [];
      for (const of of [parent, child]) expect(ids(of.plugins)).toEqual(expect.arrayContaining([...ids(others)]));
      const wanted = [...(parent.plugins ?? []), ...(child.plugins ?? [])].filter(isPolicy).map(({ name }) => name);
      expect(guards.map(({ name }) => name).sort()).toEqual([...new Set(wanted)].sort());
      expect(ids(guards)).toEqual(expect.arrayContaining([...ids(parent.plugins?.filter(isPolicy))]));
      for (const sink of narrowed.sinks ?? []) expect(parent.sinks).toContain(sink);
      if (readOnly) expect(narrowed.sinks).toBeUndefined();
      for (const spec of narrowed.tools) {
        for (const of of [parent, child]) {
          const own = of.tools.find(({ name }) => name === spec.name);
          if (!own) throw new Error(`${spec.name} is made up`);
          expect(gates.indexOf(spec.gate)).toBeGreaterThanOrEqual(gates.indexOf(own.gate));
          expect(spec.timeoutMs).toBeLessThanOrEqual(own.timeoutMs);
          expect(spec.concurrency).toBeLessThanOrEqual(own.concurrency);
          expect(spec.inputSchema).toEqual(own.inputSchema);
          if (own.onUnknown === "ask") expect(spec.onUnknown).toBe("ask");
          expect(allows(own).who).toEqual(expect.arrayContaining([...allows(spec).who]));
          if (allows(spec).silence) expect(allows(own).silence).toBe(true);
        }
        if (readOnly) expect(spec.effect).toBe("pure");
      }
      for (const [name, most] of [...Object.entries(parent.budget), ...Object.entries(child.budget)]) {
        expect(narrowed.budget[name as "steps"]).toBeLessThanOrEqual(Number(most));
      }
      expect(manifestProblems(narrowed)).toEqual([]);
      expect(narrowManifest(parent, narrowed, { readOnly })).toEqual(narrowed);
    }),
    { numRuns: 1_000 },
  );
});

test("M4 a child that may only read has no tool that writes, runs or reaches out, and tells no sink", () => {
  const kinds = ["pure", "idempotent", "once", "transactional"] as const;
  const specs = kinds.map((effect) => ({ name: effect, version: "1", effect, gate: "never", onUnknown: "ask" }));
  const own = { tools: specs, budget: { steps: 1 }, sinks: ["crm"] } as unknown as DeclaredManifest;
  expect(narrowManifest(own, own).tools).toHaveLength(4);
  const reader = narrowManifest(own, own, { readOnly: true });
  expect(reader.tools.map(({ effect }) => effect)).toEqual(["pure"]);
  expect(reader.sinks).toBeUndefined();
});

test("M4 a child keeps its own policy and is given its parent's", () => {
  const made = (name: string, rules: string): DeclaredManifest => {
    const own = policy({ name: rules, "tool-call": () => "allow" });
    return declare(agent({ name, model: scripted([]), instructions: "", policy: own }));
  };
  const narrowed = narrowManifest(made("parent", "law"), made("child", "house"));
  expect(narrowed.plugins?.map(({ name }) => name)).toEqual(["policy-law", "policy-house"]);
});
