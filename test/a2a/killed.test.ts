/** Either side is killed: what was begun is found again, at most one task comes of a message, and the gated tool runs once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { RemoteLook } from "../../src/ports/backend.ts";
import { type Asked, reply, turn, turnOf } from "./turn.ts";
import { type Far, openFar, shareFar, until } from "./world.ts";

const server = shareFar({});
const plain = shareFar({ STREAMING: "no" });

/** Our process begins a turn and dies: at once when the task is named, or before anything could be written down. */
async function beginAndDie(far: Far, text: string, when: "named" | "taken"): Promise<Asked> {
  const asked = turn(text);
  const child = spawn(
    process.execPath,
    ["--no-warnings", "--conditions=holdfast-source", join(import.meta.dirname, "children", "caller.ts")],
    { env: { ...process.env, URL: far.url, MESSAGE: asked.message, TEXT: text }, stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  if (when === "named") {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    asked.tasks.push({ task: line.toString().trim() });
  } else {
    await until(() => far.count(`message ${asked.message}`) === 1);
  }
  child.kill("SIGKILL");
  await once(child, "exit");
  return asked;
}

function lookOf(asked: Asked, more: Partial<RemoteLook> = {}): RemoteLook {
  const { agent, identity, message, context, timeoutMs, signal, tasks } = asked;
  return { agent, identity, message, context, timeoutMs, signal, ...(tasks[0] ? { task: tasks[0] } : {}), ...more };
}

it.each([
  ["named", server],
  ["taken", server],
  ["named", plain],
  ["taken", plain],
] as const)("our process dies when the task is %s: it is found, and followed to its end", async (when, open) => {
  const far = open();
  const asked = await beginAndDie(far, "slow 400", when);
  const sight = await far.backend().look(lookOf(asked));
  expect(sight).toMatchObject({
    kind: "result",
    result: { status: { kind: "completed" }, output: { text: "slowly done" } },
  });
  expect(far.log().filter((line) => line.startsWith("task") && line.endsWith(` ${asked.message}`))).toHaveLength(1);
  expect(far.count(`message ${asked.message} `)).toBe(1);
});

it("a message that the other side never got is unknown: nobody here may say that it was not taken", async () => {
  const sight = await server()
    .backend()
    .look(lookOf(turn("echo x")));
  expect(sight).toMatchObject({ kind: "unknown", why: expect.stringContaining("it lists no task for message") });
});

it("a task that the other side does not have is unknown", async () => {
  const asked = turnOf("gone-1", "echo x");
  const sight = await server()
    .backend()
    .look(lookOf(asked, { task: { task: "never-was" } }));
  expect(sight).toMatchObject({ kind: "unknown", why: expect.stringContaining("Task not found") });
});

it("an answer that was not taken is absent; one that was taken is not", async () => {
  const backend = server().backend();
  const first = turn("ask");
  await backend.executeRoot(first);
  const answer = reply(first, "green");
  const [task] = first.tasks;
  expect(await backend.look(lookOf(answer, { task: task! }))).toEqual({ kind: "absent" });
  expect(await backend.look(lookOf(first))).toMatchObject({ result: { status: { kind: "waiting_input" } } });
  await backend.executeRoot(answer);
  expect(await backend.look(lookOf(answer, { task: task! }))).toMatchObject({
    result: { status: { kind: "completed" } },
  });
});

it("the other side is killed while its task waits: the answer waits until it is there again, and its tool runs once", async () => {
  const far = await openFar();
  const first = turn("refund order 42");
  expect((await far.backend().executeRoot(first)).status).toEqual({
    kind: "waiting_input",
    message: "May I refund it?",
  });
  await far.kill();
  const answered = far.backend().executeRoot(reply(first, "yes"));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await far.restart();
  expect((await answered).output?.text).toBe("refunded");
  expect(far.count("refund ran")).toBe(1);
  expect(far.count("task")).toBe(1);
});

it("the other side is killed while it works: the turn ends by its deadline, and the task can be cancelled afterwards", async () => {
  const far = await openFar();
  const slow = turn("slow 60000", { timeoutMs: 1_500 });
  const playing = far.backend().executeRoot(slow);
  await until(() => slow.tasks.length === 1);
  await far.restart();
  expect(await playing).toEqual({ status: { kind: "timeout" }, task: slow.tasks[0] });
  const { signal } = turn("x");
  await far.backend().abort({ ...lookOf(slow), state: {}, isContinuation: false, signal });
  expect(await far.backend().look(lookOf(slow))).toMatchObject({ result: { status: { kind: "cancelled" } } });
});

it("the other side is away when we look: the look waits for it", async () => {
  const far = await openFar();
  const asked = turn("echo hello");
  await far.backend().executeRoot(asked);
  await far.kill();
  const looking = far.backend().look(lookOf(asked));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await far.restart();
  expect(await looking).toMatchObject({ kind: "result", result: { output: { text: "you said hello" } } });
});

it("a task that was never named is cancelled by our ids", async () => {
  const far = server();
  const asked = await beginAndDie(far, "slow 60000", "taken");
  const { signal } = turn("x");
  await far.backend().abort({ ...lookOf(asked), state: {}, isContinuation: false, signal });
  expect(await far.backend().look(lookOf(asked))).toMatchObject({ result: { status: { kind: "cancelled" } } });
});
