/** testRuntime: a runtime for tests with a fake clock, restarts, and a log of what tools really did. */

import type { RuntimeSettings } from "../compose.ts";
import type { Agent } from "../domain/agent.ts";
import type { JsonValue } from "../domain/json.ts";
import { Problems } from "../domain/problems.ts";
import type { Tool } from "../domain/tool.ts";
import type { Model } from "../ports/provider.ts";
import type { StoreDefinition } from "../ports/store.ts";
import { adoptAiSdk } from "../providers/ai-sdk/adopt.ts";
import { createFindModel, createFindRoute } from "../runtime/routed-models.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { memory } from "../stores/memory/memory.ts";
import { createFakeClock, type FakeClock, milliseconds } from "./fake-clock.ts";
import type { Intercept } from "./intercept.ts";
import { countingIds, startProcess, type TestProcess, turn } from "./test-process.ts";

export interface TestRuntimeOptions {
  readonly agents: readonly Agent<unknown>[];
  readonly store?: StoreDefinition;
  /** Models by agent name, instead of the agents' own. */
  readonly models?: Readonly<Record<string, Model>>;
  readonly settings?: RuntimeSettings;
  readonly intercept?: Intercept;
}

/** One execution of a tool's code, as the outside world would have seen it. */
export interface Executed {
  readonly key: string;
  readonly input: JsonValue;
  readonly call: string;
  readonly attempt: number;
}

export interface TestRuntime {
  readonly runtime: Runtime;
  readonly clock: FakeClock;
  readonly process: TestProcess;
  /** Lets time pass: milliseconds, or "10s", "5m", "3d". */
  advance(duration: number | string): Promise<void>;
  /** Kills the process without a word and starts another on the same store once the lease has run out. */
  restart(): Promise<void>;
  /** What the tool's code was really called with, over all restarts. */
  effects(tool: Tool): readonly Executed[];
  /** Resolves when nothing moves any more without time or an answer. */
  settle(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const leaseMs = 30_000;

export async function testRuntime(options: TestRuntimeOptions): Promise<TestRuntime> {
  new Problems(options, ["agents", "store", "models", "settings", "intercept"]).refuse(
    "invalid-options",
    "No test runtime",
  );
  const clock = createFakeClock();
  const ids = countingIds();
  const store = options.store ?? memory();
  const executed = new Map<string, Executed[]>();
  const findModel = createFindModel(createFindRoute(options.settings?.providers, adoptAiSdk));
  const agents = options.agents.map((each) => withLog(findModel(withModel(each, options.models)), executed));
  const settings = { leaseMs, pollMs: 60_000, ...options.settings };
  const intercept = options.intercept ? { intercept: options.intercept } : {};
  const boot = (): Promise<TestProcess> => startProcess({ store, agents, clock, ids, settings, ...intercept });
  let current = await boot();
  const close = (): Promise<void> => current.runtime.close();
  return {
    get runtime() {
      return current.runtime;
    },
    get process() {
      return current;
    },
    clock,
    advance: (duration) => clock.advance(milliseconds(duration), () => current.quiet()),
    async restart() {
      current.kill();
      while (current.storing() > 0) await turn(); // what it sent before it died arrives before time goes on
      await clock.advance((settings.leaseMs ?? leaseMs) + 1);
      current = await boot();
      await current.quiet();
    },
    effects: (tool) => executed.get(tool.spec.name) ?? [],
    settle: () => current.quiet(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function withModel(agent: Agent<unknown>, models: TestRuntimeOptions["models"]): Agent<unknown> {
  const model = models?.[agent.name];
  const delegates = agent.delegates.map((each) => ({ ...each, agent: withModel(each.agent, models) }));
  if (!model) return { ...agent, delegates };
  // It stands in for the agent's own: a run's manifest says what that is.
  const { description } = agent.model;
  return {
    ...agent,
    delegates,
    model: { description, call: (request, signal) => model.call(request, signal) } as Model,
  };
}

function withLog(agent: Agent<unknown>, executed: Map<string, Executed[]>): Agent<unknown> {
  const delegates = agent.delegates.map((each) => ({ ...each, agent: withLog(each.agent, executed) }));
  return { ...agent, tools: agent.tools.map((tool) => logged(tool, executed)), delegates };
}

function logged(tool: Tool, executed: Map<string, Executed[]>): Tool {
  const { execute } = tool.code;
  if (!execute) return tool;
  const log: Executed[] = executed.get(tool.spec.name) ?? [];
  executed.set(tool.spec.name, log);
  return {
    ...tool,
    code: {
      ...tool.code,
      execute: (input, context) => {
        const { idempotencyKey: key, callId: call, attempt } = context;
        log.push({ key, input: input as JsonValue, call, attempt });
        return execute(input, context);
      },
    },
  };
}
