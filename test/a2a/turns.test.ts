/** Turns of a run at an agent on the official package, in another process: 1.0 and 0.3, streamed and looked at. */
import { describe, expect, it } from "vitest";
import { reply, turn } from "./turn.ts";
import { type Env, shareFar, until } from "./world.ts";

const kinds: Readonly<Record<string, Env>> = {
  "1.0, streamed": {},
  "1.0, not streamed": { STREAMING: "no" },
  "1.0 over HTTP+JSON": { BINDING: "HTTP+JSON" },
  "0.3, streamed": { VERSION: "0.3" },
  "0.3, not streamed": { VERSION: "0.3", STREAMING: "no" },
};

describe.each(Object.entries(kinds))("%s", (_name, env) => {
  const server = shareFar(env);

  it("tells how turns come out, and sends each message once, with our ids", async () => {
    const far = server();
    const backend = far.backend();
    const before = far.count("message");
    const hello = turn("echo hello");
    expect(await backend.executeRoot(hello)).toMatchObject({
      status: { kind: "completed" },
      output: { text: "you said hello", artifacts: [{ id: "a1", content: "you said hello" }] },
      task: { task: hello.tasks[0]?.task },
    });
    expect(hello.tasks).toHaveLength(1);
    expect(far.log()).toContain(`message ${hello.message} ${hello.context} ${hello.tasks[0]?.task}`);

    const said = turn("say good day");
    expect(await backend.executeRoot(said)).toMatchObject({
      status: { kind: "completed" },
      output: { text: "good day" },
    });
    const direct = turn("direct now");
    expect(await backend.executeRoot(direct)).toEqual({
      status: { kind: "completed" },
      output: { text: "direct now" },
    });
    expect(direct.tasks).toEqual([]);
    expect((await backend.executeRoot(turn("fail"))).status).toEqual({ kind: "failed", message: "it went wrong" });
    expect((await backend.executeRoot(turn("reject"))).status).toEqual({ kind: "failed", message: "not my trade" });
    expect((await backend.executeRoot(turn("slow 40"))).output?.text).toBe("slowly done");
    expect((await backend.executeRoot(turn("pieces"))).output?.text).toBe("one two two three");
    expect(far.count("message") - before).toBe(7);
  });

  it("continues the same task when it asks, as often as it asks", async () => {
    const far = server();
    const backend = far.backend();
    const before = far.count("task");
    const first = turn("ask");
    const waiting = await backend.executeRoot(first);
    expect(waiting.status).toEqual({ kind: "waiting_input", message: "Which colour?" });
    const answer = reply(first, "green");
    expect(await backend.executeRoot(answer)).toMatchObject({
      status: { kind: "completed" },
      output: { text: "colour green" },
      task: waiting.task,
    });
    expect(answer.tasks).toEqual([]); // no new one
    const again = turn("again");
    await backend.executeRoot(again);
    const more = await backend.executeRoot(reply(again, "a little"));
    expect(more.status).toEqual({ kind: "waiting_input", message: "Still not enough after a little" });
    expect((await backend.executeRoot(reply(again, "enough"))).output?.text).toBe("enough");
    expect(far.count("task") - before).toBe(2);
  });

  it("a task that is told to stop stops, also by another process than the one that began it", async () => {
    const far = server();
    const mine = new AbortController();
    const slow = turn("slow 60000", { signal: mine.signal });
    const playing = far.backend().executeRoot(slow);
    await until(() => slow.tasks.length === 1);
    mine.abort(new Error("no longer wanted"));
    await expect(playing).rejects.toThrow("no longer wanted");
    const what = {
      ...slow,
      task: slow.tasks[0]!,
      state: {},
      isContinuation: false,
      signal: new AbortController().signal,
    };
    await far.backend().abort(what);
    await far.backend().abort(what); // of one that is over: done
    expect(far.count(`cancel ${slow.tasks[0]?.task}`)).toBe(1);
    const sight = await far.backend().look({ ...slow, task: slow.tasks[0]!, signal: what.signal });
    expect(sight).toMatchObject({ kind: "result", result: { status: { kind: "cancelled" } } });
  });
});

describe("1.0", () => {
  const servers = { yes: shareFar({}), no: shareFar({ STREAMING: "no" }) };

  it("what a login is asked for continues the same task", async () => {
    const far = servers.yes();
    const first = turn("auth");
    const { status } = await far.backend().executeRoot(first);
    expect(status).toEqual({ kind: "waiting_auth", message: "Log in at the counter" });
    expect((await far.backend().executeRoot(reply(first, "done", "auth"))).output?.text).toBe("logged in");
  });

  it("takes artifacts of every kind", async () => {
    const far = servers.yes();
    const { output } = await far.backend().executeRoot(turn("files"));
    expect(output?.artifacts).toEqual([
      { id: "data", name: "numbers", content: { a: 1 } },
      { id: "raw", mediaType: "image/png", content: [{ mediaType: "image/png", base64: "YWJj" }] },
      { id: "url", content: [{ filename: "1.pdf", url: "https://files.example/1" }] },
    ]);
  });

  it.each(["yes", "no"] as const)(
    "streamed %s: a task that never ends ends by the deadline, with its id",
    async (streaming) => {
      const far = servers[streaming]();
      const slow = turn("slow 60000", { timeoutMs: 300 });
      const result = await far.backend().executeRoot(slow);
      expect(result).toEqual({ status: { kind: "timeout" }, task: slow.tasks[0] });
    },
  );

  it.each([
    ["yes", "8000000"], // more than the wire takes
    ["no", "8000000"],
    ["yes", "2000000"], // more than the options allow
    ["no", "2000000"],
  ] as const)("streamed %s: an artifact of %s bytes is refused with the reason", async (streaming, size) => {
    const far = servers[streaming]();
    const { status, output } = await far.backend().executeRoot(turn(`big ${size}`));
    expect(status).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("the remote's answer is refused"),
    });
    expect(output).toBeUndefined();
  });

  it("nothing is read of the stream before the task's id is durable, and nothing goes on when it cannot be", async () => {
    const far = servers.yes();
    const before = far.count("task");
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hello = turn("echo hello", { onTask: () => held });
    let settled = false;
    const playing = far
      .backend()
      .executeRoot(hello)
      .finally(() => {
        settled = true;
      });
    await until(() => far.count("task") > before);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(settled).toBe(false);
    release();
    expect((await playing).status).toEqual({ kind: "completed" });
    const fenced = turn("slow 60000", { onTask: () => Promise.reject(new Error("fenced")) });
    await expect(far.backend().executeRoot(fenced)).rejects.toThrow("fenced");
  });
});
