import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { anthropic } from "@ai-sdk/anthropic";
import { expect, test } from "vitest";
import { z } from "zod";
import type { CallErrorCode } from "../../src/domain/message.ts";
import { defaultLimits } from "../../src/engine/limits.ts";
import {
  agent,
  type CreateThread,
  createRuntime,
  type EventFilter,
  type ForkOptions,
  fromAiSdk,
  isHoldfastError,
  type ListRuns,
  type ListTickets,
  type PageOptions,
  type PruneOptions,
  plugin,
  pool,
  stateKey,
  type ToolContext,
  tool,
  type WatchOptions,
} from "../../src/index.ts";
import { openaiCompatible } from "../../src/openai.ts";
import { postgres } from "../../src/postgres.ts";
import { defaultBreaker } from "../../src/providers/pool/breaker.ts";
import { sqlite } from "../../src/sqlite.ts";
import { cassette, scripted, type TestRuntimeOptions } from "../../src/testing.ts";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(resolve(root, "docs/reference/config.md"), "utf8");
const entriesPage = readFileSync(resolve(root, "docs/reference/entries.md"), "utf8");

const unknown = { nonsense: 1 } as never;
const helper = agent({ name: "helper", instructions: "Help.", model: scripted(["Yes."]) });

async function start(options: never): Promise<void> {
  await using runtime = await createRuntime({ agents: [helper] });
  await runtime.start(helper, "Hello", options);
}

// The refusal of an unknown option names the known ones: that list is what the page must have.
test.each([
  ["createRuntime", () => createRuntime(unknown)],
  ["limits", () => createRuntime({ limits: unknown })],
  ["retention", () => createRuntime({ agents: [helper], retention: unknown })],
  ["sinks", () => createRuntime({ agents: [helper], sinks: { x: unknown } })],
  ["redact", () => createRuntime({ redact: unknown })],
  ["sqlite", () => sqlite("never-opened.db", unknown)],
  ["postgres", () => postgres(unknown)],
  ["openaiCompatible", () => openaiCompatible(unknown)],
  ["description", () => openaiCompatible({ baseURL: "http://h/v1", model: "m", description: unknown })],
  ["fromAiSdk", () => fromAiSdk(anthropic("claude-sonnet-4-5"), unknown)],
  ["agent", () => agent(unknown)],
  ["budget", () => agent({ name: "x", instructions: "", model: scripted([]), budget: unknown })],
  ["pool", () => pool([scripted([])], unknown)],
  ["A pool's members", () => pool([unknown])],
  ["breaker", () => pool([scripted([])], { breaker: unknown })],
  ["cassette", () => cassette(scripted([]), unknown)],
  ["tool", () => tool(unknown)],
  ["plugin", () => plugin(unknown)],
  ["stateKey", () => stateKey(unknown)],
  ["start", () => start(unknown)],
])("the page has the options of %s that the code accepts, and no others", async (section, refuse) => {
  expect(namesIn(page, section)).toEqual((await knownOptions(refuse)).sort());
});

// Not checked at run time, but closed in the types: a name that is added or taken away there fails to compile here.
test("the page has the fields of a tool's context, the ticket filters and the options of testRuntime", () => {
  const context: Record<keyof ToolContext, 1> = {
    idempotencyKey: 1,
    signal: 1,
    runId: 1,
    threadId: 1,
    callId: 1,
    step: 1,
    attempt: 1,
    fence: 1,
    context: 1,
    decision: 1,
    state: 1,
    report: 1,
    log: 1,
    now: 1,
  };
  const filters: Record<keyof ListTickets | "tool", 1> = {
    tool: 1,
    status: 1,
    run: 1,
    root: 1,
    thread: 1,
    kind: 1,
    limit: 1,
  };
  const options: Record<keyof TestRuntimeOptions, 1> = { agents: 1, store: 1, models: 1, settings: 1, intercept: 1 };
  expect(namesIn(page, "The tool's context")).toEqual(Object.keys(context).sort());
  expect(namesIn(page, "tickets.list")).toEqual(Object.keys(filters).sort());
  expect(namesIn(page, "testRuntime")).toEqual(Object.keys(options).sort());
});

test("the page has the options of watching, forking and lists", () => {
  const watch: Record<keyof WatchOptions, 1> = { after: 1, from: 1, until: 1, content: 1, signal: 1 };
  const filter: Record<keyof EventFilter, 1> = { types: 1, runs: 1, threads: 1, agents: 1 };
  const pages: Record<keyof PageOptions, 1> = { cursor: 1, limit: 1, order: 1 };
  const runs: Record<keyof ListRuns, 1> = { thread: 1, parent: 1, agent: 1, status: 1 };
  const fork: Record<keyof ForkOptions, 1> = { atStep: 1, key: 1, overrides: 1 };
  const thread: Record<keyof CreateThread, 1> = { id: 1, title: 1, metadata: 1, parent: 1, messages: 1 };
  expect(namesIn(page, "watch")).toEqual(Object.keys(watch).sort());
  expect(namesIn(page, "The filter of runtime.watch")).toEqual(Object.keys(filter).sort());
  expect(namesIn(page, "Pages")).toEqual(Object.keys(pages).sort());
  expect(namesIn(page, "runs.list")).toEqual(Object.keys(runs).sort());
  const prune: Record<keyof PruneOptions, 1> = { finishedBefore: 1, limit: 1 };
  expect(namesIn(page, "runs.prune")).toEqual(Object.keys(prune).sort());
  expect(namesIn(page, "runs.fork")).toEqual(Object.keys(fork).sort());
  expect(namesIn(page, "threads.create")).toEqual(Object.keys(thread).sort());
});

test("the entries page has every error that a model can read of a call", () => {
  const codes: Record<CallErrorCode, 1> = {
    "unknown-tool": 1,
    "invalid-input": 1,
    "tool-failed": 1,
    "invalid-result": 1,
    rejected: 1,
    denied: 1,
    "plugin-failed": 1,
    "timed-out": 1,
    "outcome-unknown": 1,
    "marked-failed": 1,
    "delegate-failed": 1,
    "not-run": 1,
    aborted: 1,
  };
  expect(namesIn(entriesPage, "What the model reads of a call without a value")).toEqual(Object.keys(codes).sort());
});

test("the page has the defaults that are in force", () => {
  const limits = Object.entries(defaultLimits).map(([name, value]) => [name, String(value)]);
  expect(Object.fromEntries(limits)).toEqual(defaultsIn("limits"));
  const { spec } = tool({ name: "x", description: "x", input: z.object({}), execute: () => null });
  const { version, effect, resume, timeoutMs, concurrency, onUnknown } = spec;
  const quoted = [version, effect, resume, onUnknown].map((value) => JSON.stringify(value));
  expect([...quoted, String(timeoutMs), String(concurrency)]).toEqual(
    ["version", "effect", "resume", "onUnknown", "timeoutMs", "concurrency"].map((name) => defaultsIn("tool")[name]),
  );
  const breaker = Object.entries(defaultBreaker).map(([name, value]) => [name, String(value)]);
  expect(Object.fromEntries(breaker)).toEqual(defaultsIn("breaker"));
  expect(defaultsIn("budget").steps).toBe(String(helper.budget.steps));
  const source = readFileSync(resolve(root, "src/compose.ts"), "utf8").replaceAll("_", "");
  for (const name of ["leaseMs", "pollMs", "watchPollMs", "concurrency", "closeGraceMs"]) {
    expect(source).toContain(`${name} = ${defaultsIn("createRuntime")[name]}`);
  }
});

async function knownOptions(refuse: () => unknown): Promise<string[]> {
  try {
    await refuse();
  } catch (cause) {
    const problems = isHoldfastError(cause) ? cause.problems : [];
    const known = problems.map((each) => /nonsense: unknown option; known are (.+)$/.exec(each)?.[1]);
    const list = known.find((each) => each !== undefined);
    if (list) return list.split(", ");
    throw cause;
  }
  throw new Error("an unknown option was accepted");
}

/** The rows of the table below a heading: name and default, without their code marks. */
function rowsIn(text: string, heading: string): readonly (readonly [string, string])[] {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, "") === heading);
  if (start < 0) return [];
  const end = lines.findIndex((line, at) => at > start && /^#+ /.test(line));
  const section = lines.slice(start, end < 0 ? lines.length : end);
  return section.flatMap((line) => {
    const [, name = "", value = ""] = /^\| `([^`]+)` \| (.*?) \|/.exec(line) ?? [];
    return name === "" ? [] : [[name, value.replaceAll("`", "")] as const];
  });
}

function namesIn(text: string, heading: string): readonly string[] {
  return rowsIn(text, heading)
    .map(([name]) => name)
    .sort();
}

function defaultsIn(heading: string): Record<string, string> {
  return Object.fromEntries(rowsIn(page, heading));
}
