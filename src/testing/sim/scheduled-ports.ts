/**
 * Turns the port calls of one process into tasks, and says what each fault means for a port.
 *
 * A tool call is sent at once and only its answer is a task: the engine checks `startBy` as its last statement before
 * the call, and a freeze between that check and the send is the one hole that only a receiver can close. A plugin's hook is
 * begun at once too, in the engine's own turn; a process may die in the middle of it.
 */
import { HoldfastError } from "../../domain/errors.ts";
import type { Intercept, InterceptNow, PortCall } from "../intercept.ts";
import type { FaultBench } from "./faults.ts";
import type { Random } from "./random.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import { showCall } from "./show-call.ts";

export interface ScheduledPorts {
  readonly owner: Owner;
  readonly scheduler: Scheduler;
  readonly faults: FaultBench;
  readonly random: Random;
  readonly crash?: () => void;
  /** Chance that a store's answer is under way while others act: true when given, old when it arrives. */
  readonly lateAnswers?: number;
}

const never: Promise<never> = new Promise(() => undefined);
const writes = [
  ...["create", "commit", "release", "post", "claim", "renew", "saveSnapshot", "addEvidence"],
  ...["takeDeliveries", "endDelivery", "prune", "putContent", "collectContent"],
];

export function schedulePorts(ports: ScheduledPorts): Intercept {
  const { owner } = ports;
  return (call, proceed) => {
    if (!owner.alive) return never;
    if (call.port === "clock") return proceed(); // the simulated clock is a task already
    const isSent = call.port === "plugin" || (call.port === "tool" && call.method === "execute");
    return isSent ? send(call, proceed, ports) : queue(call, proceed, ports);
  };
}

/** What ends a turn of a process that is dead: whatever is made of it reaches no port any more. */
const died = new Error("The process died");

export function scheduleNow({ owner, faults, crash }: ScheduledPorts): InterceptNow {
  function live(fault: "crash-before" | "crash-after"): void {
    if (owner.alive && crash && faults.strikes(fault)) crash();
    if (!owner.alive) throw died;
  }
  return (_call, proceed) => {
    live("crash-before");
    const answer = proceed();
    live("crash-after");
    return answer;
  };
}

function queue<T>(call: PortCall, proceed: () => Promise<T>, ports: ScheduledPorts): Promise<T> {
  const { owner, scheduler, random, lateAnswers = 0 } = ports;
  const isLate = call.port === "store" && lateAnswers > 0 && random.chance(lateAnswers);
  const arrive = (give: () => void): void => {
    if (!isLate) return owner.alive ? give() : undefined;
    const at = scheduler.now() + random.int(30);
    scheduler.add({ owner, label: () => `${showCall(call)} is answered`, at, faults: [], run: give });
  };
  return new Promise((resolve, reject) => {
    scheduler.add({
      owner,
      label: () => showCall(call),
      at: scheduler.now() + latencyOf(call, random),
      faults: faultsOf(call),
      run(fault) {
        spoiled(fault, { call, proceed, random }).then(
          (answer) => arrive(() => resolve(answer)),
          (cause: unknown) => arrive(() => reject(cause)),
        );
      },
    });
  });
}

function send<T>(call: PortCall, proceed: () => Promise<T>, ports: ScheduledPorts): Promise<T> {
  const { owner, scheduler, faults, crash } = ports;
  if (crash && faults.strikes("crash-before")) {
    crash();
    return never;
  }
  return new Promise((resolve, reject) => {
    const answer = (give: () => void, how: string): void =>
      scheduler.add({
        owner,
        label: () => `${showCall(call)} ${how}`,
        at: scheduler.now(),
        faults: [],
        run: () => owner.alive && give(),
      });
    proceed().then(
      (value) => answer(() => resolve(value), "answers"),
      (cause: unknown) => answer(() => reject(cause), "throws"),
    );
  });
}

function faultsOf({ port, method }: PortCall): readonly string[] {
  if (port === "store") return writes.includes(method) ? ["commit-unknown", "error"] : ["error"];
  if (port === "bus") return ["hint-lost"];
  return port === "model" ? ["error"] : [];
}

async function spoiled<T>(
  fault: string | undefined,
  what: { readonly call: PortCall; readonly proceed: () => Promise<T>; readonly random: Random },
): Promise<T> {
  const { call, proceed, random } = what;
  switch (fault) {
    case "commit-unknown":
      if (random.chance(0.5)) await proceed();
      throw new HoldfastError("commit-unknown", `The outcome of ${call.method} cannot be known`);
    case "hint-lost":
      return undefined as T;
    case "error":
      if (call.port === "model") throw new HoldfastError("model-overloaded", "The simulated provider refuses for now");
      throw new HoldfastError(random.pick(["store-busy", "store-unavailable", "store-full"]), `${call.method} failed`);
    default:
      return proceed();
  }
}

/** Most calls are quick; a model takes its time before the first part. */
function latencyOf({ port }: PortCall, random: Random): number {
  if (port === "model") return random.chance(0.3) ? random.int(120) : random.int(4);
  return random.chance(0.75) ? 0 : random.int(12);
}
