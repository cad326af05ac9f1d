/**
 * Every asynchronous call of the engine to the outside passes here: store, bus, clock, model, tools.
 * A cut, a fault, a mutant and a seeded scheduler are all one function of this shape.
 * (A judge that answers at once is not a wait, and is left alone.)
 */
import type { RuntimePorts } from "../compose.ts";
import type { BoundAgent } from "../engine/deps.ts";
import type { Store } from "../ports/store.ts";

export interface PortCall {
  readonly port: "store" | "bus" | "clock" | "model" | "tool";
  readonly method: string;
  readonly args: readonly unknown[];
}

export type Intercept = <T>(call: PortCall, proceed: () => Promise<T>) => Promise<T>;

export function interceptPorts(ports: RuntimePorts, intercept: Intercept): RuntimePorts {
  return {
    ...ports,
    store: interceptStore(ports.store, intercept),
    bus: {
      ...ports.bus,
      publish: (hint) => intercept({ port: "bus", method: "publish", args: [hint] }, () => ports.bus.publish(hint)),
    },
    clock: {
      now: () => ports.clock.now(),
      monotonic: () => ports.clock.monotonic(),
      sleep: (ms, signal) =>
        intercept({ port: "clock", method: "sleep", args: [ms, signal] }, () => ports.clock.sleep(ms, signal)),
    },
  };
}

export function interceptStore(store: Store, intercept: Intercept): Store {
  const wrapped: Record<string, unknown> = {};
  for (const [method, value] of Object.entries(store)) {
    const real = value as (...args: unknown[]) => Promise<unknown>;
    wrapped[method] = (...args: unknown[]) => intercept({ port: "store", method, args }, () => real(...args));
  }
  if (store.now) wrapped.now = () => store.now?.(); // not a wait: a promise in its place would be no time at all
  return wrapped as unknown as Store;
}

export function interceptAgent(agent: BoundAgent, intercept: Intercept): BoundAgent {
  const { model, tools } = agent;
  return {
    ...agent,
    model: {
      description: model.description,
      call: (request, signal) => interceptStream(() => model.call(request, signal), request, intercept),
    },
    tools: {
      spec: (name) => tools.spec(name),
      judge: (call) => {
        const verdict = tools.judge(call);
        if (!(verdict instanceof Promise)) return verdict;
        return intercept({ port: "tool", method: "judge", args: [call] }, () => verdict);
      },
      apply: (name, work) => tools.apply(name, work), // inside the store's own transaction: the cut is at the commit
      execute: (name, input, context) =>
        intercept({ port: "tool", method: "execute", args: [name, input, context] }, () =>
          tools.execute(name, input, context),
        ),
      reconcile: (name, key, input) =>
        intercept({ port: "tool", method: "reconcile", args: [name, key, input] }, () =>
          tools.reconcile(name, key, input),
        ),
    },
  };
}

/** Each part of a stream is a wait of its own. */
async function* interceptStream<T>(
  open: () => AsyncIterable<T>,
  request: unknown,
  intercept: Intercept,
): AsyncIterable<T> {
  const parts = open()[Symbol.asyncIterator]();
  for (;;) {
    const next = await intercept({ port: "model", method: "next", args: [request] }, () => parts.next());
    if (next.done) return;
    yield next.value;
  }
}
