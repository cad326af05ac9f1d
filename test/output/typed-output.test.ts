/** O1, O2: the output is what was validated, and what was not is nobody's output. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, jsonSchema, memory, plugin, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";
import { output, play } from "./play.ts";

const good = '{"note":"refunded","cents":5}';
const bad = '{"note":"refunded","cents":"five"}';

function support(answers: readonly ScriptedAnswer[], options: object = {}) {
  return agent({ name: "support", model: scripted(answers), instructions: "Help.", output, ...options });
}

test("an answer that fits is the typed output, recorded before the run ends", async () => {
  const { result, events, reports } = await play(support([good]));
  expect(result).toMatchObject({ outcome: "completed", output: { note: "refunded", cents: 5 }, steps: 1 });
  expect(reports).toEqual([{ valid: true, value: { note: "refunded", cents: 5 } }]);
  const types = events.map(({ type }) => type);
  expect(types.indexOf("output-validated")).toBeLessThan(types.indexOf("run-ended"));
});

test("the output is what the schema makes of the answer, and a code fence is no part of it", async () => {
  const dated = agent({
    name: "support",
    model: scripted(['```json\n{ "when": "  today " }\n```']),
    instructions: "Help.",
    output: z.object({ when: z.string().trim(), zone: z.string().default("UTC") }),
  });
  const { result } = await play(dated as never);
  expect(result).toMatchObject({ outcome: "completed", output: { when: "today", zone: "UTC" } });
});

test("O2 the model is shown what is wrong and repairs it on the second try", async () => {
  const requests: ModelRequest[] = [];
  const saw = (text: string) => (request: ModelRequest) => {
    requests.push(request);
    return text;
  };
  const { result, reports } = await play(support([saw(bad), saw(good)]));
  expect(result).toMatchObject({ outcome: "completed", output: { note: "refunded", cents: 5 }, steps: 2 });
  expect(reports.map(({ valid }) => valid)).toEqual([false, true]);
  const [, second] = requests;
  expect(JSON.stringify(second?.messages.at(-1))).toMatch(/does not fit the schema.*cents/);
  expect(second?.messages.at(-1)).toMatchObject({ role: "user", visibility: "internal" });
});

test.each([0, 1, 3])("O2 with %i repairs the model is asked so often again, and no more", async (repairs) => {
  const answers = [...Array.from({ length: repairs + 1 }, () => bad), good];
  const { result, reports, messages } = await play(support(answers, { repairs }));
  expect(reports).toHaveLength(repairs + 1);
  const shown = messages.filter((message) => JSON.stringify(message).includes("Your answer does not fit"));
  expect(shown).toHaveLength(repairs);
  expect(result).toMatchObject({ outcome: "failed", error: { code: "output-invalid" }, steps: repairs + 1 });
  expect(JSON.stringify(result)).toContain("cents");
  expect(result).not.toHaveProperty("output");
});

test('onInvalid: "stop" ends the run as stopped', async () => {
  const { result } = await play(support([bad], { repairs: 0, onInvalid: "stop" }));
  expect(result).toMatchObject({ outcome: "stopped", code: "output-invalid" });
});

test("what is not JSON at all is a problem like any other", async () => {
  const { reports } = await play(support(["I am done.", good]));
  expect(reports[0]).toMatchObject({ valid: false, problems: [expect.stringContaining("not JSON")] });
});

test("a repair is a step: the budget of steps bounds it", async () => {
  const { result } = await play(support([bad, good], { budget: { steps: 1 } }));
  expect(result).toMatchObject({ outcome: "stopped", code: "steps" });
});

test("a JSON Schema does as well, and its check may take its time", async () => {
  const model = scripted([bad, good]);
  const schema = {
    type: "object",
    properties: { note: { type: "string" }, cents: { type: "integer" } },
    required: ["cents"],
  };
  const one = agent({ name: "support", model, instructions: "Help.", output: jsonSchema<{ cents: number }>(schema) });
  const { result, reports } = await play(one as never);
  expect(reports.map(({ valid }) => valid)).toEqual([false, true]);
  expect(result).toMatchObject({ outcome: "completed", output: { cents: 5 } });
});

test("the output survives a restart between the report and the end", async () => {
  const ask = tool({ name: "ask", description: "Ask", input: z.object({}) });
  const one = agent({
    name: "support",
    model: scripted([{ calls: [{ tool: "ask" }] }, good]),
    instructions: "Help.",
    tools: [ask],
    output,
  });
  await using t = await testRuntime({ agents: [one], store: memory() });
  const run = await t.runtime.start(one, "go");
  const idle = await run.idle();
  if (idle.status !== "waiting") throw new Error("it should wait");
  await t.restart();
  const [ticket] = await t.runtime.tickets.list({ status: "open" });
  if (ticket?.kind !== "input") throw new Error("no input ticket");
  await ticket.answer("yes");
  expect(await t.runtime.runs.get(run.id, one).result()).toMatchObject({ output: { cents: 5 } });
});

test("a plugin cannot complete a run whose output has not passed", async () => {
  const hasty = plugin({
    name: "hasty",
    create: () => ({ hooks: { "after-model": () => ({ type: "stop", code: "enough", outcome: "completed" }) } }),
  });
  const { result } = await play(support([bad], { plugins: [hasty()] }));
  expect(result).toMatchObject({ outcome: "failed", error: { code: "output-invalid" } });
});

test.each([
  [{ output: { a: 1 } }, "output: must be a Standard Schema"],
  [{ output, repairs: -1 }, "repairs: must be a whole number"],
  [{ output, onInvalid: "ignore" }, "onInvalid: must be one of"],
  [{ output: undefined, repairs: 1 }, "repairs: needs output"],
  [{ output: undefined, onInvalid: "fail" }, "onInvalid: needs output"],
  [{ output: z.custom(() => true) }, "output:"],
])("wrong options are named: %o", (options, problem) => {
  expect(() => support([good], options)).toThrow(problem);
});
