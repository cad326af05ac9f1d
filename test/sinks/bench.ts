/** Sink lanes on a store of their own, with a fake clock: r1, r2 … have ended, and sinks are to be told. */

import { onTestFinished } from "vitest";
import type { Relay } from "../../src/dispatchers/outbox/lane.ts";
import { createSinkRelay } from "../../src/dispatchers/outbox/sink-relay.ts";
import type { Scope } from "../../src/domain/ids.ts";
import { Problems } from "../../src/domain/problems.ts";
import { readRedaction } from "../../src/domain/redaction.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { Delivery } from "../../src/ports/outbox-store.ts";
import type { Sink, Sinks } from "../../src/ports/sink.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import {
  birthOf,
  claimAll,
  ended,
  keyOf,
  scopeA,
  started,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";
import { type Intercept, interceptStore } from "../../src/testing/intercept.ts";

export const pollMs = 1_000;
export const leaseMs = 5_000;
export const closeGraceMs = 2_000;

export interface Bench {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly logs: { readonly message: string; readonly details: unknown }[];
  readonly relay: (sinks: Sinks, how?: { readonly intercept?: Intercept; readonly scopes?: "all" }) => Relay;
}

export async function bench(definition: StoreDefinition = memory()): Promise<Bench> {
  const clock = createFakeClock();
  const logs: Bench["logs"] = [];
  const log = (message: string, details?: unknown): void => void logs.push({ message, details });
  const logger: Logger = { warn: log, note: log };
  const store = await definition.open({ clock, logger });
  onTestFinished(() => store.close());
  const relay: Bench["relay"] = (sinks, { intercept = pass, scopes = [scopeA] } = {}) => {
    const watched = interceptStore(store, intercept);
    const redactor = readRedaction(undefined, new Problems({}, []));
    const options = { redactor, store: watched, clock, logger, scopes, leaseMs, pollMs, closeGraceMs, sinks };
    const made = createSinkRelay(options);
    onTestFinished(() => void made.close());
    return made;
  };
  return { store, clock, logs, relay };
}

const pass: Intercept = (_call, proceed) => proceed();

export function toSink(sink: string, body: string): Delivery {
  return { to: "sink", sink, body: { type: "run-ended", said: body } };
}

/** A run that has ended and causes these. Its first commit holds seq 2 and 3. */
export async function cause(
  store: Store,
  { run, scope = scopeA }: { readonly run: string; readonly scope?: Scope },
  ...deliveries: readonly Delivery[]
): Promise<void> {
  await store.create(birthOf(run, { scope }));
  const [claim] = await claimAll(store, { scope });
  if (!claim) throw new Error(`Run ${run} cannot be claimed`);
  await write(store, claim, { entries: [started(0), ended], after: 1, deliveries });
}

export interface Told {
  readonly said: string;
  readonly key: string;
  readonly attempt: number;
  readonly at: number;
}

/** A sink that remembers what it was told, and then does what `act` does. */
export function listener(
  clock: FakeClock,
  act: (attempt: number, signal: AbortSignal) => Promise<void> | void = () => undefined,
): Sink & { readonly told: Told[] } {
  const told: Told[] = [];
  const deliver: Sink["deliver"] = (message, { key, attempt, signal }) => {
    told.push({ said: (message as unknown as { said: string }).said, key, attempt, at: clock.now() });
    return act(attempt, signal);
  };
  return { told, deliver };
}

export const never: Promise<never> = new Promise(() => undefined);

export async function pending(store: Store, run = "r1"): Promise<number> {
  return (await store.deliveries(keyOf(run))).length;
}
