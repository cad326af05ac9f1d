import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, isHoldfastError, type SinkMessage } from "../../src/index.ts";
import type { Sink } from "../../src/ports/sink.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const output = { to: "ann@example.com", n: 1 };
const clerk = agent({
  ...{ name: "clerk", instructions: "", model: scripted([JSON.stringify(output)]), sinks: ["plain", "trusted"] },
  output: z.object({ to: z.string(), n: z.number() }),
});

test("a sink gets outputs redacted unless it says otherwise, and the run's own output stays what it is", async () => {
  const told: Record<string, unknown[]> = { plain: [], trusted: [] };
  const keep = (name: string) => (message: SinkMessage) => {
    if (message.type === "output") told[name]?.push(message.output);
  };
  const sinks = { plain: { deliver: keep("plain") }, trusted: { deliver: keep("trusted"), redact: false } };
  await using t = await testRuntime({ agents: [clerk], settings: { sinks, pollMs: 1_000 } });
  const run = await t.runtime.start(clerk, "Go");
  await t.settle();
  await t.advance("10s");
  expect(told).toEqual({ plain: [{ to: "[redacted: email]", n: 1 }], trusted: [output] });
  expect(await run.output()).toEqual(output);
});

test("redact of a sink is a yes or a no", async () => {
  const sinks = {
    plain: { deliver: () => undefined, redact: "no" as never } satisfies Sink,
    trusted: { deliver: () => undefined },
  };
  const refused = await createRuntime({ agents: [clerk], sinks }).catch((cause: unknown) => cause);
  expect(isHoldfastError(refused) && refused.problems).toEqual(["sinks.plain.redact: must be true or false"]);
});
