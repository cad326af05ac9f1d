/** A runtime with one agent that executes elsewhere, and its journal. */
import { agent } from "../../src/agent.ts";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope, type RunId } from "../../src/domain/ids.ts";
import { readAfter } from "../../src/engine/load.ts";
import { memory, type RunEvent } from "../../src/index.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import type { Run } from "../../src/runtime/runtime.ts";
import { type FakeAnswer, type FakeRemote, type FakeRemoteOptions, fakeRemote } from "../../src/testing/fake-remote.ts";
import { type TestRuntime, type TestRuntimeOptions, testRuntime } from "../../src/testing/test-runtime.ts";

export type Answered = Extract<Entry, { type: "effect-settled" }>["result"] & { kind: "done" };

export interface World {
  readonly t: TestRuntime;
  readonly backend: FakeRemote;
  readonly store: () => Store;
  start(text?: string, thread?: string): Promise<Run<unknown>>;
  entries(run: { readonly id: string }): Promise<readonly Entry[]>;
  /** The last settlement of a turn. */
  settled(run: { readonly id: string }): Promise<Answered>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Setting extends Omit<FakeRemoteOptions, "name"> {
  readonly agent?: Partial<Parameters<typeof agent>[0]>;
  readonly runtime?: Partial<TestRuntimeOptions>;
}

export async function world(script: readonly FakeAnswer[], setting: Setting = {}): Promise<World> {
  const { agent: more, runtime, ...options } = setting;
  const backend = fakeRemote(script, options);
  const clerk = agent({ name: "clerk", backend, ...more } as Parameters<typeof agent>[0]);
  let opened: Store | undefined;
  const inner = memory();
  const store: StoreDefinition = {
    ...inner,
    open: async (parts) => {
      opened ??= await inner.open(parts);
      return opened;
    },
  };
  const t = await testRuntime({ agents: [clerk], store, ...runtime });
  const entries = (run: { readonly id: string }): Promise<readonly Entry[]> =>
    readAfter({ scope: defaultScope, run: run.id as RunId }, 0, opened as Store);
  return {
    t,
    backend,
    store: () => opened as Store,
    start: (text = "hi", thread) => t.runtime.start("clerk", text, thread === undefined ? {} : { thread }),
    entries,
    async settled(run) {
      const found = (await entries(run)).filter((entry) => entry.type === "effect-settled");
      const done = found.findLast((entry) => entry.result.kind === "done" && entry.result.remote);
      if (done?.type !== "effect-settled") throw new Error("No turn has been answered");
      return done.result as Answered;
    },
    [Symbol.asyncDispose]: () => t.close(),
  };
}

/** All of them, live pieces too: the other side answers once somebody watches. */
export async function eventsOf(
  run: Run<unknown>,
  open: () => void = () => undefined,
): Promise<readonly (RunEvent & { readonly text?: string })[]> {
  const events: RunEvent[] = [];
  for await (const event of run.watch({ until: "end" })) {
    events.push(event as unknown as RunEvent);
    if (event.type === "effect-intended") open();
  }
  return events;
}

/** Something that the other side waits for. */
export function gate(): { readonly open: () => void; readonly until: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: () => resolve(), until: promise };
}

export const never: Promise<never> = new Promise(() => undefined);

export function warnings(): { readonly logger: Logger; readonly said: string[] } {
  const said: string[] = [];
  return {
    said,
    logger: {
      warn: (message, details) => said.push(`${message} ${JSON.stringify(details ?? {})}`),
      note: () => undefined,
    },
  };
}
