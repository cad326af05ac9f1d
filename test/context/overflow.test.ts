/** A provider that finds a call too long, whatever was estimated: each further attempt sends less than the one before. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, type ModelRequest, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const look = tool({
  name: "look",
  description: "Look",
  input: z.object({}),
  effect: "pure",
  execute: () => "word ".repeat(500),
});

test("the very next attempt is shorter, and the one after that again", async () => {
  const sizes: number[] = [];
  const tooLong = { error: "model-context-overflow" } as const;
  const more = { calls: [{ tool: "look" }] };
  const answers = Array.from({ length: 15 }, (_, index) =>
    index < 14 ? more : { attempts: [tooLong, tooLong, "Done."] },
  );
  const inner = scripted(answers, { description: { contextWindow: 20_000 } });
  const model = {
    description: inner.description,
    call: (request: ModelRequest, signal: AbortSignal) => {
      sizes.push(JSON.stringify(request.messages).length);
      return inner.call(request, signal);
    },
  };
  const clerk = agent({ name: "clerk", instructions: "", tools: [look], model });
  await using t = await testRuntime({ agents: [clerk] });
  expect(await t.runtime.run(clerk, "go")).toMatchObject({ outcome: "completed", output: "Done." });
  const [first = 0, second = 0, third = 0] = sizes.slice(-3);
  expect(second).toBeLessThan(first);
  expect(third).toBeLessThan(second);
});
