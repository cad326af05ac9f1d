/** Counts what a run costs, step by step. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { z } from "zod";
import type { MessageId } from "../../src/domain/ids.ts";
import type { Message } from "../../src/domain/message.ts";
import { agent, type Model, memory, tool } from "../../src/index.ts";
import type { Commit, StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { sqliteWithProbe } from "../../src/stores/sqlite/sqlite.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

/** Since the beginning. */
export interface Reading {
  /** SQL statements, or calls of the store. */
  readonly statements: number;
  readonly bytes: number;
  readonly rows: number;
}

export interface Meter {
  readonly store: StoreDefinition;
  read(): Reading;
  /** Of the memory store: every call passes here. */
  onCommit?(commit: Commit): void;
  onCall?(): void;
}

export function sqliteMeter(): Meter {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-cost-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "runs.db");
  let statements = 0;
  let rows = 0;
  const probe = {
    before: () => {
      statements += 1;
    },
    after: (_sql: string, count: number) => {
      rows += count;
    },
  };
  return {
    store: sqliteWithProbe(path, probe, { durability: "normal" }),
    read: () => ({ statements, rows, bytes: statSync(`${path}-wal`).size }),
  };
}

export function memoryMeter(): Meter {
  let statements = 0;
  let bytes = 0;
  return {
    store: memory(),
    read: () => ({ statements, bytes, rows: 0 }),
    onCall: () => {
      statements += 1;
    },
    onCommit: ({ entries }) => {
      bytes += JSON.stringify(entries).length;
    },
  };
}

const tick = tool({
  name: "tick",
  description: "Ticks",
  input: z.object({ at: z.number() }),
  effect: "pure",
  execute: ({ at }) => ({ at, padding: "x".repeat(200) }),
});

export interface Bench {
  /** A run of so many steps with one tool call each; answers the readings at the beginning of each step. */
  longRun(steps: number, thread: string): Promise<readonly Reading[]>;
  /** Lets earlier runs write so many messages into the thread. */
  fill(thread: string, messages: number): Promise<void>;
  read(): Reading;
}

export async function aBench(meter: Meter): Promise<Bench> {
  let marks: Reading[] = [];
  const stepping: Model = {
    description: { provider: "test", model: "stepping" },
    call(request, signal) {
      marks[request.step] = meter.read();
      return script.call(request, signal);
    },
  };
  let wanted = 0;
  const step = ({ step: number }: { step: number }) =>
    number < wanted ? { calls: [{ tool: "tick", input: { at: number % 10 } }] } : "Done.";
  const script = scripted(Array.from({ length: 3_000 }, () => step));
  const walker = agent({
    name: "walker",
    model: stepping,
    instructions: "Walk.",
    tools: [tick],
    budget: { steps: 3_000 },
  });
  const t = await testRuntime({ agents: [walker], store: meter.store, ...counted(meter) });
  onTestFinished(() => t.close());
  return {
    read: meter.read,
    async longRun(steps, thread) {
      marks = [];
      wanted = steps;
      await endOf(await t.runtime.start(walker, "walk", { thread }));
      return marks;
    },
    async fill(thread, messages) {
      wanted = 0;
      for (let done = 0; done < messages; ) {
        const size = Math.min(100, messages - done);
        const said = Array.from({ length: size - 1 }, (_, n) => saying(`${thread}-${done + n}`));
        await endOf(await t.runtime.start(walker, said, { thread }));
        done += size;
      }
    },
  };
}

function counted(meter: Meter): Pick<Parameters<typeof testRuntime>[0], "intercept"> {
  const { onCall, onCommit } = meter;
  if (!onCall || !onCommit) return {};
  return {
    intercept: (call, proceed) => {
      if (call.port === "store") onCall();
      if (call.method === "commit") onCommit(call.args[0] as Commit);
      return proceed();
    },
  };
}

async function endOf(run: { result(): Promise<{ outcome: string }> }): Promise<void> {
  const { outcome } = await run.result();
  if (outcome !== "completed") throw new Error(`the run ended as ${outcome}`);
}

function saying(id: string): Message {
  return { id: id as MessageId, role: "user", parts: [{ type: "text", text: `I am ${id}` }], visibility: "all" };
}
