/** Puts the front desk together from parts that a composition root has chosen. Nothing clever. */
import type { Agent } from "../domain/agent.ts";
import { HoldfastError } from "../domain/errors.ts";
import { parseId, type RunId } from "../domain/ids.ts";
import { manifestOf } from "../domain/manifest.ts";
import type { Live } from "../engine/live.ts";
import type { Counts } from "../ports/counts.ts";
import { asAllowed } from "./content-access.ts";
import type { Desk } from "./desk.ts";
import { readMetrics } from "./metrics.ts";
import { redactingErrors } from "./redacted-error.ts";
import { checkWatch, createRunHandle } from "./run-handle.ts";
import { createRunLists, forkRun } from "./runs.ts";
import type { Run, Runtime } from "./runtime.ts";
import { manySource } from "./sources.ts";
import { startRun } from "./start-run.ts";
import { createThreads } from "./threads.ts";
import { createTickets } from "./tickets.ts";
import { watch } from "./watch.ts";
import { createWatchHub } from "./watch-hub.ts";

export interface Parts extends Omit<Desk, "closed"> {
  readonly agentNames: readonly string[];
  readonly live: Live;
  readonly counts: Counts;
  readonly sinkNames: readonly string[];
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
    async start(agent, input, options = {}) {
      refuseClosed();
      refuseForeign(agent, parts);
      return handle(await redactingErrors(desk, () => startRun(agent, { input, options }, desk)));
    },
    async run(agent, input, { signal, ...options } = {}) {
      const run = await runtime.start(agent, input, options);
      return run.result(signal ? { signal } : {});
    },
    manifest(agent) {
      refuseForeign(agent, parts);
      return manifestOf(agent, desk.hash);
    },
    runs: {
      get: (id: string) => handle(parseId<RunId>("run id", id)),
      async fork(id, agent, options) {
        refuseClosed();
        refuseForeign(agent, parts);
        return handle(await redactingErrors(desk, () => forkRun({ id, agent, options }, desk)));
      },
      ...createRunLists(desk),
    },
    sinks: parts.sinkNames,
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

/** A process without agents starts runs for others; one with agents starts only what it can name. */
function refuseForeign(agent: Agent<unknown>, parts: Parts): void {
  if (typeof agent?.name !== "string" || !Array.isArray(agent.tools)) {
    throw new HoldfastError("invalid-agent", "start(agent, input) takes an agent made by agent({ … })");
  }
  const { agentNames } = parts;
  if (agentNames.length === 0 || agentNames.includes(agent.name)) return;
  const known = agentNames.join(", ");
  throw new HoldfastError("unknown-agent", `Agent ${agent.name} is not one of this runtime's: ${known}`);
}
