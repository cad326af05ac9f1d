import { expect, test } from "vitest";
import { z } from "zod";
import { agent, asContent, type Message, memory, tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted, type TestRuntime, testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const hash = "a".repeat(64);
const result = { kind: "value", value: null, content: { hash, bytes: 1, mediaType: "text/plain" } };

function message(role: "tool" | "user"): readonly Message[] {
  const parts = [{ type: "tool-result", call: "c", tool: "read", result }];
  return [{ role, parts }] as unknown as readonly Message[];
}

onEveryStore((freshStore) => {
  test("K1 a run begins with no message that refers to content which is not there, whoever is said to have sent it", async () => {
    const reader = agent({ name: "reader", model: scripted(["Read."]), instructions: "" });
    await using t = await testRuntime({ agents: [reader], store: freshStore() });
    for (const role of ["tool", "user"] as const)
      await expect(t.runtime.start(reader, message(role))).rejects.toMatchObject({ code: "content-not-found" });
  });
});

onEveryStore((freshStore) => {
  test("K1 an input that refers to content which is not there is refused, whichever way it comes", async () => {
    const { t, run, reader } = await waiting(freshStore());
    await using _ = t;
    for (const role of ["tool", "user"] as const) {
      const missing = { code: "content-not-found", details: { run: run.id, hash } };
      await expect(run.send(message(role))).rejects.toMatchObject(missing);
      const steer = t.runtime.start(reader, message(role), { thread: "t", whenBusy: "steer" });
      await expect(steer).rejects.toMatchObject(missing);
    }
    const sent = await run.send("And this?");
    await expect(sent.edit(message("tool"))).rejects.toMatchObject({ code: "content-not-found" });
    await answer(t, run.id);
    expect((await run.result()).outcome).toBe("stopped");
  });

  test("K1 an input that nobody has read keeps its content for the run that is born of it", async () => {
    const { t, run } = await waiting(freshStore());
    await using _ = t;
    const body = new Uint8Array(200_000).fill(7);
    await run.send([{ type: "image", mediaType: "image/png", body }]);
    await t.advance("11m");
    await t.runtime.content.collect({ olderThanMs: 600_000 });
    await answer(t, run.id);
    const messages = (await t.runtime.threads.messages("t")).items.map((item) => item.message);
    const image = messages.flatMap((each) => each.parts).find((part) => part.type === "image");
    if (!image || !("content" in image)) throw new Error("no image");
    expect((await t.runtime.content.get(image.content)).body).toEqual(body);
  });
});

async function answer(t: TestRuntime, run: string): Promise<void> {
  const [ticket] = await t.runtime.tickets.list({ run });
  if (ticket?.kind !== "input") throw new Error("no question");
  await ticket.answer("yes");
  await t.settle();
}

async function waiting(store: StoreDefinition) {
  const ask = tool({ name: "ask", description: "Asks", input: z.object({}) });
  const model = scripted([{ calls: [{ tool: "ask", input: {} }] }, "Read."]);
  const reader = agent({ name: "reader", model, instructions: "", tools: [ask], budget: { steps: 1 } });
  const t = await testRuntime({ agents: [reader], store });
  const run = await t.runtime.start(reader, "go", { thread: "t" });
  await t.settle();
  return { t, run, reader };
}

test("an image does not answer a question in words: it would be lost", async () => {
  const { t, reader } = await waiting(memory());
  await using _ = t;
  const parts = [
    { type: "text", text: "this one" },
    { type: "image", mediaType: "image/png", body: Uint8Array.from([1, 2, 3]) },
  ] as const;
  await expect(t.runtime.start(reader, parts, { thread: "t" })).rejects.toMatchObject({
    code: "invalid-input",
    message: expect.stringContaining("waits for an answer in words, and this message has image (image/png, 3 bytes)"),
  });
});

test("who was given content cannot change what is kept", async () => {
  const read = tool({
    name: "read",
    description: "Reads",
    input: z.object({}),
    effect: "pure",
    execute: () => asContent("hello"),
  });
  const model = scripted([{ calls: [{ tool: "read", input: {} }] }, "Read."]);
  const reader = agent({ name: "reader", model, instructions: "", tools: [read] });
  await using t = await testRuntime({ agents: [reader] });
  await t.runtime.start(reader, "go", { thread: "t" });
  await t.settle();
  const known = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
  (await t.runtime.content.get(known)).body.fill(0);
  expect((await t.runtime.content.get(known)).text()).toBe("hello");
});
