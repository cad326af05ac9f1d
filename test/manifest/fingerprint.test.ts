/** The fingerprint: M1 and M2 of the manifest, F1 and F2 of its field table. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Agent } from "../../src/domain/agent.ts";
import type { DeclaredManifest } from "../../src/domain/declared-manifest.ts";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import { declare, fingerprintOf, manifestOf, manifestProblems } from "../../src/domain/manifest.ts";
import { diffManifests } from "../../src/domain/manifest-diff.ts";
import { fieldsOf, manifestFields } from "../../src/domain/manifest-fields.ts";
import { holdfastVersion } from "../../src/domain/version.ts";
import { schemaInOrder } from "../../src/domain/written-order.ts";
import { agent, plugin, stateKey, tool } from "../../src/index.ts";
import { nodeHash } from "../../src/platform/node-hash.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { bindAgent } from "../../src/runtime/bind-agent.ts";
import { goldenFingerprints, goldenManifests, whole } from "./golden.ts";

const manifest = whole as unknown as DeclaredManifest;

function print(of: unknown): string {
  return fingerprintOf(of as DeclaredManifest, nodeHash);
}

/** Another value of the same kind. */
function other(value: JsonValue): JsonValue {
  if (typeof value === "string") return `${value}!`;
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return [...value, "more"];
  return { ...(value as JsonObject), more: true };
}

/** The manifest with the field of this pattern changed, the first of its kind. */
function changed(value: JsonValue, pattern: string): JsonValue {
  if (pattern === "") return other(value);
  const [head = "", ...rest] = pattern.split(/\.|(?=\[\])/);
  const inner = rest.join(".").replace(".[]", "[]");
  if (head === "[]") {
    const [first = null, ...others] = value as readonly JsonValue[];
    return [changed(first, inner), ...others];
  }
  const record = value as JsonObject;
  return { ...record, [head]: changed(record[head] ?? null, inner) };
}

describe("the field table", () => {
  test("F1 a whole manifest has every pattern of the table and no other", () => {
    expect(manifestProblems(manifest)).toEqual([]);
    expect(new Set(fieldsOf(manifest).map(({ pattern }) => pattern))).toEqual(new Set(Object.keys(manifestFields)));
  });

  test("M1 volatile is exactly this: whatever decides behaviour may not join it", () => {
    const isVolatile = (pattern: string): boolean => manifestFields[pattern]?.class === "volatile";
    expect(Object.keys(manifestFields).filter(isVolatile)).toEqual(["declaredBy.holdfast"]);
  });

  test.each(Object.entries(manifestFields))("M1 changing %s", (pattern, { class: kind }) => {
    const next = changed(manifest as unknown as JsonValue, pattern);
    expect(next).not.toEqual(manifest);
    if (kind === "behavioural") expect(print(next)).not.toBe(print(manifest));
    else expect(print(next)).toBe(print(manifest));
  });

  test.each([
    [{ ...whole, mood: "good" }, "mood"],
    [{ ...whole, model: { ...whole.model, region: "eu" } }, "model.region"],
    [{ ...whole, tools: [{ ...whole.tools[0], colour: { red: 1 } }] }, "tools[book].colour.red"],
  ])("F1 a field in neither list is refused: %#", (wrong, path) => {
    const problems = manifestProblems(wrong as unknown as DeclaredManifest);
    expect(problems).toEqual([`${path}: is neither behavioural nor volatile`]);
  });
});

function shuffled(value: JsonValue, order: () => number): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => shuffled(item, order));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => ({ name, inner, at: order() }));
  entries.sort((a, b) => a.at - b.at);
  return Object.fromEntries(entries.map(({ name, inner }) => [name, shuffled(inner, order)]));
}

test("M1 the order in which fields were written down never matters", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.infiniteStream(fc.nat()), (config, stream) => {
      const order = (): number => Number(stream.next().value);
      const given = { ...whole, plugins: [{ name: "p", version: "1", config: config as JsonValue }] };
      expect(print(shuffled(given as unknown as JsonValue, order))).toBe(print(given));
    }),
    { numRuns: 200 },
  );
});

const notes = stateKey({ name: "notes", schema: z.string(), initial: "" });
const names = ["a", "b", "c", "d"];
const tools = names.map((name) =>
  tool({ name, description: name, input: z.object({}), writes: [notes], execute: () => name }),
);
const model = scripted(["."]);

test("M1 the order of an agent's tools never matters, that of its plugins does", () => {
  const p = plugin({ name: "p", create: () => ({}) });
  const q = plugin({ name: "q", create: () => ({}) });
  const prints = (of: Parameters<typeof agent>[0]): string => print(declare(agent(of) as Agent));
  const common = { name: "x", model, instructions: "" };
  fc.assert(
    fc.property(fc.shuffledSubarray(tools, { minLength: tools.length }), (order) => {
      expect(prints({ ...common, tools: order })).toBe(prints({ ...common, tools }));
    }),
  );
  expect(prints({ ...common, plugins: [p(), q()] })).not.toBe(prints({ ...common, plugins: [q(), p()] }));
});

test("M1 sets that were written down in another order are the same sets: required fields, audiences, state keys, sinks", () => {
  const [one, two] = ["one", "two"].map((name) => stateKey({ name, schema: z.string(), initial: "" }));
  if (!one || !two) throw new Error("two keys");
  const [a, b] = [z.object({ x: z.string() }), z.object({ y: z.number(), z: z.string() })];
  const forth = z.object({ a, b: z.array(b), c: z.union([a, b]) });
  const back = z.object({ c: z.union([a, z.object({ z: z.string(), y: z.number() })]), b: z.array(b), a });
  const made = (isBack: boolean): DeclaredManifest => {
    const turned = <T>(list: readonly T[]): readonly T[] => (isBack ? [...list].reverse() : list);
    const audience = { roles: turned(["a", "b"]), principals: turned(["c", "d"]) };
    const input = isBack ? back : forth;
    const act = tool({
      name: "act",
      description: "Acts",
      input,
      needsApproval: true,
      approval: { audience, escalate: { afterMs: 1, audience } },
      writes: turned([one, two]),
      execute: () => "",
    });
    const output = isBack ? back : forth;
    return declare(
      agent({
        name: "x",
        model,
        instructions: "",
        tools: [act],
        context: input,
        output,
        sinks: turned(["s", "t"]),
      }) as Agent<unknown>,
    );
  };
  expect(diffManifests(made(false), made(true))).toEqual([]);
  expect(print(made(true))).toBe(print(made(false)));
});

test("M1 what looks like a list of required fields in somebody's data keeps its order", () => {
  const schema = { type: "object", default: { required: ["b", "a"] }, properties: { required: { enum: ["b", "a"] } } };
  expect(schemaInOrder(schema)).toEqual(schema);
});

test("M2 whatever of its tools an agent has, the model is shown what can be executed, and all of it", () => {
  fc.assert(
    fc.property(fc.subarray(tools), (some) => {
      const bound = bindAgent(agent({ name: "x", model, instructions: "", tools: some }));
      expect(bound.shown.map(({ name }) => name)).toEqual(some.map(({ spec }) => spec.name));
      for (const { name } of bound.shown) expect(bound.tools.spec(name)).toBeDefined();
    }),
  );
});

test("M2, R-026 a manifest is refused whole: what is there twice, what has no code, a model without a name", () => {
  const [first] = tools;
  const made = agent({ name: "x", model, instructions: "", tools });
  const broken = {
    ...made,
    model: { ...model, description: { provider: "", model: "" } },
    tools: [...made.tools, first, { spec: { ...first?.spec, name: "ghost" } }],
    stateKeys: [notes, notes],
  } as unknown as Agent<unknown>;
  expect(() => manifestOf(broken, nodeHash)).toThrow(
    expect.objectContaining({
      code: "invalid-manifest",
      problems: [
        "model: / names no model",
        "tools: a is there twice",
        "state: notes is there twice",
        "tools: ghost is shown to the model and has no code",
      ],
    }),
  );
});

test("what is stored beside it says who declared it first, and the version is that of the package", () => {
  const file = readFileSync(resolve(import.meta.dirname, "../../package.json"), "utf8");
  expect(holdfastVersion).toBe((JSON.parse(file) as { version: string }).version);
  expect(declare(agent({ name: "x", model, instructions: "" }) as Agent).declaredBy).toEqual({
    holdfast: holdfastVersion,
  });
});

test("the goldens have every field that there is", () => {
  const patterns = fieldsOf(goldenManifests["every field"] ?? {}).map(({ pattern }) => pattern);
  expect(new Set(patterns)).toEqual(new Set(Object.keys(manifestFields)));
  expect(Object.keys(goldenFingerprints)).toEqual(Object.keys(goldenManifests));
});

test.each(Object.keys(goldenManifests))("the fingerprint of %s is what it always was", (name) => {
  expect(print(goldenManifests[name])).toBe(goldenFingerprints[name]);
});
