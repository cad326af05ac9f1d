/**
 * Every call of the engine to the outside passes here: store, bus, clock, model, tools, plugins, sinks, the resolver, remote backends.
 * A cut, a fault, a mutant and a seeded scheduler are all one function of this shape.
 * (A judge, or a check of the output, that answers at once is not a wait, and is left alone.)
 */
import type { RuntimePorts } from "../compose.ts";
import type { BoundAgent, BoundOutput, BoundRemote } from "../engine/deps.ts";
import { isAwaitable } from "../engine/whenever.ts";
import type { AgentResolver } from "../ports/agent-resolver.ts";
import type { AnyHook, OpenPlugin, PluginRunner } from "../ports/plugin-runner.ts";
import type { Model, Provider, Providers } from "../ports/provider.ts";
import type { Sinks } from "../ports/sink.ts";
import type { Store } from "../ports/store.ts";
import { adoptAiSdk } from "../providers/ai-sdk/adopt.ts";
import type { AgentCode } from "../runtime/bind-agent.ts";

export interface PortCall {
  readonly port: "store" | "bus" | "clock" | "model" | "tool" | "plugin" | "output" | "sink" | "resolver" | "remote";
  readonly method: string;
  readonly args: readonly unknown[];
}

export type Intercept = <T>(call: PortCall, proceed: () => Promise<T>) => Promise<T>;

/** For a call that is answered at once, or begun at once and answered later: it must not be made to wait. */
export type InterceptNow = <T>(call: PortCall, proceed: () => T) => T;

/** How the code of an agent is intercepted: its waits, and where plugins are called without one. */
export interface CodeIntercepts {
  readonly wait: Intercept;
  readonly now?: InterceptNow;
}

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

export function interceptSinks(sinks: Sinks, intercept: Intercept): Sinks {
  const wrapped = Object.entries(sinks).map(([name, sink]) => {
    const deliver: typeof sink.deliver = (message, context) =>
      intercept({ port: "sink", method: "deliver", args: [name, message, context] }, async () =>
        sink.deliver(message, context),
      );
    return [name, { ...sink, deliver }] as const;
  });
  return Object.fromEntries(wrapped);
}

export function interceptResolver(resolver: AgentResolver, intercept: Intercept): AgentResolver {
  return {
    ...resolver,
    resolve: (wanted, context) =>
      intercept({ port: "resolver", method: "resolve", args: [wanted] }, async () => resolver.resolve(wanted, context)),
  };
}

/** Models that runs and steps name instead of their agent's. */
export function interceptProviders(providers: Providers, intercept: Intercept): Providers {
  const wrapped = Object.entries(providers).map(([name, provider]) => {
    const given: Provider = (model) => {
      const found = adoptAiSdk(provider(model)) as Model | undefined;
      return found && interceptModel(found, intercept);
    };
    return [name, given] as const;
  });
  return Object.fromEntries(wrapped);
}

function interceptModel(model: Model, intercept: Intercept): Model {
  return {
    ...model,
    call: (request, signal) => interceptStream(() => model.call(request, signal), request, intercept),
  };
}

export function interceptAgent(agent: AgentCode, intercepts: CodeIntercepts): AgentCode {
  return {
    ...agent,
    ...interceptCode(agent, intercepts),
    pin(declared, by) {
      const { agent: pinned, missing } = agent.pin(declared, by);
      return { agent: interceptCode(pinned, intercepts), missing };
    },
  };
}

function interceptCode(agent: BoundAgent, intercepts: CodeIntercepts): BoundAgent {
  const { model, tools } = agent;
  const { wait: intercept } = intercepts;
  return {
    ...agent,
    model: interceptModel(model, intercept),
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
    plugins: interceptPlugins(agent.plugins, intercepts),
    ...(agent.output ? { output: interceptOutput(agent.output, intercept) } : {}),
    ...(agent.remote ? { remote: interceptRemote(agent.remote, intercept) } : {}),
  };
}

function interceptRemote(remote: BoundRemote, intercept: Intercept): BoundRemote {
  const { backend } = remote;
  const through = <Asked, Answer>(method: string, call: (asked: Asked) => Promise<Answer>) => {
    return (asked: Asked): Promise<Answer> => intercept({ port: "remote", method, args: [asked] }, () => call(asked));
  };
  return {
    ...remote,
    backend: {
      ...backend,
      executeRoot: through("executeRoot", (turn) => backend.executeRoot(turn)),
      executeDelegate: through("executeDelegate", (turn) => backend.executeDelegate(turn)),
      look: through("look", (what) => backend.look(what)),
      abort: through("abort", (what) => backend.abort(what)),
    },
  };
}

function interceptOutput(output: BoundOutput, intercept: Intercept): BoundOutput {
  return {
    ...output,
    check: (candidate, isHeldBack) => {
      const report = output.check(candidate, isHeldBack);
      if (!(report instanceof Promise)) return report;
      return intercept({ port: "output", method: "check", args: [candidate] }, () => report);
    },
  };
}

const atOnce: InterceptNow = (_call, proceed) => proceed();

/** Making the instances is one call; closing them tells nobody anything, and is left alone. */
function interceptPlugins(plugins: PluginRunner, { wait, now = atOnce }: CodeIntercepts): PluginRunner {
  return {
    ...plugins,
    open: (run) => {
      const made = plugins.open(run);
      if (made.length === 0) return made; // nothing of a user is called, so nothing of it can fail
      const opened = now({ port: "plugin", method: "create", args: [run] }, () => made);
      return opened.map((plugin) => interceptPlugin(plugin, { wait, now }));
    },
  };
}

/**
 * A hook is begun in the engine's own turn, and so it is here: one that answers at once still does, and of one that does
 * not, the answer is a second call, which is waited for.
 */
function interceptPlugin(plugin: OpenPlugin, { wait, now }: Required<CodeIntercepts>): OpenPlugin {
  const { name, hooks, transform } = plugin;
  const around =
    <Asked, Answer>(method: string, ask: (asked: Asked) => Answer | Promise<Answer>) =>
    (asked: Asked): Answer | Promise<Answer> => {
      const answer = now({ port: "plugin", method, args: [name, asked] }, () => heard(ask(asked)));
      if (!isAwaitable(answer)) return answer;
      return wait({ port: "plugin", method: `${method} answer`, args: [name, asked] }, () => Promise.resolve(answer));
    };
  return {
    ...plugin,
    hooks: new Map([...hooks].map(([phase, list]) => [phase, list.map((hook): AnyHook => around(phase, hook))])),
    ...(transform ? { transform: around("transform", transform) } : {}),
  };
}

/** When its process dies, nobody waits for it any more: what it throws then must not be unhandled. */
function heard<Answer>(answer: Answer | Promise<Answer>): Answer | Promise<Answer> {
  if (isAwaitable(answer)) Promise.resolve(answer).catch(() => undefined);
  return answer;
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
