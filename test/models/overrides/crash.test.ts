/** A run with overrides, and a step with its own, cut before and after every call: whoever goes on asks the same. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, type ModelRequest, plugin, tool } from "../../../src/index.ts";
import { type CrashScenario, crashEverywhere, scripted } from "../../../src/testing.ts";

/** Says who it is and what it was asked. */
const model = (name: string) => {
  const says = ({ temperature, topP, settings }: ModelRequest): string =>
    `${name} ${JSON.stringify({ temperature, topP, settings })}`;
  const look = (request: ModelRequest) => ({ text: says(request), calls: [{ tool: "look" }] });
  return scripted([look, look, says], { name });
};

const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "seen" });
const secondStep = plugin({
  name: "second-step",
  create: () => ({
    hooks: {
      "before-model": async ({ step }) =>
        step === 2 ? { type: "patch-request", model: "beta/tiny", topP: 1, settings: { a: 2 } } : undefined,
    },
  }),
});
const clerk = agent({
  name: "clerk",
  instructions: "",
  model: model("own"),
  tools: [look],
  plugins: [secondStep()],
});

const scenario: CrashScenario = {
  name: "overrides of a run and of a step",
  agents: () => [clerk],
  settings: { providers: { acme: model, beta: model }, limits: { snapshotEvery: 4 } },
  script: async ({ runtime, agents }) => {
    const [first] = agents;
    if (!first) throw new Error("no agent");
    const overrides = { model: "acme/small", temperature: 0.5, settings: { a: 1, b: 1 } };
    await runtime.start(first, "go", { key: "k", thread: "t", overrides });
  },
};

test("cut anywhere, each call is asked what it was to be asked", async () => {
  const report = await crashEverywhere(scenario);
  expect(report.failures).toEqual([]);
  expect(report.cuts).toBeGreaterThan(40);
  const [run] = report.uncut.runs;
  expect(run?.outcome).toContain("completed");
  const said = run?.transcript.join("\n") ?? "";
  for (const words of [
    'small {"temperature":0.5,"settings":{"a":1,"b":1}}',
    'tiny {"temperature":0.5,"topP":1,"settings":{"a":2,"b":1}}',
  ]) {
    expect(said.replaceAll("\\", "")).toContain(words);
  }
  expect(said).not.toContain("own");
});
