/** States out of order, events twice, streams that break and servers that fail: the message goes out once, and the end is right. */
import { describe, expect, it } from "vitest";
import type { BackendResult } from "../../src/domain/backend/result.ts";
import { artifact, type Call, openLiar, says, statusUpdate, task } from "./liar.ts";
import { turn } from "./turn.ts";

type Answers = Readonly<Record<string, (call: Call) => void>>;

interface Played {
  readonly result?: BackendResult;
  readonly error?: { readonly code: string; readonly message: string };
  readonly calls: readonly string[];
  readonly tasks: readonly unknown[];
}

/** One turn against these answers; a method that is not here is not known to the server. */
async function play(answers: Answers, card: object = {}, timeoutMs = 5_000): Promise<Played> {
  const liar = await openLiar({ card, answer: (call) => (answers[call.method] ?? ((it) => it.error(-32601)))(call) });
  const asked = turn("hello", { timeoutMs });
  const played = await liar
    .backend()
    .executeRoot(asked)
    .then(
      (result) => ({ result }),
      (error) => ({ error }),
    );
  return { ...played, calls: liar.calls, tasks: asked.tasks };
}

const sent = (calls: readonly string[]): number => calls.filter((method) => method.startsWith("Send")).length;
const one = [{ task: "task-1", context: "theirs" }];
const notStreaming = { capabilities: { streaming: false, extensions: [] } };

describe("a stream", () => {
  it("whose events come twice, out of order, of other tasks and after the end", async () => {
    const { result, tasks, calls } = await play({
      SendStreamingMessage: (call) =>
        call.events([
          task("SUBMITTED"),
          task("SUBMITTED"),
          statusUpdate("WORKING", { timestamp: "2026-01-01T00:00:05Z" }),
          statusUpdate("INPUT_REQUIRED", { timestamp: "2026-01-01T00:00:01Z", ...says("old question") }),
          { statusUpdate: { taskId: "task-9", contextId: "x", status: { state: "TASK_STATE_FAILED" } } },
          artifact("the answer"),
          artifact("the answer"),
          statusUpdate("COMPLETED", { timestamp: "2026-01-01T00:00:09Z" }),
          statusUpdate("WORKING", { timestamp: "2026-01-01T00:00:10Z" }),
          statusUpdate("FAILED", { timestamp: "2026-01-01T00:00:11Z" }),
        ]),
    });
    expect(result).toMatchObject({ status: { kind: "completed" }, output: { text: "the answer" } });
    expect(tasks).toEqual(one);
    expect(calls).toEqual(["SendStreamingMessage"]);
  });

  it("whose pieces come twice is asked for the whole", async () => {
    const { result } = await play({
      SendStreamingMessage: (call) =>
        call.events([
          task("WORKING"),
          artifact("a "),
          artifact("b", true),
          artifact("b", true),
          statusUpdate("COMPLETED"),
        ]),
      GetTask: (call) =>
        call.result(task("COMPLETED", { artifacts: [{ artifactId: "a", parts: [{ text: "a b" }] }] }).task),
    });
    expect(result?.output?.text).toBe("a b");
  });

  it.each(["end", "break"] as const)("that comes to an %s too early: the task is looked at", async (end) => {
    let looks = 0;
    const { result, tasks, calls } = await play({
      SendStreamingMessage: (call) => call.events([task("WORKING")], end),
      GetTask(call) {
        looks += 1;
        if (looks === 1) call.status(503);
        else if (looks === 2) call.response.destroy();
        else
          call.result(
            task(looks > 3 ? "COMPLETED" : "WORKING", { status: { state: looks > 3 ? 3 : 2, ...says("done") } }).task,
          );
      },
    });
    expect(result).toMatchObject({ status: { kind: "completed" }, output: { text: "done" } });
    expect([sent(calls), tasks]).toEqual([1, one]);
  });

  it.each([
    ["no JSON", ["{"]],
    ["another request's answer", ['{"jsonrpc":"2.0","id":99,"result":{}}']],
    ["nothing", [{}]],
  ])("with %s in it is left, and the task is looked at", async (_name, [event]) => {
    const { result, calls } = await play({
      SendStreamingMessage: (call) => call.events([task("WORKING"), event]),
      GetTask: (call) => call.result(task("COMPLETED").task),
    });
    expect(result?.status).toEqual({ kind: "completed" });
    expect(sent(calls)).toBe(1);
  });

  it("with an artifact of 100 MB is left when too much has come, and the task is cancelled", async () => {
    let written = 0;
    const { result, calls } = await play({
      SendStreamingMessage({ response, events }) {
        events([task("WORKING")], "stay");
        response.write("data: ");
        const more = (): void => {
          while (!response.destroyed && written < 100_000_000) {
            written += 100_000;
            if (!response.write("x".repeat(100_000))) return void response.once("drain", more);
          }
        };
        more();
      },
      CancelTask: (call) => call.result(task("CANCELED").task),
    });
    expect(result?.status).toMatchObject({ kind: "failed", message: expect.stringContaining("a line of more than") });
    expect(written).toBeLessThan(50_000_000);
    expect(calls).toEqual(["SendStreamingMessage", "CancelTask"]);
  });

  it("in many small pieces costs what it is long; of too many artifacts it is refused", async () => {
    const pieces = Array.from({ length: 20_000 }, () => artifact("x", true));
    const whole = { artifacts: [{ artifactId: "a", parts: [{ text: "x".repeat(20_000) }] }] };
    const long = await play({
      SendStreamingMessage: (call) => call.events([task("WORKING"), ...pieces, statusUpdate("COMPLETED")]),
      GetTask: (call) => call.result(task("COMPLETED", whole).task),
    });
    expect(long.result?.output?.text).toHaveLength(20_000);
    const many = Array.from({ length: 1_001 }, (_, n) => ({
      artifactUpdate: { taskId: "task-1", artifact: { artifactId: `a${n}`, parts: [{ text: "x" }] } },
    }));
    const refused = await play({
      SendStreamingMessage: (call) => call.events([task("WORKING"), ...many], "stay"),
      CancelTask: (call) => call.result(task("CANCELED").task),
    });
    expect(refused.result?.status).toMatchObject({ message: expect.stringContaining("more than 1000 artifacts") });
    expect(refused.calls).toContain("CancelTask");
  });

  it("that breaks before a task is named: it is found by our ids, or nobody knows", async () => {
    let mine: Call["params"]["message"];
    const broken: Answers["x"] = (call) => {
      mine = call.params.message;
      call.events([], "break");
    };
    const found = await play({
      SendStreamingMessage: broken,
      ListTasks: (call) => call.result({ tasks: [task("WORKING", { history: [mine] }).task] }),
      GetTask: (call) => call.result(task("COMPLETED").task),
    });
    expect(found).toMatchObject({ result: { status: { kind: "completed" } }, tasks: one });
    const other = await play({
      SendStreamingMessage: broken,
      ListTasks: (call) =>
        call.result({ tasks: [task("WORKING", { history: [{ ...mine, messageId: "other" }] }).task] }),
      GetTask: (call) => call.result(task("COMPLETED").task),
    });
    expect(other.error?.code).toBe("remote-unknown");
    const unlisted = await play({ SendStreamingMessage: broken });
    expect(unlisted.error?.code).toBe("remote-unknown");
    expect(sent(unlisted.calls)).toBe(1);
  });

  it("that the card promised and the server does not know: the message goes without one", async () => {
    for (const code of [-32601, -32004]) {
      const { result, calls } = await play({
        SendStreamingMessage: (call) => call.error(code),
        SendMessage: (call) => call.result(task("COMPLETED")),
      });
      expect(result?.status).toEqual({ kind: "completed" });
      expect(calls).toEqual(["SendStreamingMessage", "SendMessage"]);
    }
  });

  it("that the card promised and that is answered by something else is not sent again", async () => {
    const { error, calls } = await play({ SendStreamingMessage: (call) => call.result(task("COMPLETED")) });
    expect(error?.code).toBe("remote-unknown");
    expect(sent(calls)).toBe(1);
  });
});

describe.each([
  ["streamed", {}, "SendStreamingMessage"],
  ["not streamed", notStreaming, "SendMessage"],
])("a message, %s,", (_name, card, method) => {
  it.each([
    ["invalid params", (call: Call) => call.error(-32602), "backend-remote-error"],
    ["an unsupported version", (call: Call) => call.error(-32009), "backend-remote-error"],
    ["no such task", (call: Call) => call.error(-32001), "backend-remote-error"],
    ["401", (call: Call) => call.status(401), "backend-remote-error"],
    ["404", (call: Call) => call.status(404), "backend-agent-not-found"],
    ["429", (call: Call) => call.status(429), "backend-remote-error"],
    [
      "a redirect to a private address",
      (call: Call) => call.status(307, { location: "http://10.0.0.1/" }),
      "backend-remote-error",
    ],
    ["an internal error", (call: Call) => call.error(-32603), "remote-unknown"],
    ["500", (call: Call) => call.status(500), "remote-unknown"],
    ["503", (call: Call) => call.status(503), "remote-unknown"],
    ["a closed connection", (call: Call) => call.response.destroy(), "remote-unknown"],
    ["no JSON", (call: Call) => void call.response.end("<html>"), "remote-unknown"],
    ["an empty result", (call: Call) => call.result({}), "remote-unknown"],
  ])("answered by %s is sent once", async (_what, answer, code) => {
    const { error, calls } = await play({ [method]: answer }, card);
    expect(error?.code).toBe(code);
    expect(sent(calls)).toBe(1);
  });

  it("that is never answered is unknown when the time is over", async () => {
    const liar = await openLiar({ card });
    const asked = turn("hello", { timeoutMs: 150 });
    await expect(liar.backend().executeRoot(asked)).rejects.toMatchObject({ code: "remote-unknown" });
    expect(liar.calls).toEqual([method]);
  });
});

describe("a task that is looked at", () => {
  it("and that the other side has no more is unknown", async () => {
    const { error, tasks } = await play(
      { SendMessage: (call) => call.result(task("WORKING")), GetTask: (call) => call.error(-32001) },
      notStreaming,
    );
    expect(error?.code).toBe("remote-unknown");
    expect(tasks).toEqual(one);
  });

  it("says it is another task: that one is not ours, and the time ends it", async () => {
    const { result } = await play(
      {
        SendMessage: (call) => call.result(task("WORKING")),
        GetTask: (call) => call.result({ id: "task-9", status: { state: "TASK_STATE_COMPLETED" } }),
      },
      notStreaming,
      300,
    );
    expect(result).toEqual({ status: { kind: "timeout" }, task: one[0] });
  });

  it("in a state that nobody knows goes on until the time is over", async () => {
    const { result } = await play(
      { SendMessage: (call) => call.result(task("DREAMING")), GetTask: (call) => call.result(task("DREAMING").task) },
      notStreaming,
      300,
    );
    expect(result?.status).toEqual({ kind: "timeout" });
  });

  it("too large for the wire is cancelled, and the reason is the result", async () => {
    const { result, calls } = await play(
      {
        SendMessage: (call) => call.result(task("WORKING")),
        GetTask: (call) => call.status(200, { "content-length": "100000000" }),
        CancelTask: (call) => call.result(task("CANCELED").task),
      },
      notStreaming,
    );
    expect(result?.status).toMatchObject({ kind: "failed", message: expect.stringContaining("100000000 bytes") });
    expect(calls).toContain("CancelTask");
  });
});

describe("a task that is continued", () => {
  const question = { state: "TASK_STATE_INPUT_REQUIRED", ...says("Which?"), timestamp: "2026-01-01T00:00:00Z" };

  /** The old question is still shown at first, in the stream and by looks, for as many times. */
  async function answered(old: number, then: object): Promise<BackendResult> {
    let looks = -1; // one look is made before the answer is sent
    const liar = await openLiar({
      answer(call) {
        if (call.method === "SendStreamingMessage") return call.events([task("x", { status: question })]);
        looks += 1;
        call.result(task("x", { status: looks <= old ? question : then }).task);
      },
    });
    const more = { task: { task: "task-1", context: "theirs" }, answers: "input" as const };
    return liar.backend().executeRoot(turn("green", more));
  }

  it("is not taken to ask again because its old question is still shown", async () => {
    const done = { state: "TASK_STATE_COMPLETED", ...says("thanks") };
    expect(await answered(2, done)).toMatchObject({ status: { kind: "completed" }, output: { text: "thanks" } });
  });

  it("is looked at before, again where that fails on the way", async () => {
    let looks = 0;
    const liar = await openLiar({
      answer(call) {
        if (call.method === "SendStreamingMessage") return call.events([says("thanks")]);
        looks += 1;
        if (looks < 3) call.status(503);
        else call.result(task("x", { status: question }).task);
      },
    });
    const more = { task: { task: "task-1", context: "theirs" }, answers: "input" as const };
    expect((await liar.backend().executeRoot(turn("green", more))).output?.text).toBe("thanks");
    expect(liar.calls).toEqual(["GetTask", "GetTask", "GetTask", "SendStreamingMessage"]);
  });

  it("and that goes on showing it does ask again", async () => {
    expect((await answered(99, {})).status).toEqual({ kind: "waiting_input", message: "Which?" });
  });
});

describe("a task that is to be cancelled", () => {
  const cancel = async (answer: (call: Call, times: number) => void): Promise<number> => {
    let times = 0;
    const liar = await openLiar({
      answer(call) {
        times += 1;
        answer(call, times);
      },
    });
    const { agent, identity, message, context, signal } = turn("x");
    const what = {
      agent,
      identity,
      message,
      context,
      task: { task: "task-1" },
      state: {},
      isContinuation: false,
      signal,
    };
    await liar.backend({ timeout: 500 }).abort(what);
    return times;
  };

  it("and that is over, or that the other side does not have, is done", async () => {
    expect(await cancel((call) => call.error(-32002))).toBe(1);
    expect(await cancel((call) => call.error(-32001))).toBe(1);
  });

  it("is cancelled again where that failed on the way, until the time is over", async () => {
    expect(await cancel((call, times) => (times < 3 ? call.status(503) : call.result(task("CANCELED").task)))).toBe(3);
    await expect(cancel((call) => call.status(503))).rejects.toThrow("503");
  });
});

it("a server that is not there: nothing was sent", async () => {
  const liar = await openLiar({ card: { supportedInterfaces: [at(1)] } });
  const options = { hosts: ["127.0.0.1:1"], privateRanges: ["127.0.0.1"] };
  const refused = liar.backend({ options }).executeRoot(turn("hello"));
  await expect(refused).rejects.toMatchObject({ code: "backend-remote-error" });
  await expect(refused).rejects.toThrow("was not taken");
});

function at(port: number): object {
  return { url: `http://127.0.0.1:${port}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0" };
}
