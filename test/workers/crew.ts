/** Worker processes of a test, the store they share, and what they and the world have written down. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { TestContext } from "vitest";
import { type Child, startChild } from "../../scripts/processes/child.ts";
import { noted } from "../../scripts/processes/notes.ts";
import { createRuntime } from "../../src/create-runtime.ts";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope, type RunId } from "../../src/domain/ids.ts";
import { readAfter } from "../../src/engine/load.ts";
import { nodeClock } from "../../src/platform/node-clock.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { postgres } from "../../src/postgres.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { sqlite } from "../../src/sqlite.ts";
import { freshStore } from "../postgres/shared-server.ts";
import { deps } from "../stores/watched-store.ts";
import type { WorldLine } from "./clerk.ts";
import type { Orders, Place, StoreCall, WorkerNews, WorkerSettings } from "./orders.ts";

export type StoreKind = "sqlite" | "postgres";

/** Where a test happens, and who cleans up after it: tests that run beside each other have each their own context. */
export interface Stage extends Place {
  readonly after: (undo: () => Promise<void>) => void;
}

export async function freshStage(kind: StoreKind, { onTestFinished }: TestContext): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-workers-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const stage = { folder, world: join(folder, "world"), after: onTestFinished };
  if (kind === "sqlite") return { ...stage, store: { path: join(folder, "runs.db") } };
  const { url, schema } = await freshStore({ time: "database" });
  return { ...stage, store: { url, schema } };
}

export function storeOf({ store }: Pick<Place, "store">): StoreDefinition {
  return "path" in store ? sqlite(store.path, { durability: "normal" }) : postgres(store);
}

export interface WorkerProcess extends Child<WorkerNews> {
  /** Its calls that only the holder of a run may make, with what it was told, and its ordeal. */
  calls(): readonly StoreCall[];
  /** Those that it made after its ordeal. */
  lateCalls(): readonly StoreCall[];
  ready(): Promise<unknown>;
}

let workers = 0;

export function startWorker(stage: Stage, settings: WorkerSettings): WorkerProcess {
  workers += 1;
  const { folder, world, store } = stage;
  const calls = join(folder, `calls-${workers}`);
  const orders = join(folder, `orders-${workers}`);
  writeFileSync(orders, JSON.stringify({ folder, world, store, ...settings, calls } satisfies Orders));
  const child = startChild<WorkerNews>({ script: join(import.meta.dirname, "children/worker.ts"), args: [orders] });
  stage.after(() => child.kill());
  return {
    ...child,
    calls: () => noted<StoreCall>(calls),
    lateCalls: () => noted<StoreCall>(calls).filter(({ isLate }) => isLate),
    ready: () => child.next(({ message }) => message.includes("ready")),
  };
}

/** Starts, decides and reads; never executes. */
export async function openDesk(stage: Stage, clock: Clock = nodeClock): Promise<Runtime> {
  const logger = { warn: () => undefined, note: () => undefined };
  const desk = await createRuntime({ store: storeOf(stage), clock, logger, pollMs: 100 });
  stage.after(() => desk.close());
  return desk;
}

export async function reading<T>(place: Place, read: (store: Store) => Promise<T>): Promise<T> {
  const store = await storeOf(place).open(deps);
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

export function journalOf(place: Place, run: RunId): Promise<readonly Entry[]> {
  return reading(place, (store) => readAfter({ scope: defaultScope, run }, 0, store));
}

export function worldOf(place: Place): readonly WorldLine[] {
  return noted<WorldLine>(place.world);
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20);
}
