/** What a model says that it cannot read is refused before it is called. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const image = { type: "image", mediaType: "image/png", url: "data:image/png;base64,AA==" } as const;
const sound = { type: "file", mediaType: "audio/wav", url: "data:audio/wav;base64,AA==" } as const;
const paper = { type: "file", mediaType: "application/pdf", url: "data:application/pdf;base64,AA==" } as const;
const text = { type: "text", text: "What is it?" } as const;

test.each([
  [["text"], image, "image"],
  [["text", "image"], sound, "audio"],
  [["text", "image", "audio"], paper, "file"],
  [["image"], text, "text"],
] as const)("a model that reads %j is not called with %o", async (accepts, part, what) => {
  let calls = 0;
  const answer = (): string => {
    calls += 1;
    return "A cat.";
  };
  const one = agent({ name: "eye", instructions: "", model: scripted([answer], { description: { accepts } }) });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, [part]);
  const result = await run.result();
  expect(result).toMatchObject({ outcome: "failed", error: { code: "model-refused" }, retry: "never" });
  expect(JSON.stringify(result)).toContain(`has ${what}`);
  expect(calls).toBe(0);
});

test.each([[undefined], [["text", "image"]]] as const)(
  "a model that reads %j is called with an image",
  async (accepts) => {
    const description = accepts ? { accepts } : {};
    const one = agent({ name: "eye", instructions: "", model: scripted(["A cat."], { description }) });
    await using t = await testRuntime({ agents: [one] });
    const run = await t.runtime.start(one, [text, image]);
    expect(await run.output()).toBe("A cat.");
  },
);

test("an agent with tools and a model that cannot call them is refused by name", async () => {
  const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => 1 });
  const model = scripted(["x"], { description: { toolCalls: false } });
  const one = agent({ name: "plain", instructions: "", model, tools: [look] });
  await expect(createRuntime({ agents: [one] })).rejects.toMatchObject({
    code: "invalid-options",
    problems: [expect.stringContaining("scripted/scripted cannot call tools, and the agent has 1")],
  });
});
