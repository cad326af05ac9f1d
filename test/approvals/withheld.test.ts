/** P4 end to end: a result or an answer that a policy withholds, looked for in everything that anybody could read. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { answerTool, wrapper } from "../../src/domain/answer-tool.ts";
import { defaultScope, type RunId } from "../../src/domain/ids.ts";
import { agent, asContent, policy, type Sink, tool } from "../../src/index.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { sqlite } from "../../src/sqlite.ts";
import { countingIds, startProcess } from "../../src/testing/test-process.ts";
import { createFakeClock, type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";
import { tracing } from "../../src/tracing.ts";
import { telemetry } from "../plugins/tracing/spans.ts";
import { deps, freshPath } from "../stores/watched-store.ts";

const canary = "canary-8806";

type Withheld = "tool-result" | "output" | "nothing";
type Way = "at once" | "later" | "of much" | Failing;

/** F1: stages whose own words quote what they look at. */
const failing = {
  "throws it": (seen: string): never => {
    throw new Error(seen);
  },
  "rejects with it": (seen: string): Promise<never> => Promise.reject(new TypeError(`Unexpected ${seen}`)),
  "cannot parse it": (seen: string) => JSON.parse(seen.replace(/^.*?canary/s, "canary")),
  "answers it": (seen: string) => seen as never,
  "answers with a field of it": (seen: string) => ({ modify: { [seen]: () => undefined } }) as never,
  "asks about it with no terms": (seen: string) => ({ ask: seen, terms: { audience: { principals: seen } } }) as never,
} as const;
type Failing = keyof typeof failing;
const isFailing = (way: Way): way is Failing => Object.hasOwn(failing, way);

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
  const verdict = (view: { readonly call?: { readonly result?: unknown }; readonly output?: { text: string } }) => {
    if (isFailing(way)) return failing[way](view.output?.text || JSON.stringify(view.call?.result));
    return way === "at once" ? deny : Promise.resolve().then(() => deny);
  };
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
  return { result, found: found.map(([place]) => place), kept, bytes, thread: JSON.stringify(places.thread) };
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

describe.each(Object.keys(failing) as Failing[])("F1 a stage that %s", (way) => {
  test("hides a result, its own words too: only the logger is told them", async () => {
    const { result, found, kept, thread } = await hear("tool-result", way);
    expect(result).toMatchObject({ outcome: "completed", output: { note: "done" } });
    expect(found.filter((place) => place !== "logs")).toEqual([]);
    expect(kept).toEqual(["effect-settled"]);
    expect(thread).toContain("Policy house failed at tool-result");
  });

  test("hides an answer, its own words too: only the logger is told them", async () => {
    const { result, found, kept } = await hear("output", way);
    const message = expect.stringMatching(/^Policy house (failed at output|changed the output, and it does not fit)/);
    expect(result).toMatchObject({ outcome: "failed", error: { message } });
    expect(found.filter((place) => place !== "logs")).toEqual([]);
    expect(kept).toEqual(["effect-settled", "output-validated"]);
  });
});

test("F1 the logger is told the words of a stage that throws", async () => {
  expect((await hear("tool-result", "throws it")).found).toEqual(["logs"]);
  expect((await hear("output", "cannot parse it")).found).toEqual(["logs"]);
});

/** What schemas say of it may quote it: as a key, as a value, in words of their own, or by throwing. */
const unfit: readonly (readonly [string, z.ZodType, unknown])[] = [
  ["a key", z.strictObject({ note: z.string() }), { note: "x", [canary]: 1 }],
  ["a path", z.record(z.string(), z.number()), { [canary]: "x" }],
  ["its own words", z.string().refine(() => false, { error: ({ input }) => `not ${String(input)}` }), canary],
  [
    "what it throws",
    z.string().transform((text) => {
      throw new Error(text);
    }),
    canary,
  ],
];

describe.each(["text", "tool"] as const)("L1 asked for by %s", (outputMode) => {
  test.each(unfit)(
    "an answer that does not fit is nowhere, though its schema quotes it as %s",
    async (_as, output, said) => {
      const told = async (isGated: boolean) => {
        const requests: ModelRequest[] = [];
        const answer: ScriptedAnswer = (request) => {
          requests.push(request);
          if (outputMode === "text") return JSON.stringify(said);
          const isWrapped = typeof said !== "object";
          return { calls: [{ tool: answerTool, input: (isWrapped ? { [wrapper]: said } : said) as never }] };
        };
        const stage = isGated ? { output: () => "allow" as const } : { "run-start": () => "allow" as const };
        const one = agent({
          name: "clerk",
          model: scripted([answer, answer]),
          instructions: "Answer.",
          policy: policy({ name: "house", ...stage }),
          ...{ output, outputMode, repairs: 1 },
        });
        await using t = await testRuntime({ agents: [one] });
        const run = await t.runtime.start(one, "go", { thread: "t" });
        const result = await run.result();
        const events: unknown[] = [];
        for await (const event of run.watch()) events.push(event);
        expect(result).toMatchObject({ outcome: "failed", error: { code: "output-invalid" } });
        expect(requests).toHaveLength(2);
        return JSON.stringify([result, events, requests, await t.runtime.threads.messages("t"), await run.status()]);
      };
      expect(await told(false)).toContain(canary);
      expect(await told(true)).not.toContain(canary);
    },
  );
});

test("L1 of an answer that does not fit, the model is told the places that the schema names", async () => {
  const requests: ModelRequest[] = [];
  const row = z.strictObject({ cents: z.number() });
  const one = agent({
    name: "clerk",
    model: scripted([
      JSON.stringify({ rows: [{ cents: 1 }, { cents: canary }] }),
      (request) => {
        requests.push(request);
        return JSON.stringify({ rows: [] });
      },
    ]),
    instructions: "Answer.",
    policy: policy({ name: "house", output: () => "allow" }),
    output: z.object({ rows: z.array(row) }),
  });
  await using t = await testRuntime({ agents: [one] });
  expect(await (await t.runtime.start(one, "go")).result()).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(requests)).toContain("does not fit the schema: look at $.rows.1.cents.");
  expect(JSON.stringify(requests)).not.toContain(canary);
});

test.each(["reject", "expire", "approve"] as const)(
  "V3 a ticket shows the answer while it is open: %s",
  async (way) => {
    const ask = { ask: "May it say this?", terms: { answerWithinMs: 60_000 } };
    const one = agent({
      name: "clerk",
      model: scripted([canary]),
      instructions: "Answer.",
      policy: policy({ name: "house", output: () => ask }),
    });
    await using t = await testRuntime({ agents: [one] });
    const run = await t.runtime.start(one, "go");
    await t.settle();
    const [ticket] = await t.runtime.tickets.list({ status: "open" });
    expect(ticket).toMatchObject({ kind: "approval", output: canary });
    if (ticket?.kind !== "approval") throw new Error("There is no approval to answer");
    if (way === "reject") await ticket.reject("no", { by: "ana" });
    if (way === "approve") await ticket.approve({ by: "ana" });
    if (way === "expire") await t.advance("2m");
    expect((await run.result()).outcome).toBe(way === "approve" ? "completed" : "blocked");
    const rows = [await t.runtime.tickets.list({}), await t.runtime.tickets.get(ticket.id)];
    expect(JSON.stringify(rows)).toContain(ticket.id);
    expect(JSON.stringify(rows)).not.toContain(canary);
  },
);
