import { expect, test } from "vitest";
import type { PluginRun } from "../domain/plugin.ts";
import type { AnyHook, OpenPlugin } from "../ports/plugin-runner.ts";
import type { Store } from "../ports/store.ts";
import type { AgentCode } from "../runtime/bind-agent.ts";
import { type Intercept, type InterceptNow, interceptAgent, interceptStore } from "./intercept.ts";

const calls: string[] = [];
const listen: Intercept = (call, proceed) => {
  calls.push(call.method);
  return proceed();
};

test("store time is read through an intercepted store as through the store itself: at once", async () => {
  const store = { now: () => 42, close: async () => undefined } as unknown as Store;
  const intercepted = interceptStore(store, listen);
  expect(intercepted.now?.()).toBe(42);
  await intercepted.close();
  expect(calls).toEqual(["close"]);
});

test("an intercepted store without a time of its own has none", () => {
  const store = { close: async () => undefined } as unknown as Store;
  expect(interceptStore(store, listen).now).toBeUndefined();
});

function boundWith(hook: AnyHook): AgentCode {
  const open = (): readonly OpenPlugin[] => [
    {
      name: "keeper",
      config: undefined,
      writes: new Set(),
      hooks: new Map([["before-step", [hook]]]),
      close: () => undefined,
    },
  ];
  return { plugins: { keys: new Map(), context: [], open }, model: {}, tools: {} } as unknown as AgentCode;
}

function opened(hook: AnyHook, heard: string[]): AnyHook {
  const now: InterceptNow = (call, proceed) => {
    heard.push(`${call.method} at once`);
    return proceed();
  };
  const wait: Intercept = (call, proceed) => {
    heard.push(`${call.method} waits`);
    return proceed();
  };
  const [plugin] = interceptAgent(boundWith(hook), { wait, now }).plugins.open({} as PluginRun);
  return plugin?.hooks.get("before-step")?.[0] as AnyHook;
}

const stop = { type: "stop", code: "enough" } as const;

test("a hook that answers at once does so through its interceptor, and nothing waits", () => {
  const heard: string[] = [];
  expect(opened(() => stop, heard)({} as never)).toEqual(stop);
  expect(heard).toEqual(["create at once", "before-step at once"]);
});

test("a hook that is waited for begins at once, and its answer is a call of its own", async () => {
  const heard: string[] = [];
  const answer = opened(async () => stop, heard)({} as never);
  expect(heard).toEqual(["create at once", "before-step at once", "before-step answer waits"]);
  expect(await answer).toEqual(stop);
});
