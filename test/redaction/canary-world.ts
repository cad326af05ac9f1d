/** Runs with a canary in everything that is said, a crash and a restart in between, and all that can be heard of them. */
import { inspect } from "node:util";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import type { RedactOptions } from "../../src/domain/redaction.ts";
import { memory } from "../../src/index.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { Sink } from "../../src/ports/sink.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import type { Run, Runtime } from "../../src/runtime/runtime.ts";
import { countingIds, startProcess, type TestProcess, turn } from "../../src/testing/test-process.ts";
import { createFakeClock, type FakeClock } from "../../src/testing.ts";
import { telemetry } from "../plugins/tracing/spans.ts";
import { agentsOf, type Cast } from "./canary-agents.ts";
import { canary, type Place, written } from "./canary-sources.ts";
import type { Key } from "./canary-tools.ts";

/** As text; `content` and `store` are for those who may. */
const given = [
  { type: "text", text: canary("user") },
  { type: "file", mediaType: "text/plain", name: canary("file"), url: `data:text/plain,${canary("file")}` },
] as const;

export interface Heard extends Readonly<Record<Place | "content" | "store", string>> {
  /** What the code of tools got when it asked for the key. */
  readonly used: readonly string[];
}

export interface WorldOptions {
  readonly redact: RedactOptions;
  /** Of traces and of the watcher. */
  readonly content: { readonly traces: boolean; readonly events: boolean };
  /** A plain string instead, to show that it would be found. */
  readonly key: Key;
  readonly store?: StoreDefinition;
  /** Looks at what the store has written, while it is still open. */
  readonly look?: () => Promise<void>;
}

interface World {
  readonly clock: FakeClock;
  readonly agents: Cast;
  readonly thrown: string[];
  process: TestProcess;
}

export async function hear(options: WorldOptions): Promise<Heard> {
  const { store = memory(), content, key, redact } = options;
  const [trace, used, lines, told, clock, ids] = [telemetry(), [], [], [], createFakeClock(), countingIds()] as [
    ReturnType<typeof telemetry>,
    string[],
    unknown[],
    unknown[],
    FakeClock,
    ReturnType<typeof countingIds>,
  ];
  const keep = (...line: unknown[]): void => void lines.push(line);
  const logger: Logger = { warn: keep, note: keep };
  const crm: Sink = { deliver: (message) => void told.push(message) };
  const down: Sink = {
    attempts: 2,
    deliver: () => Promise.reject(new Error(`${canary("sink")}: 401 for ${canary("header")}`)),
  };
  const agents = agentsOf({ key, trace, content: content.traces, used });
  const settings = { leaseMs: 30_000, pollMs: 10_000, watchPollMs: 10_000, redact, sinks: { crm, down } };
  const boot = (): Promise<TestProcess> =>
    startProcess({ store, agents: Object.values(agents), clock, ids, logger, settings });
  const world: World = { clock, agents, thrown: [], process: await boot() };
  const live = listen(world.process.runtime, content.events);
  await rest(world);
  const runs = await play(world);
  world.process.kill();
  await clock.advance(120_000);
  world.process = await boot();
  await goOn(world);
  const { runtime } = world.process;
  const all = runs.map((id) => runtime.runs.get(id));
  for (const run of all) await thrownBy(world, () => run.output());
  const heard: Heard = {
    logs: written(lines),
    traces: written(trace.spans().map(({ name, attributes, status, events }) => [name, attributes, status, events])),
    errors: world.thrown.join("\n"),
    metrics: written(await runtime.metrics()),
    sinks: written(told),
    events: written([live, await Promise.all(all.map((run) => watched(run, content.events)))]),
    content: written(await Promise.all(all.map((run) => watched(run, true)))),
    store: written(await stored(world, runs, store)),
    used,
  };
  await options.look?.();
  await runtime.close();
  return heard;
}

/** What the runs are told, and what is refused. */
async function play(world: World): Promise<readonly RunId[]> {
  const { agents, clock } = world;
  const { runtime } = world.process;
  const started: Run<unknown>[] = [];
  for (const each of Object.values(agents)) {
    const options = each.context ? { context: { customer: canary("context") } } : {};
    started.push(await runtime.start(each, each === agents.wired ? canary("user") : given, options));
  }
  for (const customer of [canary("schema"), canary("cause")]) {
    await thrownBy(world, () => runtime.start(agents.clerk, "Hi", { context: { customer } }));
  }
  await rest(world);
  const { asker, sleeper } = Object.fromEntries(Object.keys(agents).map((name, index) => [name, started[index]]));
  await asker?.send(canary("sent"));
  await decide(world);
  await sleeper?.cancel({ reason: canary("reason") });
  await clock.advance(40_000, () => rest(world)); // the grace of what was cancelled, and the sinks' turn
  return started.map(({ id }) => id);
}

async function decide(world: World): Promise<void> {
  const open = await world.process.runtime.tickets.list({ status: "open", kind: "approval" });
  const [first, second, third] = open;
  if (!first || !second || !third) throw new Error(`${open.length} approvals are open, not 3`);
  await thrownBy(world, () => first.edit({ q: canary("edit").repeat(9), [canary("edit")]: 1 }));
  await first.edit({ q: canary("edit") });
  await second.answer({ said: canary("answer") });
  await third.reject(canary("reason"));
}

/** One of them was in the middle of a call when its process died; a person says how it ended. */
async function goOn(world: World): Promise<void> {
  const { clock } = world;
  await clock.advance(60_000, () => rest(world));
  for (const ticket of await world.process.runtime.tickets.list({ status: "open", kind: "unknown-outcome" })) {
    await ticket.markFailed(canary("decision"));
  }
  await clock.advance(40_000, () => rest(world));
}

/** A call that hangs is never quiet; everything else is done after so many turns. */
async function rest({ process }: World): Promise<void> {
  for (let turns = 0; turns < 20 || process.storing() > 0; turns += 1) await turn();
}

async function thrownBy({ thrown }: World, call: () => Promise<unknown>): Promise<void> {
  await call().catch((cause: unknown) => {
    thrown.push(`${String(cause)} ${inspect(cause, { depth: 9, showHidden: true })}`);
  });
}

async function stored({ process, agents, clock }: World, runs: readonly RunId[], store: StoreDefinition) {
  const logger: Logger = { warn: () => undefined, note: () => undefined };
  const journal = await store.open({ clock, logger });
  const scope = "default" as Scope;
  const entries = await Promise.all(runs.map((run) => journal.readRun({ scope, run, after: 0, limit: 1_000 })));
  const handles = runs.map((run) => process.runtime.runs.get(run));
  const shown = await Promise.all(handles.flatMap((run) => [run.status(), run.result(), run.evidence()]));
  const declared = Object.values(agents).map((each) => process.runtime.manifest(each));
  return [entries, shown, declared];
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
