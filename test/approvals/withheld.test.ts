/** P4 end to end: a result or an answer that a policy withholds, looked for in everything that anybody could read. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defaultScope, type RunId } from "../../src/domain/ids.ts";
import { agent, asContent, policy, type Sink, tool } from "../../src/index.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { sqlite } from "../../src/sqlite.ts";
import { countingIds, startProcess } from "../../src/testing/test-process.ts";
import { createFakeClock, type ScriptedAnswer, scripted } from "../../src/testing.ts";
import { tracing } from "../../src/tracing.ts";
import { telemetry } from "../plugins/tracing/spans.ts";
import { deps, freshPath } from "../stores/watched-store.ts";

const canary = "canary-8806";

type Withheld = "tool-result" | "output" | "nothing";
type Way = "at once" | "later" | "of much";

/** The tool says it, or the model does; what is withheld is said nowhere. */
async function hear(what: Withheld, way: Way) {
  const [requests, lines, told, trace, clock] = [[], [], [], telemetry(), createFakeClock()] as [
    ModelRequest[],
    unknown[],
    unknown[],
    ReturnType<typeof telemetry>,
    ReturnType<typeof createFakeClock>,
  ];
  const keep = (...line: unknown[]): void => void lines.push(line);
  const logger: Logger = { warn: keep, note: keep };
  const crm: Sink = { deliver: (message) => void told.push(message) };
  const deny = { deny: "not for you", code: "hidden" };
  const verdict = () => (way === "at once" ? deny : Promise.resolve().then(() => deny));
  const allow = () => "allow" as const;
  const house = policy({
    name: "house",
    "tool-result": what === "tool-result" ? verdict : allow,
    ...(what === "output" ? { output: verdict } : {}),
  });
  const says =
    (said: ScriptedAnswer): ScriptedAnswer =>
    (request) => {
      requests.push(request);
      return said;
    };
  const look = tool({
    name: "look",
    description: "Looks",
    input: z.object({}),
    effect: "pure",
    execute: (_input, { log }) => {
      log("looked");
      if (what === "output") return "nothing";
      return way === "of much" ? asContent(canary + "-".repeat(500_000)) : { deep: [canary] };
    },
  });
  const answer = JSON.stringify({ note: what === "output" ? canary : "done" });
  const one = agent({
    name: "clerk",
    model: scripted([
      says({ calls: [{ tool: "look", input: {} }] }),
      says({ text: answer, pieces: 4, reasoning: answer }),
    ]),
    instructions: "Look.",
    tools: [look],
    policy: house,
    plugins: [tracing({ tracer: trace.tracer, content: true })],
    output: z.object({ note: z.string() }),
    sinks: ["crm"],
  });
  const path = freshPath();
  const store = sqlite(path);
  const settings = { leaseMs: 30_000, pollMs: 10_000, watchPollMs: 10_000, sinks: { crm } };
  const process = await startProcess({ store, agents: [one], clock, ids: countingIds(), logger, settings });
  const { runtime } = process;
  const run = await runtime.start(one, "go", { thread: "t" });
  const seen: unknown[] = [];
  for (const content of [true, false]) for await (const event of run.watch({ content })) seen.push(event);
  const result = await run.result();
  const output = await run.output().catch((cause: unknown) => cause);
  await clock.advance(60_000, () => process.quiet());
  const rows = [await runtime.runs.list(), await runtime.tickets.list(), await run.evidence(), await run.status()];
  const places = {
    requests,
    events: seen,
    sinks: told,
    result: [result, String(output), (output as { details?: unknown }).details],
    rows,
    metrics: await runtime.metrics(),
    thread: await runtime.threads.messages("t"),
    traces: trace.spans().map(({ name, attributes, status, events }) => [name, attributes, status, events]),
    logs: lines,
  };
  const reader = await store.open(deps);
  const journal = await reader.readRun({ scope: defaultScope, run: run.id as RunId, after: 0, limit: 1_000 });
  await reader.close();
  await runtime.close();
  const bytes = readFileSync(path).includes(canary);
  const [hash = canary] = /[0-9a-f]{64}(?=","bytes":500)/.exec(JSON.stringify(journal)) ?? [];
  if (way === "of much" && what !== "output") expect(hash).toMatch(/^[0-9a-f]{64}$/);
  const isSaid = (said: unknown): boolean => [canary, hash].some((word) => JSON.stringify(said).includes(word));
  const found = Object.entries(places).filter(([, said]) => isSaid(said));
  const kept = journal.filter((entry) => JSON.stringify(entry).includes(canary)).map(({ type }) => type);
  return { result, found: found.map(([place]) => place), kept, bytes };
}

const ways: readonly Way[] = ["at once", "later", "of much"];

test.each(["at once", "of much"] as const)(
  "P4 what nobody withholds is found in every place that has content: %s",
  async (way) => {
    const { found, kept } = await hear("nothing", way);
    expect(found).toEqual(["requests", "events", "thread", "traces"]);
    expect(kept).toEqual(["message-appended"]);
  },
);

describe.each(ways)("P4 said %s", (way) => {
  test("a result that is denied is nowhere; the journal, and it alone, keeps it as what the tool answered", async () => {
    const { result, found, kept, bytes } = await hear("tool-result", way);
    expect(result).toMatchObject({ outcome: "completed", output: { note: "done" } });
    expect(found).toEqual([]);
    expect([kept, bytes]).toEqual([["effect-settled"], true]);
  });

  test("an answer that is denied is nowhere; the journal keeps it as the reply, and its pending report", async () => {
    const { result, found, kept, bytes } = await hear("output", way);
    expect(result).toMatchObject({ outcome: "blocked", code: "hidden" });
    expect(found).toEqual([]);
    expect([kept, bytes]).toEqual([["effect-settled", "output-validated"], true]);
  });
});
