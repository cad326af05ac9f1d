/** Puts the front desk together from parts that a composition root has chosen. Nothing clever. */
import type { Agent } from "../domain/agent.ts";
import { HoldfastError } from "../domain/errors.ts";
import { parseId, type RunId } from "../domain/ids.ts";
import { manifestOf } from "../domain/manifest.ts";
import type { Live } from "../engine/live.ts";
import type { Counts } from "../ports/counts.ts";
import { isAgent, noAgent } from "./agent-directory.ts";
import { createContents } from "./content.ts";
import { asAllowed } from "./content-access.ts";
import type { Desk } from "./desk.ts";
import { readMetrics } from "./metrics.ts";
import { redactingErrors } from "./redacted-error.ts";
import type { FindModel } from "./routed-models.ts";
import { checkWatch, createRunHandle } from "./run-handle.ts";
import { createRunLists, forkRun } from "./runs.ts";
import type { ForkOptions, Run, RunResult, Runtime, StartInput, StartOptions, WaitOptions } from "./runtime.ts";
import { manySource } from "./sources.ts";
import { startRun } from "./start-run.ts";
import { createThreads } from "./threads.ts";
import { createTickets } from "./tickets.ts";
import { watch } from "./watch.ts";
import { createWatchHub } from "./watch-hub.ts";

export interface Parts extends Omit<Desk, "closed"> {
  readonly live: Live;
  readonly counts: Counts;
  readonly sinkNames: readonly string[];
  readonly providerNames: readonly string[];
  readonly findModel: FindModel;
  /** Closes what the composition root has opened. */
  readonly shutDown: () => Promise<void>;
}

export function assembleRuntime(parts: Parts): Runtime {
  const closing = new AbortController();
  const desk: Desk = { ...parts, closed: closing.signal };
  let closed: Promise<void> | undefined;

  /** From the beginning of close on: what was accepted then might never reach the store. */
  function refuseClosed(): void {
    if (closed !== undefined) throw new HoldfastError("runtime-closed", "The runtime is closed");
  }

  const hub = createWatchHub(desk, parts.live);

  function handle(id: RunId): Run<never> {
    return createRunHandle(id, desk, hub) as unknown as Run<never>;
  }

  function close(): Promise<void> {
    closed ??= parts.shutDown().finally(() => closing.abort());
    return closed;
  }

  const runtime: Runtime = {
    async start(agent: Agent<unknown> | string, input: StartInput, options: StartOptions = {}) {
      refuseClosed();
      return handle(await redactingErrors(desk, () => startRun(agent, { input, options }, desk)));
    },
    async run(agent: Agent<unknown> | string, input: StartInput, asked: StartOptions & WaitOptions = {}) {
      const { signal, ...options } = asked;
      const run = await runtime.start(agent as string, input, options); // whichever of the two it is
      return run.result(signal ? { signal } : {}) as Promise<RunResult<never>>;
    },
    manifest(agent) {
      if (!isAgent(agent)) throw noAgent("manifest(agent)");
      return manifestOf(parts.findModel(agent), desk.hash);
    },
    runs: {
      get: (id: string) => handle(parseId<RunId>("run id", id)),
      async fork(id: string, agent: Agent<unknown> | string, options: ForkOptions) {
        refuseClosed();
        return handle(await redactingErrors(desk, () => forkRun({ id, agent, options }, desk)));
      },
      ...createRunLists(desk),
    },
    sinks: parts.sinkNames,
    providers: parts.providerNames,
    content: createContents(desk),
    tickets: createTickets(desk),
    threads: createThreads(desk),
    async *watch(filter = {}, options = {}) {
      refuseClosed();
      const checked = checkWatch(options, ["after", "from", "content", "signal"]);
      yield* asAllowed(checked, watch(await manySource(filter, desk, hub), checked, desk.closed));
    },
    async metrics() {
      refuseClosed();
      return readMetrics(parts);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return runtime;
}
