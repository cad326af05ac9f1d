/**
 * What a delegation costs: a run that gives one task to a delegate and says done, against a plain run of the delegate's own
 * steps; in memory and on a SQLite file. Rounds are interleaved, and the ratio is taken within a round.
 *
 *   npm run bench -- delegation [--steps 10] [--runs 40] [--rounds 7] [--write] [--note "…"]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { agent, createRuntime, delegate, memory, type StoreDefinition, tool } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { scripted } from "../../src/testing.ts";
import { schema } from "../plugins/schema.ts";
import { Refusal } from "../refusal.ts";
import { commitLine, loadNow, machineLine, writeSection } from "../results.ts";

interface Options {
  readonly steps: number;
  readonly runs: number;
  readonly rounds: number;
  readonly write: boolean;
  readonly note: string | undefined;
}

interface Round {
  readonly plain: number;
  readonly delegated: number;
}

export async function benchDelegation(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  const places = { memory: () => memory(), SQLite: fileStore };
  const lines = ["| Store | plain run | with a delegation | ratio |", "|---|---|---|---|"];
  const ratios: Record<string, number> = {};
  for (const [name, store] of Object.entries(places)) {
    await measure(store(), options, "delegated");
    const rounds: Round[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const plain = await measure(store(), options, "plain");
      rounds.push({ plain, delegated: await measure(store(), options, "delegated") });
    }
    const ratio = medianOf(rounds.map(({ plain, delegated }) => delegated / plain));
    ratios[name] = ratio;
    const [plain, delegated] = [
      medianOf(rounds.map((each) => each.plain)),
      medianOf(rounds.map((each) => each.delegated)),
    ];
    lines.push(`| ${name} | ${plain.toFixed(2)} ms | ${delegated.toFixed(2)} ms | ${ratio.toFixed(2)} |`);
  }
  const { steps, runs, rounds, note } = options;
  const about = [
    `A child of ${steps} steps; ${runs} runs one after the other, ${rounds} rounds.`,
    ...(note ? [note] : []),
  ];
  const all = [...about, machineLine(), commitLine(), loadNow(), "", ...lines];
  for (const line of all) console.log(line);
  if (options.write) writeSection({ title: "Delegation", lines: all });
  console.log(JSON.stringify({ bench: "delegation", steps, runs, ratios }));
}

function fileStore(): StoreDefinition {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-delegation-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return sqlite(join(folder, "runs.db"));
}

/** Milliseconds per run. */
async function measure(store: StoreDefinition, { steps, runs }: Options, kind: "plain" | "delegated"): Promise<number> {
  const look = tool({ name: "look", description: "Look", input: schema, effect: "pure", execute: () => "ok" });
  const looks = Array.from({ length: steps - 1 }, () => ({ calls: [{ tool: "look", input: {} }] }));
  const child = agent({ name: "child", model: scripted([...looks, "done"]), instructions: "Look.", tools: [look] });
  const lead = agent({
    name: "lead",
    model: scripted([{ calls: [{ tool: "child", input: { task: "Look." } }] }, "done"]),
    instructions: "Delegate.",
    delegates: [delegate(child)],
  });
  const started = kind === "plain" ? child : lead;
  await using runtime = await createRuntime({ agents: [started], store });
  const begun = performance.now();
  for (let run = 0; run < runs; run += 1) {
    const { outcome } = await runtime.run(started, "Go");
    if (outcome !== "completed") throw new Error(`It ended as ${outcome}`);
  }
  return (performance.now() - begun) / runs;
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function readOptions(args: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        steps: { type: "string", default: "10" },
        runs: { type: "string", default: "40" },
        rounds: { type: "string", default: "7" },
        write: { type: "boolean", default: false },
        note: { type: "string" },
      },
    });
    const [steps, runs, rounds] = [values.steps, values.runs, values.rounds].map(whole) as [number, number, number];
    return { steps, runs, rounds, write: values.write, note: values.note };
  } catch (cause) {
    throw new Refusal(cause instanceof Error ? cause.message : String(cause));
  }
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Refusal(`A whole number from 1, not ${text}`);
  return value;
}
