import { expect, test } from "vitest";
import type { Store } from "../ports/store.ts";
import { type Intercept, interceptStore } from "./intercept.ts";

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
