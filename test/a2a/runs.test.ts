/** Runs of ours whose turns are made by an agent on the official package, in another process. */
import { createRuntime, memory, type Runtime } from "holdfast";
import { expect, it } from "vitest";
import { farAgent } from "./turn.ts";
import { shareFar, until } from "./world.ts";

const server = shareFar({});

async function open(store = memory()): Promise<Runtime> {
  return createRuntime({ agents: [farAgent(server().url)], store });
}

it("a run of it ends with the remote's text, and what it asked for is with the run", async () => {
  await using runtime = await open();
  const run = await runtime.start("far", "echo hello");
  const types: string[] = [];
  for await (const event of run.watch({ until: "end" })) types.push(event.type);
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "you said hello" });
  expect(types.filter((type) => type === "effect-intended")).toHaveLength(1);
  expect(types).toEqual(
    expect.arrayContaining(["run-started", "step-started", "effect-settled", "step-ended", "run-ended"]),
  );
});

const questions = [
  { text: "ask", kind: "input", prompt: "Which colour?", answer: "green", output: "colour green" },
  { text: "auth", kind: "auth", prompt: "Log in at the counter", answer: "done", output: "logged in" },
] as const;

it.each(questions)("$text: a ticket with the remote's words, whose answer continues the same task", async (asked) => {
  const { text, kind, prompt, answer, output } = asked;
  const before = server().count("task");
  await using runtime = await open();
  const run = await runtime.start("far", text);
  expect(await run.idle()).toMatchObject({ status: "waiting", tickets: [{ kind, prompt }] });
  const [ticket] = await runtime.tickets.list({ kind, status: "open" });
  await ticket?.answer(answer, { by: "ana@example.com" });
  expect(await run.result()).toMatchObject({ outcome: "completed", output });
  expect(server().count("task") - before).toBe(1);
});

it("fails with the remote's reason, and with ours when it cannot be reached", async () => {
  await using runtime = await open();
  const failed = await runtime.run("far", "fail");
  expect(failed).toMatchObject({ outcome: "failed", error: { message: expect.stringContaining("it went wrong") } });
  await using nowhere = await createRuntime({ agents: [farAgent("http://127.0.0.1:1")] });
  const unreached = await nowhere.run("far", "echo hello");
  expect(unreached).toMatchObject({
    outcome: "failed",
    error: { code: "backend-remote-error", message: expect.stringContaining("agent card could not be read") },
  });
});

it("cancel reaches the remote, while it works and while it waits", async () => {
  await using runtime = await open();
  for (const text of ["slow 60000", "ask"]) {
    const before = server().count("task");
    const run = await runtime.start("far", text);
    await until(() => server().count("task") > before);
    if (text === "ask") await run.idle();
    const id = server()
      .log()
      .findLast((line) => line.startsWith("task"))
      ?.split(" ")[1];
    await run.cancel({ reason: "enough" });
    expect(await run.result()).toMatchObject({ outcome: "cancelled" });
    expect(server().count(`cancel ${id}`)).toBe(1);
  }
});

it("an end by the deadline cancels the remote", async () => {
  await using runtime = await createRuntime({ agents: [farAgent(server().url, { timeout: 300 })] });
  const before = server().count("cancel");
  const result = await runtime.run("far", "slow 60000");
  expect(result.outcome).toBe("timed-out");
  expect(server().count("cancel") - before).toBe(1);
});

it("images and files go with what is said: their bytes, or their address", async () => {
  await using runtime = await open();
  const run = await runtime.start("far", [
    { type: "text", text: "parts" },
    { type: "image", mediaType: "image/png", body: new Uint8Array([1, 2, 3]) },
    { type: "file", mediaType: "application/pdf", url: "https://files.example/1.pdf", name: "1.pdf" },
  ]);
  expect(await run.output()).toBe("text:parts raw:AQID:image/png url:https://files.example/1.pdf:1.pdf");
});
