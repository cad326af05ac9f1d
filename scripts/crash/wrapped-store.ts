/** A store whose wrapper writes down every fenced request and its answer, and can stand still before and after any call. */
import type { StoreDefinition } from "holdfast";
import { type Intercept, interceptStore, type PortCall } from "holdfast/testing";
import type { Claim, Commit } from "../../src/ports/store.ts";
import { note } from "../processes/notes.ts";
import { machineTime, type WorkerLine } from "./evidence.ts";
import type { Failpoints } from "./failpoints.ts";

const fencedMethods = ["commit", "release", "renew"];

export function wrappedStore(real: StoreDefinition, points: Failpoints, log: string): StoreDefinition {
  const intercept = createIntercept(points, log);
  return { ...real, open: async (deps) => interceptStore(await real.open(deps), intercept) };
}

function createIntercept(points: Failpoints, log: string): Intercept {
  let last = 0;
  const say = (line: WorkerLine): void => note(log, line);

  async function fenced<T>({ method, args }: PortCall, proceed: () => Promise<T>): Promise<T> {
    const { run, epoch } = args[0] as Commit;
    last += 1;
    const id = last;
    say({ kind: "asked", id, method, run, epoch, at: machineTime() });
    const answer = await proceed();
    say({ kind: "answered", id, answer: (answer as { kind: string }).kind });
    return answer;
  }

  return async (call, proceed) => {
    await points.reach(`before-${call.method}`);
    const answer = fencedMethods.includes(call.method) ? await fenced(call, proceed) : await proceed();
    if (call.method === "claim") {
      const claims = answer as readonly Claim[];
      for (const { run, epoch } of claims) say({ kind: "claimed", run, epoch, at: machineTime() });
      if (claims.length === 0) return answer;
    }
    await points.reach(`after-${call.method}`);
    return answer;
  };
}
