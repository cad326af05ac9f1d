/**
 * What plugins cost: one run of many steps in memory, without plugins and with twenty, each of which has a synchronous and an
 * asynchronous hook in four phases. Rounds are interleaved, and the ratio is taken within a round.
 *
 *   npm run bench -- plugins [--steps 2000] [--rounds 7] [--write] [--note "…"]
 */
import { parseArgs } from "node:util";
import { agent, createRuntime, memory, plugin, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { Refusal } from "../refusal.ts";
import { commitLine, loadNow, machineLine, writeSection } from "../results.ts";
import { schema } from "./schema.ts";

const count = 20;

interface Options {
  readonly steps: number;
  readonly rounds: number;
  readonly write: boolean;
  readonly note: string | undefined;
}

export async function benchPlugins(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  await measure("none", 200);
  await measure("both", 200);
  const rounds: Round[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const none = await measure("none", options.steps);
    const sync = await measure("sync", options.steps);
    const both = await measure("both", options.steps);
    rounds.push({ none, sync, both });
  }
  const lines = tableOf(rounds, options);
  for (const line of lines) console.log(line);
  if (options.write) writeSection({ title: "Plugins, in memory", lines });
  const median = medianOf(rounds.map(({ none, both }) => both / none));
  console.log(JSON.stringify({ bench: "plugins", plugins: count, steps: options.steps, ratio: median }));
}

export function readOptions(args: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        steps: { type: "string", default: "2000" },
        rounds: { type: "string", default: "7" },
        write: { type: "boolean", default: false },
        note: { type: "string" },
      },
    });
    return {
      steps: whole("steps", values.steps),
      rounds: whole("rounds", values.rounds),
      write: values.write,
      note: values.note,
    };
  } catch (cause) {
    throw new Refusal(cause instanceof Error ? cause.message : String(cause));
  }
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Refusal(`--${name} must be a whole number from 1, not ${text}`);
  return value;
}

type Kind = "none" | "sync" | "both";
export type Round = Readonly<Record<Kind, number>>;

/** Microseconds per step. */
async function measure(kind: Kind, steps: number): Promise<number> {
  const look = tool({ name: "look", description: "Look", input: schema, effect: "pure", execute: () => "ok" });
  const answers = [...Array.from({ length: steps }, () => ({ calls: [{ tool: "look", input: {} }] })), "done"];
  const bench = agent({
    name: "bench",
    model: scripted(answers),
    instructions: "Look.",
    tools: [look],
    plugins: pluginsOf(kind),
    budget: { steps: steps + 1 },
  });
  await using runtime = await createRuntime({ agents: [bench], store: memory() });
  const begun = performance.now();
  const run = await runtime.start(bench, "go");
  const result = await run.result();
  if (result.outcome !== "completed") throw new Error(`The run ended as ${JSON.stringify(result)}`);
  return ((performance.now() - begun) * 1_000) / steps;
}

const quick = (): undefined => undefined;
const slow = async (): Promise<undefined> => undefined;

function pluginsOf(kind: Kind) {
  if (kind === "none") return [];
  const hooks = kind === "sync" ? [quick, quick] : [quick, slow];
  return Array.from({ length: count }, (_each, index) =>
    plugin({
      name: `plugin-${index}`,
      create: () => ({
        hooks: { "before-step": hooks, "before-model": hooks, "after-tool": hooks, "after-step": hooks },
      }),
    })(),
  );
}

export function tableOf(rounds: readonly Round[], { steps, note }: Pick<Options, "steps" | "note">): readonly string[] {
  const row = (name: string, kind: Kind): string => {
    const times = rounds.map((round) => round[kind]);
    const ratios = rounds.map((round) => round[kind] / round.none);
    const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
    return `| ${name} | ${medianOf(times).toFixed(0)} | ${medianOf(ratios).toFixed(2)} | ${spread} |`;
  };
  return [
    `One run of ${steps} steps with one tool call each; ${rounds.length} rounds, the ratio is to no plugins in the same round.`,
    `${machineLine()}; commit ${commitLine()}; load ${loadNow()}${note ? `; ${note}` : ""}.`,
    "",
    "| plugins | µs per step | ratio | spread |",
    "|---|---|---|---|",
    row("none", "none"),
    row(`${count}, two synchronous hooks in 4 phases each`, "sync"),
    row(`${count}, a synchronous and an asynchronous hook in 4 phases each`, "both"),
  ];
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
