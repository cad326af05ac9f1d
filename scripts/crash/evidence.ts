/** What the campaign leaves behind: logs of everyone outside the store, and the store itself. The judge sees nothing else. */
import { globSync } from "node:fs";
import { join } from "node:path";
import { createRuntime } from "holdfast";
import type { Entry } from "../../src/domain/entry.ts";
import { nodeClock } from "../../src/platform/node-clock.ts";
import type { RunKey, Store } from "../../src/ports/store.ts";
import { noted } from "../processes/notes.ts";
import { storeOf } from "./place.ts";

/** A request as the tool process took it. Only `effect` changed the world. */
export interface ToolLine {
  readonly kind: "effect" | "repeat" | "late" | "lookup";
  readonly tool: string;
  readonly key: string;
  readonly run: string;
  readonly call: string;
}

/** What a client was about to do, or was told is durable. `at` is the time of day after the answer. */
export type ClientLine =
  | { readonly kind: "trying"; readonly key: string }
  | { readonly kind: "started"; readonly key: string; readonly run: string }
  | { readonly kind: "ended"; readonly key: string; readonly run: string }
  | { readonly kind: "decided"; readonly run: string; readonly ticket: string; readonly by: string }
  | { readonly kind: "sent"; readonly run: string; readonly input: string }
  | { readonly kind: "cancelled"; readonly run: string; readonly at: number };

export interface WatcherLine {
  readonly run: string;
  readonly seq: number;
  readonly cursor: string;
}

/** What a worker asked of the store, as its wrapper saw it. `at` is counted by the machine, the same for all processes. */
export type WorkerLine =
  | { readonly kind: "claimed"; readonly run: string; readonly epoch: number; readonly at: number }
  | {
      readonly kind: "asked";
      readonly id: number;
      readonly method: string;
      readonly run: string;
      readonly epoch: number;
      readonly at: number;
    }
  | { readonly kind: "answered"; readonly id: number; readonly answer: string };

export interface Journal {
  readonly run: string;
  readonly entries: readonly Entry[];
}

export interface Evidence {
  readonly tools: readonly ToolLine[];
  readonly clients: readonly ClientLine[];
  readonly watchers: readonly (readonly WatcherLine[])[];
  /** One log per process that ever worked. */
  readonly workers: readonly (readonly WorkerLine[])[];
  readonly journals: readonly Journal[];
}

export const logs = {
  tools: (folder: string): string => join(folder, "tools.log"),
  client: (folder: string, name: string): string => join(folder, `client-${name}.log`),
  watcher: (folder: string, name: string): string => join(folder, `watcher-${name}.log`),
  worker: (folder: string, pid: number): string => join(folder, `worker-${pid}.log`),
};

/** The same count in every process of this machine. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export async function collect(folder: string): Promise<Evidence> {
  return {
    tools: noted<ToolLine>(logs.tools(folder)),
    clients: all<ClientLine>(folder, "client-*.log").flat(),
    watchers: all<WatcherLine>(folder, "watcher-*.log"),
    workers: all<WorkerLine>(folder, "worker-*.log"),
    journals: await journalsOf(folder),
  };
}

function all<Line>(folder: string, pattern: string): readonly (readonly Line[])[] {
  const files = globSync(pattern, { cwd: folder }).sort();
  return files.map((file) => noted<Line>(join(folder, file)));
}

async function journalsOf(folder: string): Promise<readonly Journal[]> {
  const logger = { warn: () => undefined, note: () => undefined };
  const store = await storeOf(folder).open({ clock: nodeClock, logger });
  await using runtime = await createRuntime({ store: storeOf(folder), logger });
  const journals: Journal[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await runtime.runs.list({ limit: 500, order: "oldest", cursor });
    for (const { run } of page.items) {
      journals.push({ run, entries: await wholeJournal(store, { scope: "default", run } as RunKey) });
    }
    cursor = page.next;
  }
  await store.close();
  return journals;
}

async function wholeJournal(store: Store, key: RunKey): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const more = await store.readRun({ ...key, after: entries.at(-1)?.seq ?? 0, limit: 1_000 });
    if (more.length === 0) return entries;
    entries.push(...more);
  }
}
