/** Simulated processes: the real runtime on scheduled ports. A worker that dies boots again from the store alone. */
import { createInMemoryBus } from "../../buses/in-memory.ts";
import { composeRuntime, type RuntimePorts } from "../../compose.ts";
import type { Agent } from "../../domain/agent.ts";
import { withLent } from "../../domain/lend-agent.ts";
import { nodeHash } from "../../platform/node-hash.ts";
import type { Bus, Hint } from "../../ports/bus.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Store } from "../../ports/store.ts";
import { bindAgent } from "../../runtime/bind-agent.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { interceptAgent, interceptPorts } from "../intercept.ts";
import { countingIds } from "../test-process.ts";
import type { FaultBench } from "./faults.ts";
import type { Plan } from "./plan.ts";
import type { Random } from "./random.ts";
import { scheduleNow, schedulePorts } from "./scheduled-ports.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import type { Report } from "./violations.ts";
import type { Wrap } from "./wrap.ts";

export interface ProcessDeps {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly faults: FaultBench;
  readonly random: Random;
  readonly report: Report;
  readonly wrap: Wrap;
  /** The one store, with the checks in its port. */
  readonly store: Store;
  readonly agents: readonly Agent<unknown>[];
  readonly published: (hint: Hint) => void;
}

export interface SimProcess {
  readonly owner: Owner;
  readonly runtime: Runtime;
  /** As the engine sees them: every call a task. */
  readonly ports: RuntimePorts;
  /** A hint that came over the network. */
  hear(hint: Hint): void;
  /** Resolves when it dies. */
  readonly gone: Promise<void>;
}

/** A machine: the process that runs on it now, if one does. */
export interface Host {
  readonly name: string;
  current(): SimProcess | undefined;
}

export interface Network {
  join(process: SimProcess): void;
  leave(process: SimProcess): void;
  /** Carries a hint to every other process: late, twice or not at all. */
  carry(from: Owner, hint: Hint): void;
}

const longestOutageMs = 1_500;

export function createNetwork({ scheduler, faults, random }: ProcessDeps): Network {
  const members = new Set<SimProcess>();
  const deliver = (to: SimProcess, hint: Hint): void =>
    scheduler.add({
      owner: to.owner,
      label: () => `hears of ${hint.run} at ${hint.seq}`,
      at: scheduler.now() + random.int(40),
      run: () => to.hear(hint),
    });
  return {
    join: (process) => members.add(process),
    leave: (process) => members.delete(process),
    carry(from, hint) {
      const { entries: _entries, ...bare } = hint; // what is at hand here is not at hand there
      for (const to of members) {
        if (to.owner === from || faults.strikes("hint-lost")) continue;
        deliver(to, bare);
        if (faults.strikes("hint-doubled")) deliver(to, bare);
      }
    },
  };
}

/** Without agents it is a web server: it only watches, and dies like any other. */
export function startWorker(name: string, deps: ProcessDeps, network: Network): Host {
  let incarnation = 0;
  let running: SimProcess | undefined;
  const power: Owner = { name: `${name} power`, alive: true, frozenUntil: 0 };
  const boot = (): void => {
    incarnation += 1;
    const owner: Owner = { name: `${name}#${incarnation}`, alive: true, frozenUntil: 0 };
    const death = Promise.withResolvers<void>();
    let process: SimProcess | undefined;
    const crash = (): void => {
      owner.alive = false;
      deps.scheduler.drop(owner);
      if (process) network.leave(process);
      running = undefined;
      death.resolve();
      const at = deps.scheduler.now() + deps.random.int(longestOutageMs);
      deps.scheduler.add({ owner: power, label: () => `${name} boots again`, at, run: boot });
    };
    deps.faults.enlist(owner, crash);
    process = { ...compose(owner, { ...deps, crash }, network), gone: death.promise };
    running = process;
    network.join(process);
  };
  boot();
  return { name, current: () => running };
}

/** A process without agents: people start runs and decide tickets through it. */
export function startDesk(deps: ProcessDeps, network: Network): SimProcess {
  const owner: Owner = { name: "desk", alive: true, frozenUntil: 0 };
  const process = compose(owner, { ...deps, agents: [] }, network);
  network.join(process);
  return process;
}

function compose(owner: Owner, deps: ProcessDeps & { readonly crash?: () => void }, network: Network): SimProcess {
  const { scheduler, wrap, plan, agents } = deps;
  const logger = createSimLogger(owner, deps);
  const local = createInMemoryBus(logger);
  const bus: Bus = {
    ...local,
    publish(hint) {
      deps.published(hint);
      network.carry(owner, hint);
      return local.publish(hint);
    },
  };
  const real: RuntimePorts = {
    store: deps.store,
    bus,
    clock: {
      now: () => scheduler.now(),
      monotonic: () => scheduler.now(),
      sleep: (ms, signal) => scheduler.sleep(owner, ms, signal),
    },
    ids: countingIds(owner.name),
    hash: nodeHash,
    logger,
    // Lets every edit through, so that the worker's own schema has to refuse the bad ones.
    schemas: { problems: async () => [] },
  };
  const turn = (what: string): Promise<void> => scheduler.turn(owner, what);
  const scheduled = { ...deps, owner, lateAnswers: plan.lateAnswers };
  const wait = schedulePorts(scheduled);
  const ports = interceptPorts(wrap.ports?.(real, turn) ?? real, wait);
  const code = { wait, now: scheduleNow(scheduled) };
  const bound = withLent(agents)
    .map(bindAgent)
    .map((each) => interceptAgent(wrap.agent?.(each) ?? each, code));
  const runtime = composeRuntime(ports, bound, { ...plan.settings, isUnattended: true });
  return { owner, runtime, ports, hear: (hint) => void local.publish(hint), gone: new Promise(() => undefined) };
}

/** The engine complains only of what it can go on from; two of its sentences mean that it could not. */
function createSimLogger(owner: Owner, { report }: ProcessDeps): Logger {
  return {
    note: () => undefined,
    warn(message, details) {
      if (!owner.alive || !(message.includes("stopped on a defect") || message.includes("broke"))) return;
      report("defect", `${owner.name}: ${message} ${JSON.stringify(details)}`);
    },
  };
}
