import { expect, test } from "vitest";
import { z } from "zod";
import type { CallResult } from "../../src/domain/message.ts";
import { agent, createRuntime, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

const quiet = { warn: () => undefined, note: () => undefined };

test("T5 a large result that came too late is evidence, and what that refers to was put", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const slow = tool({
    name: "slow",
    description: "Slow",
    input: z.object({}),
    effect: "pure",
    timeoutMs: 10,
    execute: () => promise,
  });
  const model = scripted([{ calls: [{ tool: "slow", input: {} }] }, "Too late."]);
  const reader = agent({ name: "reader", model, instructions: "", tools: [slow] });
  await using runtime = await createRuntime({ agents: [reader], logger: quiet });
  const run = await runtime.start(reader, "go");
  expect((await run.result()).outcome).toBe("completed");
  resolve("word ".repeat(100_000));
  await expect.poll(async () => (await run.evidence()).length).toBe(1);
  const [late] = await run.evidence();
  const { result } = (late?.body ?? {}) as unknown as { result?: CallResult };
  if (result?.kind !== "value" || !result.content) throw new Error("not content");
  expect((await runtime.content.get(result.content)).json()).toBe("word ".repeat(100_000));
});
