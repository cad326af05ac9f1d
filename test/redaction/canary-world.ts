/** Runs that do well, fail, are cancelled and crash, with a canary in everything that is said, and all that can be heard of them. */
import { inspect } from "node:util";
import { z } from "zod";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import type { RedactOptions } from "../../src/domain/redaction.ts";
import { type Agent, agent, memory, plugin, Secret, type SinkMessage, ToolFailure, tool } from "../../src/index.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { Sink } from "../../src/ports/sink.ts";
import type { Run, Runtime } from "../../src/runtime/runtime.ts";
import { countingIds, startProcess, type TestProcess, turn } from "../../src/testing/test-process.ts";
import { createFakeClock, type FakeClock, scripted } from "../../src/testing.ts";
import { tracing } from "../../src/tracing.ts";
import { telemetry } from "../plugins/tracing/spans.ts";

const sources = [
  "user",
  "input",
  "result",
  "error",
  "header",
  "model",
  "fault",
  "config",
  "progress",
  "output",
  "reason",
  "decision",
  "secret",
] as const;
export type Source = (typeof sources)[number];

export function canary(source: Source): string {
  return `canary-${source}-7q`;
}

/** What an outsider could read, as text. */
export type Heard = Readonly<Record<Place, string>>;
export type Place = "logs" | "traces" | "errors" | "metrics" | "sinks" | "events" | "store";

export interface WorldOptions {
  readonly redact: RedactOptions;
  /** Of traces and of the watcher. */
  readonly content: { readonly traces: boolean; readonly events: boolean };
  /** A plain string instead, to show that it would be found. */
  readonly key: Secret | string;
}

export function foundIn(text: string): readonly Source[] {
  return sources.filter((source) => text.includes(canary(source))).sort();
}

function revealed(key: Secret | string): string {
  return key instanceof Secret ? key.reveal() : key;
}

/** Tools of a program that holds a key and is not careful with it. */
function toolsOf(key: Secret | string, used: string[]) {
  const lookup = tool({
    name: "lookup",
    description: "Looks something up",
    input: z.object({ q: z.string() }),
    effect: "pure",
    execute: ({ q }, { log, report }) => {
      log(`Looking up ${q}`, { q, key, nested: [{ key }], cause: new Error(`with ${key}`) });
      report({ at: canary("progress") });
      report({ key: key as string });
      used.push(revealed(key));
      return { found: canary("result") };
    },
  });
  const careless = tool({
    name: "careless",
    description: "Returns its key",
    input: z.object({}),
    effect: "pure",
    execute: () => ({ headers: { authorization: key } }),
  });
  const broken = tool({
    name: "broken",
    description: "Fails",
    input: z.object({}),
    effect: "pure",
    execute: () => {
      throw new ToolFailure(`${canary("error")} with ${key}`, { cause: { key } });
    },
  });
  const remote = tool({
    name: "remote",
    description: "Calls out",
    input: z.object({}),
    effect: "idempotent",
    execute: (_input, { log }) => {
      log("request", { headers: { Authorization: canary("header"), cookie: `a=${canary("header")}` } });
      throw new Error(`401 for ${canary("header")}`);
    },
  });
  const hangs = tool({
    name: "hangs",
    description: "Never ends",
    input: z.object({ to: z.string() }),
    effect: "once",
    execute: () => new Promise<string>(() => undefined),
  });
  return { lookup, careless, broken, remote, hangs };
}

function agentsOf(
  { key, content }: WorldOptions,
  { trace, used }: Heardable,
): Readonly<Record<string, Agent<unknown>>> {
  const { lookup, careless, broken, remote, hangs } = toolsOf(key, used);
  const falls = plugin({
    name: "falls",
    config: z.object({ url: z.string(), key: z.union([z.instanceof(Secret), z.string()]) }),
    create: ({ url, key: own }) => {
      const fall = (): never => {
        throw new Error(`cannot reach ${url} with ${own}, ${inspect({ own })}`);
      };
      return { hooks: { "before-step": fall, "after-run": fall } };
    },
  });
  const base = { instructions: "Work.", plugins: [tracing({ tracer: trace.tracer, content: content.traces })] };
  const calls = ["careless", "broken", "remote"].map((name) => ({ tool: name, input: {} }));
  const asks = {
    text: canary("model"),
    calls: [{ tool: "lookup", input: { q: canary("input") } }, ...calls],
    pieces: 64,
  };
  const hanging = scripted([{ calls: [{ tool: "hangs", input: { to: canary("input") } }] }, "Done."]);
  return {
    clerk: agent({
      ...base,
      name: "clerk",
      model: scripted([asks, canary("model")]),
      tools: [lookup, careless, broken, remote],
    }),
    typist: agent({
      ...{ ...base, name: "typist", model: scripted([JSON.stringify({ note: canary("output") })]), sinks: ["crm"] },
      output: z.object({ note: z.string() }),
    }),
    faller: agent({
      ...{ ...base, name: "faller" },
      model: scripted([{ error: "model-refused", message: `${canary("fault")}: bad header ${canary("header")}` }]),
    }),
    plugged: agent({
      ...{ ...base, name: "plugged", model: scripted(["Never."]) },
      plugins: [...base.plugins, falls({ url: canary("config"), key })],
    }),
    sleeper: agent({ ...base, name: "sleeper", model: hanging, tools: [hangs] }),
    crasher: agent({ ...base, name: "crasher", model: hanging, tools: [hangs] }),
  };
}

interface Heardable {
  readonly trace: ReturnType<typeof telemetry>;
  /** What the code of tools got when it asked for the key. */
  readonly used: string[];
}

export async function hear(options: WorldOptions): Promise<Heard & { readonly used: readonly string[] }> {
  const parts: Heardable = { trace: telemetry(), used: [] };
  const lines: unknown[] = [];
  const told: SinkMessage[] = [];
  const keep = (...line: unknown[]): void => void lines.push(line);
  const logger: Logger = { warn: keep, note: keep };
  const crm: Sink = { deliver: (message) => void told.push(message) };
  const [clock, ids, store] = [createFakeClock(), countingIds(), memory()];
  const agents = agentsOf(options, parts);
  const settings = { leaseMs: 30_000, pollMs: 1_000, redact: options.redact, sinks: { crm } };
  const boot = (): Promise<TestProcess> =>
    startProcess({ store, agents: Object.values(agents), clock, ids, logger, settings });
  const first = await boot();
  const live = listen(first.runtime, options.content.events);
  const runs = await play(first, agents, clock);
  const second = await afterCrash(first, boot, clock);
  const { runtime } = second;
  const all = runs.map((id) => runtime.runs.get(id));
  const journal = await store.open({ clock, logger });
  const entries = await Promise.all(
    runs.map((run) => journal.readRun({ scope: "default" as Scope, run, after: 0, limit: 1_000 })),
  );
  const shown = await Promise.all(all.flatMap((run) => [run.status(), run.result(), run.evidence()]));
  const declared = Object.values(agents).map((each) => runtime.manifest(each));
  const heard = {
    logs: written(lines),
    traces: written(
      parts.trace.spans().map(({ name, attributes, status, events }) => [name, attributes, status, events]),
    ),
    errors: (await Promise.all(all.map(thrownBy))).join("\n"),
    metrics: written(await runtime.metrics()),
    sinks: written(told),
    events: written([live, await Promise.all(all.map((run) => watched(run, options.content.events)))]),
    store: written([entries, shown, declared]),
    used: parts.used,
  };
  await runtime.close();
  return heard;
}

async function play(
  { runtime }: TestProcess,
  agents: Readonly<Record<string, Agent<unknown>>>,
  clock: FakeClock,
): Promise<readonly RunId[]> {
  const started: Run<unknown>[] = [];
  for (const each of Object.values(agents)) started.push(await runtime.start(each, canary("user")));
  await rest();
  const [clerk, , , , sleeper] = started;
  await clerk?.send(canary("user")).catch(() => undefined);
  await sleeper?.cancel({ reason: canary("reason") });
  await clock.advance(20_000, rest); // the grace of what was cancelled, and the sinks' turn
  return started.map(({ id }) => id);
}

/** The last of them is in the middle of a call when its process dies; a person says how it ended. */
async function afterCrash(
  first: TestProcess,
  boot: () => Promise<TestProcess>,
  clock: FakeClock,
): Promise<TestProcess> {
  first.kill();
  await clock.advance(120_000);
  const second = await boot();
  await clock.advance(400_000, rest);
  for (const ticket of await second.runtime.tickets.list({ status: "open", kind: "unknown-outcome" })) {
    await ticket.markFailed(canary("decision"));
  }
  await clock.advance(60_000, rest);
  return second;
}

/** A call that hangs is never quiet; everything else is done after so many turns. */
async function rest(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await turn();
}

async function thrownBy(run: Run<unknown>): Promise<string> {
  return run.output().then(
    () => "",
    (cause: unknown) => `${String(cause)} ${inspect(cause, { depth: 9 })}`,
  );
}

/** Fills while things happen, with pieces of what is being written; ends with its process. */
function listen(runtime: Runtime, content: boolean): readonly unknown[] {
  const heard: unknown[] = [];
  async function take(): Promise<void> {
    for await (const event of runtime.watch({}, { content })) heard.push(event);
  }
  void take();
  return heard;
}

async function watched(run: Run<unknown>, content: boolean): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  for await (const event of run.watch({ content })) seen.push(event);
  return seen;
}

/** As a log line, a file or a debugger would have it. */
function written(value: unknown): string {
  return `${JSON.stringify(value)} ${inspect(value, { depth: 20, maxArrayLength: null, maxStringLength: null })}`;
}
