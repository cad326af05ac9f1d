/** Mutants of the output: O1 or O2 broken in one place each. The crash kit's K11, or the table of scenarios, must notice. */
import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import type * as plugins from "../../src/domain/apply-plugins.ts";
import type * as sinks from "../../src/domain/sink-message.ts";
import type * as answers from "../../src/engine/answer-call.ts";
import type * as output from "../../src/engine/check-output.ts";
import { appendResult } from "../../src/engine/take-fact.ts";
import { agent, plugin } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { type CrashReport, crashEverywhere } from "../../src/testing/crash-kit.ts";
import type { CrashScenario } from "../../src/testing/crash-scenario.ts";
import { table } from "../crash/scenarios/expected.ts";
import { outputScenarios } from "../crash/scenarios/output.ts";
import { scenario } from "../crash/scenarios/pieces.ts";

interface Broken {
  output?: Partial<typeof output>;
  plugins?: Partial<typeof plugins>;
  sinks?: Partial<typeof sinks>;
  answers?: Partial<typeof answers>;
}
const broken = vi.hoisted((): Broken => ({}));

/** Every function of the module, or what a mutant has put in its place. */
const mutable = vi.hoisted(() => <Module extends object>(real: Module, instead: () => Partial<Module> | undefined) => {
  const functions = Object.entries(real).map(([name, own]) => {
    if (typeof own !== "function") return [name, own];
    const call = (...args: unknown[]): unknown =>
      ((instead() as Record<string, typeof own> | undefined)?.[name] ?? own)(...args);
    return [name, call];
  });
  return Object.fromEntries(functions) as Module;
});
vi.mock("../../src/engine/check-output.ts", async (original) =>
  mutable(await original<typeof output>(), () => broken.output),
);
vi.mock("../../src/domain/apply-plugins.ts", async (original) =>
  mutable(await original<typeof plugins>(), () => broken.plugins),
);
vi.mock("../../src/domain/sink-message.ts", async (original) =>
  mutable(await original<typeof sinks>(), () => broken.sinks),
);
vi.mock("../../src/engine/answer-call.ts", async (original) =>
  mutable(await original<typeof answers>(), () => broken.answers),
);
afterEach(() => {
  for (const name of Object.keys(broken) as (keyof Broken)[]) delete broken[name];
});

const real = {
  output: await vi.importActual<typeof output>("../../src/engine/check-output.ts"),
  plugins: await vi.importActual<typeof plugins>("../../src/domain/apply-plugins.ts"),
  sinks: await vi.importActual<typeof sinks>("../../src/domain/sink-message.ts"),
};

function named(name: string): CrashScenario {
  const found = outputScenarios.find((each) => each.name === name);
  if (!found) throw new Error(`There is no scenario ${name}`);
  return found;
}

/** A step after an output that has passed, in which a plugin is content with anything. */
const further = scenario({
  name: "a further step",
  agents: () => {
    const hasty = plugin({
      name: "hasty",
      create: () => ({
        hooks: {
          "before-end": ({ step }) => (step === 1 ? { type: "continue", message: "Better." } : undefined),
          "after-model": ({ step }) =>
            step === 2 ? { type: "stop", code: "enough", outcome: "completed" } : undefined,
        },
      }),
    });
    const model = scripted(['{"cents":5}', '{"cents":"six"}']);
    return [
      agent({ name: "clerk", model, instructions: "x", output: z.object({ cents: z.number() }), plugins: [hasty()] }),
    ];
  },
});

/** What the kit finds wrong in an uncut play; cuts are left to the matrix. */
async function play(one: CrashScenario): Promise<{ report: CrashReport; found: string }> {
  const report = await crashEverywhere(one, { ways: [] });
  return { report, found: report.failures.flatMap(({ problems }) => problems).join("\n") };
}

const byTool = named("an answer by tool, repaired and told");
const byText = named("an answer as text, repaired");
const never = named("answers that never fit");

test("without a mutant nothing is found", async () => {
  for (const one of [byTool, byText, never, further]) expect((await play(one)).found).toBe("");
});

test("O1 an answer that nobody checks is found", async () => {
  broken.output = { judgeOutput: (_draft, natural) => natural };
  expect((await play(byText)).found).toContain("completed without an output that has passed");
});

test("O1 a plugin that completes a run without an output is found", async () => {
  broken.output = { withoutOutput: (_draft, outcome) => outcome };
  expect((await play(further)).found).toContain("completed without an output that has passed");
});

test("O1 an output that outlives its step is found", async () => {
  broken.plugins = {
    startStep: (state, step) => ({
      ...real.plugins.startStep(state, step),
      ...(state.output ? { output: state.output } : {}),
    }),
  };
  const { found } = await play(further);
  expect(found).toContain("step-started at");
  expect(found).toContain('the output is {"cents":5}');
});

test("O1 a check that is told to be content is found", async () => {
  broken.output = {
    takeReport: (draft, fact) =>
      real.output.takeReport(draft, { ...fact, report: { valid: true, value: { cents: "five" } } }),
  };
  const { report } = await play(byTool);
  expect(report.uncut).not.toEqual(table[byTool.name]?.uncut);
  expect(report.uncut.effects).toContain('end crm {"output":{"cents":"five"}} of start');
});

test("O1 a sink that is told an output of a run that failed is found", async () => {
  broken.sinks = {
    messagesOf: (state, at) => {
      const [first, ...more] = real.sinks.messagesOf(state, at);
      const {
        type: _type,
        outcome: _outcome,
        steps: _steps,
        usage: _usage,
        ...facts
      } = first as never as Record<string, never>;
      return [{ ...(facts as object), type: "output", output: "guessed" } as never, first as never, ...more];
    },
  };
  const { report } = await play(never);
  expect(report.uncut).not.toEqual(table[never.name]?.uncut);
});

test("O2 a model that is asked for ever is found", async () => {
  broken.output = { hasGivenUp: () => false };
  broken.output.judgeOutput = (draft, natural) => {
    const { report } = draft.state.step ?? {};
    return report && !report.valid ? "repair" : real.output.judgeOutput(draft, natural);
  };
  expect((await play(never)).found).toContain("asked again after 2 answers");
});

test("an answer that is told it fits before it was checked is found", async () => {
  broken.answers = {
    moveAnswer: (draft, { id }) => {
      appendResult(draft, id, { kind: "value", value: "The answer fits the schema" });
      return false;
    },
  };
  expect((await play(byTool)).report.uncut).not.toEqual(table[byTool.name]?.uncut);
});
