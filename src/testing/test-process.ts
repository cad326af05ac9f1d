/** A "process" inside a test: one runtime on intercepted ports, which can die at any call and leave only the store. */

import { createInMemoryBus } from "../buses/in-memory.ts";
import { composeRuntime, type RuntimePorts, type RuntimeSettings } from "../compose.ts";
import type { Agent } from "../domain/agent.ts";
import { withLent } from "../domain/lend-agent.ts";
import { createAjvChecker } from "../platform/ajv-checker.ts";
import { nodeHash } from "../platform/node-hash.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Logger } from "../ports/logger.ts";
import type { StoreDefinition } from "../ports/store.ts";
import { bindAgent } from "../runtime/bind-agent.ts";
import type { Runtime } from "../runtime/runtime.ts";
import {
  type Intercept,
  type InterceptNow,
  interceptAgent,
  interceptPorts,
  interceptProviders,
  interceptResolver,
  interceptSinks,
  interceptStore,
} from "./intercept.ts";

export interface ProcessOptions {
  readonly store: StoreDefinition;
  readonly agents: readonly Agent<unknown>[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger?: Logger;
  readonly settings?: RuntimeSettings;
  /** Sits between the engine and every port. */
  readonly intercept?: Intercept;
  /** The same for calls of plugins, which must not be made to wait. */
  readonly interceptNow?: InterceptNow;
}

export interface TestProcess {
  readonly runtime: Runtime;
  /** From now on no call of this process returns: as after SIGKILL, only the store is left. */
  kill(): void;
  readonly isDead: () => boolean;
  /** Calls in flight; sleeps and hooks that are waited for are not counted. */
  readonly busy: () => number;
  /** Calls that have reached the store: whatever hangs, they will be answered. */
  readonly storing: () => number;
  /** Resolves when nothing but sleep is in flight. */
  quiet(): Promise<void>;
}

export const silentLogger: Logger = { warn: () => undefined, note: () => undefined };

const never: Promise<never> = new Promise(() => undefined);
/** What ends a turn of a process that is dead: whatever is made of it reaches no port any more. */
const died = new Error("The process died");

export async function startProcess(options: ProcessOptions): Promise<TestProcess> {
  const { clock, ids, logger = silentLogger, intercept = pass, interceptNow = passNow } = options;
  let dead = false;
  let busy = 0;

  /** Outermost: death hides even what the inner interceptor still does. */
  const guard: Intercept = async (call, proceed) => {
    if (dead) return never;
    // A hook, a check of the output or a remote turn may hang: only time, or somebody else, ends it.
    const counts = call.method !== "sleep" && !["plugin", "output", "remote"].includes(call.port);
    if (counts) busy += 1;
    try {
      const answer = await intercept(call, proceed);
      return dead ? never : answer;
    } catch (cause) {
      if (dead) return never;
      throw cause;
    } finally {
      if (counts) busy -= 1;
    }
  };

  const guardNow: InterceptNow = (call, proceed) => {
    if (dead) throw died;
    return interceptNow(call, proceed);
  };

  let storing = 0;
  const count: Intercept = (_call, proceed) => {
    storing += 1;
    return proceed().finally(() => {
      storing -= 1;
    });
  };
  const store = await options.store.open({ clock, logger });
  const real: RuntimePorts = {
    store: interceptStore(store, count),
    bus: createInMemoryBus(logger),
    clock,
    ids,
    hash: nodeHash,
    logger,
    schemas: createAjvChecker(),
  };
  const agents = withLent(options.agents).map((each) =>
    interceptAgent(bindAgent(each), { wait: guard, now: guardNow }),
  );
  const sinks = interceptSinks(options.settings?.sinks ?? {}, guard);
  const { resolver, providers } = options.settings ?? {};
  const settings = {
    ...options.settings,
    ...(providers ? { providers: interceptProviders(providers, guard) } : {}),
    ...(resolver ? { resolver: interceptResolver(resolver, guard) } : {}),
    ...{ sinks, isUnattended: true },
  };
  const runtime = composeRuntime(interceptPorts(real, guard), agents, settings);
  return {
    runtime,
    kill: () => {
      dead = true;
    },
    isDead: () => dead,
    busy: () => busy,
    storing: () => storing,
    async quiet() {
      for (let calm = 0; calm < 3; ) {
        await turn();
        calm = busy === 0 || dead ? calm + 1 : 0;
      }
    },
  };
}

const pass: Intercept = (_call, proceed) => proceed();
const passNow: InterceptNow = (_call, proceed) => proceed();

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Ids that count: the same run of a test makes the same ids. */
export function countingIds(prefix = "id"): Ids {
  let last = 0;
  return {
    next: () => {
      last += 1;
      return `${prefix}-${last}`;
    },
  };
}
