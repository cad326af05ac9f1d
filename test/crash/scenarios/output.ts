/** Runs with a typed answer: by the answer tool and as text, repaired, put off, given up, and told to a sink. */
import { z } from "zod";
import { agent, type Sink } from "../../../src/index.ts";
import { type ScriptedAnswer, scripted } from "../../../src/providers/scripted.ts";
import type { World } from "../../../src/testing/crash-world.ts";
import { acting, scenario } from "./pieces.ts";
import { receiver } from "./sinks.ts";

const answers = z.object({ cents: z.number() });
type Checked = Awaited<ReturnType<(typeof answers)["~standard"]["validate"]>>;

/** The same schema, with a check that is waited for. */
const later = {
  "~standard": {
    ...answers["~standard"],
    validate: async (value: unknown): Promise<Checked> => answers["~standard"].validate(value),
  },
} as typeof answers;

const answering = (cents: unknown): ScriptedAnswer => ({ calls: [{ tool: "holdfast_answer", input: { cents } }] });

interface Typed {
  readonly said: readonly ScriptedAnswer[];
  readonly output?: typeof answers;
  readonly toolCalls?: boolean;
  readonly repairs?: number;
  readonly sinks?: readonly string[];
}

function typist(world: World, { said, output = answers, toolCalls = true, repairs = 2, sinks = [] }: Typed) {
  const model = scripted(said, { description: toolCalls ? { toolCalls } : {} });
  const tools = [acting(world, { name: "refund", effect: "idempotent" })];
  return agent({ name: "clerk", model, instructions: "Be brief.", tools, output, repairs, sinks });
}

const sinks = (world: World): Readonly<Record<string, Sink>> => ({ crm: receiver(world, "crm") });

export const outputScenarios = [
  scenario({
    name: "an answer by tool, repaired and told",
    agents: (world) => [
      typist(world, { said: [answering("five"), answering(5), answering(6)], output: later, sinks: ["crm"] }),
    ],
    sinks,
    settings: { limits: { snapshotEvery: 1 } },
  }),
  scenario({
    name: "an answer by tool, put off beside a call",
    agents: (world) => {
      const both: ScriptedAnswer = {
        calls: [
          { tool: "holdfast_answer", input: { cents: 1 } },
          { tool: "refund", input: { order: "1" } },
        ],
      };
      return [typist(world, { said: [both, answering(5)] })];
    },
  }),
  scenario({
    name: "an answer as text, repaired",
    agents: (world) => [
      typist(world, { said: ['{"cents":"five"}', '{"cents":5}', '{"cents":6}'], output: later, toolCalls: false }),
    ],
  }),
  scenario({
    name: "answers that never fit",
    agents: (world) => [
      typist(world, { said: [answering("five"), "Five.", answering(5)], repairs: 1, sinks: ["crm"] }),
    ],
    sinks,
  }),
];
