import { expect, test } from "vitest";
import { z } from "zod";
import { agent, asContent, type Message, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
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

test("K1 an input refers to no content: left unread, it would keep the run's successor from being born", async () => {
  const ask = tool({ name: "ask", description: "Asks", input: z.object({}) });
  const model = scripted([{ calls: [{ tool: "ask", input: {} }] }, "Read."]);
  const reader = agent({ name: "reader", model, instructions: "", tools: [ask], budget: { steps: 1 } });
  await using t = await testRuntime({ agents: [reader] });
  const run = await t.runtime.start(reader, "go", { thread: "t" });
  await t.settle();
  for (const role of ["tool", "user"] as const) {
    await expect(run.send(message(role))).rejects.toMatchObject({ code: "invalid-input", details: { run: run.id } });
    const steer = t.runtime.start(reader, message(role), { thread: "t", whenBusy: "steer" });
    await expect(steer).rejects.toMatchObject({ code: "invalid-input", details: { run: run.id } });
  }
  const sent = await run.send("And this?");
  await expect(sent.edit(message("tool"))).rejects.toMatchObject({ code: "invalid-input" });
  const [ticket] = await t.runtime.tickets.list({ run: run.id });
  if (ticket?.kind !== "input") throw new Error("no question");
  await ticket.answer("yes");
  await t.settle();
  expect((await run.result()).outcome).toBe("stopped");
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
