/** A run worth recording: reasoning, two tools, a failed attempt, text in pieces. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { z } from "zod";
import { type Agent, agent } from "../../src/domain/agent.ts";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope, type RunId, type ThreadId } from "../../src/domain/ids.ts";
import { tool } from "../../src/domain/tool.ts";
import type { Model, ModelRequest } from "../../src/ports/provider.ts";
import { type ScriptedAnswer, scripted } from "../../src/providers/scripted.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

export function freshFolder(): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-cassette-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (name) => join(folder, name);
}

export const city = tool({
  name: "weather",
  description: "The weather of a city",
  input: z.object({ city: z.string() }),
  effect: "pure",
  execute: ({ city: name }) => ({ city: name, sky: name === "Oslo" ? "snow" : "sun" }),
});

export const answers: readonly ScriptedAnswer[] = [
  {
    attempts: [
      { error: "model-rate-limited", message: "429 slow down", retryAfterMs: 1_200 },
      {
        reasoning: "Two cities, two calls.",
        calls: [
          { tool: "weather", input: { city: "Oslo" } },
          { tool: "weather", input: { city: "Rome" } },
        ],
        pieces: 5,
        inputTokens: 120,
        outputTokens: 34,
      },
    ],
  },
  { text: "Snow in Oslo – sun in Rome. ☀️ 天気", pieces: 3, inputTokens: 200, outputTokens: 12 },
];

/** The real one; `asked` counts what went over the network. */
export function realModel(given: readonly ScriptedAnswer[] = answers): Model & { asked: number } {
  const inner = scripted(given, { name: "large" });
  const model = {
    asked: 0,
    description: inner.description,
    call(request: ModelRequest, signal: AbortSignal) {
      model.asked += 1;
      return inner.call(request, signal);
    },
  };
  return model;
}

/** Like the real one, and not there: whoever calls it has a network. */
export const offline: Model = {
  description: { provider: "scripted", model: "large" },
  call: () => {
    throw new Error("There is no network here");
  },
};

export function forecaster(model: Model, instructions = "Tell the weather."): Agent {
  return agent({ name: "forecaster", instructions, model, tools: [city] });
}

export interface Played {
  readonly outcome: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly output?: unknown;
  readonly journal: readonly Entry[];
}

export async function play(teller: Agent, input = "How is it in Oslo and Rome?"): Promise<Played> {
  const store = memory();
  await using t = await testRuntime({ agents: [teller], store });
  const run = await t.runtime.start(teller, input, { thread: "t-1" as ThreadId });
  await t.advance("1m");
  const result = await run.result();
  const open = await store.open({ clock: t.clock, logger: silentLogger });
  const journal = await open.readRun({ scope: defaultScope, run: run.id as RunId, after: 0, limit: 1_000 });
  await open.close();
  return { ...result, outcome: result.outcome, journal } as Played;
}
