import type { Transport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { callKey, guard } from "./guard.ts";

const key = "key-1";
const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { _meta: { [callKey]: key } } } as const;

test("G1 a request that never arrived does not undo an earlier one of the same call", async () => {
  let isReached = true;
  const inner: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async () => {
      if (!isReached) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    },
  };
  const guarded = guard(inner, { messagesPerSecond: 10, kill: () => undefined, close: async () => undefined });
  const call = guarded.follow(key);
  isReached = false;
  await expect(guarded.send(message)).rejects.toThrow("refused");
  expect(call.sent()).toBe(0);
  isReached = true;
  await guarded.send(message);
  isReached = false;
  await expect(guarded.send(message)).rejects.toThrow("refused");
  expect(call.sent()).toBe(1);
});
