import { expect, test } from "vitest";
import type { Entry } from "../../src/domain/entry.ts";
import { type ModelRequest, memory } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { silentLogger, turn } from "../../src/testing/test-process.ts";
import { type TestRuntime, testRuntime } from "../../src/testing.ts";
import { type Crew, type Gate, resumeAgent } from "./resume-world.ts";

interface Played {
  readonly points: readonly string[];
  readonly outcome: unknown;
  readonly values: unknown;
  readonly thread: unknown;
  readonly said: readonly string[];
  /** By step, what its model call was sent the last time. */
  readonly requests: readonly unknown[];
  readonly messages: unknown;
}

interface Gates extends Gate {
  /** The next label that somebody waits at. */
  next(): string | undefined;
  open(): void;
  /** The last one of each step. */
  readonly requests: readonly ModelRequest[];
  /** Whoever waits belonged to a process that is gone. */
  forget(): void;
}

function createGates(): Gates {
  let waiting: { readonly label: string; readonly open: () => void }[] = [];
  const requests: ModelRequest[] = [];
  return {
    requests,
    saw: (request) => {
      requests[request.step - 1] = request;
    },
    pass: (label) => new Promise((open) => waiting.push({ label, open })),
    next: () => waiting[0]?.label,
    open: () => waiting.shift()?.open(),
    forget: () => {
      waiting = [];
    },
  };
}

/** Kills the process at the quiet point of this number; 0 for none. */
async function play(crew: Crew, killAt: number): Promise<Played> {
  const gates = createGates();
  const store = memory();
  const resumer = resumeAgent(gates, crew);
  const settings = { limits: { snapshotEvery: 7 } }; // it resumes from the middle of everything
  const t = await testRuntime({ agents: [resumer], store, settings });
  const { id } = await t.runtime.start(resumer, "go", { thread: "t" });
  const points: string[] = [];
  let restarting: Promise<void> = Promise.resolve();
  for (;;) {
    await calm(t);
    const run = t.runtime.runs.get(id);
    const { status } = await run.status();
    if (status === "done") break;
    const label = gates.next() ?? status;
    points.push(label);
    if (points.length === killAt) {
      gates.forget();
      restarting = t.restart();
    } else if (status === "waiting") {
      const [ticket] = await t.runtime.tickets.list({ status: "open", kind: "approval" });
      await ticket?.approve({ by: "ana" });
    } else gates.open();
  }
  await restarting;
  const run = t.runtime.runs.get(id);
  const played = {
    points,
    outcome: await run.result(),
    values: (await run.state()).values,
    thread: (await t.runtime.threads.state("t")).values,
    said: saidIn(await entriesOf(store, t, id)),
    requests: gates.requests.map(({ instructions, messages, settings }) => ({ instructions, messages, settings })),
    messages: await t.runtime.threads.messages("t"),
  };
  await t.close();
  return played;
}

async function calm(t: TestRuntime): Promise<void> {
  for (let turns = 0; turns < 6; turns = t.process.storing() > 0 ? 0 : turns + 1) await turn();
}

async function entriesOf(store: StoreDefinition, t: TestRuntime, run: string): Promise<readonly Entry[]> {
  const open = await store.open({ clock: t.clock, logger: silentLogger });
  return open.readRun({ scope: "default" as never, run: run as never, after: 0, limit: 1_000 });
}

/** What plugins and tools changed and said, without when. */
function saidIn(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "state-changed" && entry.type !== "command-applied") return [];
    const { seq: _seq, at: _at, epoch: _epoch, ...said } = entry;
    return [JSON.stringify(said)];
  });
}

/** By the words that leave out a step before they are said again. */
function isReminded(request: unknown): boolean {
  return JSON.stringify(request).includes("Mind the gap.");
}

test.each<Crew>(["keeper and shy", "shy"])(
  "%s: counters, totals, schedules, cooldowns and passed moments survive a restart at every quiet point",
  async (crew) => {
    const { points, ...unbroken } = await play(crew, 0);
    expect(unbroken.outcome).toMatchObject({ outcome: "completed" });
    expect(points.length).toBeGreaterThan(20);
    if (crew !== "shy") expect(unbroken.requests.map(isReminded)).toEqual([true, false, true, false]);
    for (let killAt = 1; killAt <= points.length; killAt += 1) {
      const { points: _points, ...broken } = await play(crew, killAt);
      expect(broken, `killed at ${killAt}: ${points[killAt - 1]}`).toEqual(unbroken);
    }
  },
);
