/** What ran, and what of it differs: runs.manifest, runs.diff. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { declare } from "../../src/domain/manifest.ts";
import { diffManifests, isSame, showDifference } from "../../src/domain/manifest-diff.ts";
import { agent, createRuntime, plugin, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";

const refund = (options: { version?: string; most?: number } = {}) =>
  tool({
    name: "refund",
    description: "Refunds",
    input: z.object({ cents: z.number().max(options.most ?? 100) }),
    ...(options.version === undefined ? {} : { version: options.version }),
    execute: () => "done",
  });
const look = tool({ name: "look", description: "Looks", input: z.object({}), execute: () => "seen" });
const limit = plugin({ name: "limit", config: z.object({ most: z.number() }), create: () => ({}) });
const mark = plugin({ name: "mark", create: () => ({}) });
const common = { name: "support", model: scripted(["."]) };

const before = agent({
  ...common,
  instructions: "Be polite.",
  tools: [refund()],
  plugins: [limit({ most: 3 }), mark()],
});
const after = agent({
  ...common,
  version: "2",
  instructions: "Be brief.",
  tools: [refund({ version: "2", most: 50 }), look],
  plugins: [mark(), limit({ most: 4 })],
  output: z.object({ ok: z.boolean() }),
});

test("runs.diff says in words what differs between what two runs ran with, and nothing else", async () => {
  const runtime = await createRuntime();
  onTestFinished(() => runtime.close());
  const [a, b] = [await runtime.start(before, "go"), await runtime.start(after, "go")];
  const differences = await runtime.runs.diff(a.id, b.id);
  expect(differences.map(({ what, path }) => [path, what])).toEqual([
    ["version", "the agent's version"],
    ["instructions.text", "the instructions"],
    ["tools[refund].version", "the version of tool refund"],
    ["tools[refund].inputSchema.properties.cents.maximum", "the input schema of tool refund"],
    ["plugins[limit].config.most", "the config of plugin limit"],
    ["tools[look].name", "tool look"],
    ["output.schema", "the output schema"],
    ["output.mode", "how the model is asked for the output"],
    ["output.repairs", "how often an answer that does not fit is repaired"],
    ["output.onInvalid", "how a run ends whose answer never fits"],
    ["plugins", "the order in which plugins are asked"],
  ]);
  expect(differences.slice(0, 4).map(({ a: was, b: is }) => [was, is])).toEqual([
    ["1", "2"],
    ["Be polite.", "Be brief."],
    ["1", "2"],
    [100, 50],
  ]);
  expect(await runtime.runs.diff(a.id, a.id)).toEqual([]);
  expect((await runtime.runs.diff(b.id, a.id)).find(({ path }) => path === "tools[look].name")).toMatchObject({
    a: "look",
    b: undefined,
  });
});

test("R-008, R-017, R-029 a run's manifest is the pair of fingerprint and data, the same as before any run was started", async () => {
  const runtime = await createRuntime();
  onTestFinished(() => runtime.close());
  const expected = runtime.manifest(before);
  const run = await runtime.start(before, "go");
  expect(await runtime.runs.manifest(run.id)).toEqual(expected);
  expect((await run.status()).manifest).toEqual({ fingerprint: expected.fingerprint });
  expect(expected.declared).toMatchObject({ agent: "support", version: "1", model: common.model.description });
  expect(runtime.manifest(after).fingerprint).not.toBe(expected.fingerprint);
});

test("a difference reads as a line", async () => {
  const runtime = await createRuntime();
  onTestFinished(() => runtime.close());
  const [a, b] = [before, after].map((each) => runtime.manifest(each).declared);
  const lines = a && b ? diffManifests(a, b).map(showDifference) : [];
  expect(lines).toContain('the version of tool refund: "1" → "2"');
  expect(lines).toContain("tool look is new");
  expect(lines).toContain(
    "the input schema of tool refund at tools[refund].inputSchema.properties.cents.maximum: 100 → 50",
  );
});

test("a run that is not there has no manifest", async () => {
  const runtime = await createRuntime();
  onTestFinished(() => runtime.close());
  await expect(runtime.runs.manifest("nobody")).rejects.toMatchObject({ code: "run-not-found" });
  const run = await runtime.start(before, "go");
  await expect(runtime.runs.diff(run.id, "nobody")).rejects.toMatchObject({ code: "run-not-found" });
});

test("a part of a schema that is new or gone is named by its place, not as if all of it were", () => {
  const [small, large] = [z.object({ a: z.string() }), z.object({ a: z.string(), b: z.string() })].map((input) =>
    declare(
      agent({
        ...common,
        instructions: "",
        tools: [tool({ name: "act", description: "Acts", input, execute: () => "" })],
      }),
    ),
  );
  if (!small || !large) throw new Error("two manifests");
  expect(diffManifests(small, large).map(showDifference)).toEqual([
    "the input schema of tool act at tools[act].inputSchema.properties.b is new",
    'the input schema of tool act at tools[act].inputSchema.required: ["a"] → ["a","b"]',
  ]);
  expect(diffManifests(large, small).map(showDifference)[0]).toMatch(/properties\.b is gone$/);
});

test("fields that are called like what every object inherits are compared like any other", () => {
  const made = (config: string) => ({
    ...declare(agent({ ...common, instructions: "" })),
    plugins: [{ name: "p", version: "1", config: JSON.parse(config) }],
  });
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    const [a, b] = [made(`{"${name}":{}}`), made("{}")];
    expect(diffManifests(a, b).map(showDifference)).toEqual([
      `the config of plugin p at plugins[p].config.${name} is gone`,
    ]);
    expect(diffManifests(b, a)).toHaveLength(1);
    expect(isSame(a.plugins[0]?.config, b.plugins[0]?.config)).toBe(false);
  }
});
