/** S2: what an ended step has brought ends the run, and no call of it is dropped. */
import { expect, test } from "vitest";
import type { RunId } from "../../../src/domain/ids.ts";
import { type Message, type PhaseView, plugin } from "../../../src/index.ts";
import { findIn } from "../../../src/plugins/stop-conditions/findings.ts";
import { aModelThat, callsTool, callsTools, given, says } from "../../../src/testing/story.ts";
import { anAgentThatStops, endOf, fail, look, play, steps, stoppedBy } from "./stories.ts";

const failing = (at: number) => callsTool("fail", { at });
const looking = (at: number) => callsTool("look", { at });
const done = says("Done.");

test("so many errors in a row stop the run, one fewer does not", async () => {
  const answers = [failing(1), failing(2), failing(3), done];
  const stopped = await play({ consecutiveErrors: 3 }, answers);
  expect(stopped.result).toMatchObject(stoppedBy("errors", "3 tool calls in a row ended in an error, the limit is 3"));
  expect(stopped.modelCalls).toBe(3);
  expect(await play({ consecutiveErrors: 4 }, answers)).toMatchObject({
    result: { outcome: "completed" },
    modelCalls: 4,
  });
});

test("a success begins the count again", async () => {
  const answers = [failing(1), failing(2), looking(1), failing(3), failing(4), done];
  expect((await play({ consecutiveErrors: 3 }, answers)).result.outcome).toBe("completed");
  expect(await play({ consecutiveErrors: 2 }, answers)).toMatchObject({ result: { code: "errors" }, modelCalls: 2 });
});

test("errors are counted in the order of the calls, within a step and on into the next", async () => {
  const first = callsTools(["fail", { at: 1 }], ["look", { at: 1 }], ["fail", { at: 2 }]);
  const second = callsTools(["fail", { at: 3 }], ["look", { at: 2 }]);
  expect((await play({ consecutiveErrors: 3 }, [first, second, done])).result.outcome).toBe("completed");
  const two = await play({ consecutiveErrors: 2 }, [first, second, done]);
  expect(two).toMatchObject({ result: { code: "errors" }, modelCalls: 2 });
});

test("a success at the end of a step does not hide the errors in a row before it", async () => {
  const step = callsTools(["fail", { at: 1 }], ["fail", { at: 2 }], ["look", { at: 1 }]);
  expect(await play({ consecutiveErrors: 2 }, [step, done])).toMatchObject({
    result: { code: "errors" },
    modelCalls: 1,
  });
});

test("an unknown tool, an input that does not fit and a person's no are errors like any other", async () => {
  await using story = await given(
    anAgentThatStops({ consecutiveErrors: 3 }),
    aModelThat(callsTool("nobody"), callsTool("look", { at: "there" }), callsTool("ask", { at: 1 }), done),
  );
  const run = await story.userSays("Go.");
  await story.reject(run, "ask", "no");
  expect(await endOf(story, run)).toMatchObject({ result: { code: "errors" }, modelCalls: 3 });
});

/** Refuses the reply of some steps: their calls are not run. */
function refusing(...which: readonly number[]) {
  return plugin({
    name: "refuser",
    create: () => ({
      hooks: { "after-model": ({ step }) => (which.includes(step) ? { type: "retry", reason: "again" } : undefined) },
    }),
  })();
}

test("calls that are dropped with their reply are no error, no success and no repetition", async () => {
  const answers = [failing(1), looking(1), failing(1), done];
  const model = aModelThat(...answers);
  await using story = await given(anAgentThatStops({ consecutiveErrors: 2 }, refusing(2)), model);
  expect(await endOf(story, await story.userSays("Go."))).toMatchObject({ result: { code: "errors" }, modelCalls: 3 });
  const options = { consecutiveErrors: 3, loop: { calls: 3, window: 5 } };
  await using other = await given(
    anAgentThatStops(options, refusing(2)),
    aModelThat(failing(1), failing(1), failing(1), done),
  );
  expect(await endOf(other, await other.userSays("Go."))).toMatchObject({ result: { outcome: "completed" } });
});

test("the step in which such a tool gave a value is the last one, and its other calls are run", async () => {
  const step = callsTools(["look", { at: 1 }], ["fail", { at: 1 }]);
  await using story = await given(anAgentThatStops({ onTool: ["ask", "look"] }), aModelThat(step, done));
  const run = await story.userSays("Go.");
  const { result, modelCalls } = await endOf(story, run);
  expect(result).toMatchObject(stoppedBy("tool", "look gave a value in step 1"));
  expect(modelCalls).toBe(1);
  expect([story.effects(look), story.effects(fail)].map((made) => made.length)).toEqual([1, 1]);
});

test("such a tool that failed, and another one's value, stop nothing", async () => {
  expect((await play({ onTool: ["fail"] }, [failing(1), looking(1), done])).result.outcome).toBe("completed");
});

test("a name that no tool of the agent has fails the run before it has cost anything", async () => {
  const { result, modelCalls } = await play({ onTool: ["look", "finsih"] }, [done]);
  expect(result).toMatchObject({ outcome: "failed", error: { code: "plugin-failed" } });
  expect(JSON.stringify(result)).toContain(
    "stop-conditions failed in before-run: onTool: the agent has no tool finsih",
  );
  expect(modelCalls).toBe(0);
});

const speaking = [{ text: "Not yet.", calls: [{ tool: "look", input: { at: 1 } }] }, says("All is DONE now.")];

test.each([
  { onText: "DONE", detail: 'The text of step 2 contains "DONE"' },
  { onText: { regex: "D.NE\\b" }, detail: "The text of step 2 fits /D.NE\\b/" },
])("a text that the model says stops the run: $onText", async ({ onText, detail }) => {
  const { result, modelCalls } = await play({ onText }, speaking);
  expect(result).toMatchObject(stoppedBy("text", detail));
  expect(modelCalls).toBe(2);
});

test.each([{ onText: "done" }, { onText: "D.NE" }, { onText: { regex: "^DONE" } }])(
  "another text does not: $onText",
  async ({ onText }) => {
    expect((await play({ onText }, speaking)).result.outcome).toBe("completed");
  },
);

test("only what the model says counts: not its reasoning, not results, not what it was told", async () => {
  const tricky = [{ reasoning: "DONE?", text: "Hm.", calls: [{ tool: "fail", input: { at: 7 } }] }, { text: "Well." }];
  const { result } = await play({ onText: { regex: "DONE|no 7|Go" } }, tricky);
  expect(result.outcome).toBe("completed");
});

test("a text of another step, or of another run, is not this step's", () => {
  const said = (run: string, step: number): Message => ({
    id: `${run}.${step}` as Message["id"],
    role: "assistant",
    parts: [{ type: "text", text: "STOP" }],
    visibility: "all",
    producer: { run: run as RunId, step },
  });
  const onText = { words: "contains STOP", test: (text: string) => text.includes("STOP") };
  const view = { run: { id: "mine" }, step: 2, calls: [] } as unknown as PhaseView;
  const found = (message: Message) => findIn({ ...view, messages: [message] }, { onText }).stop?.code;
  expect([said("mine", 2), said("mine", 1), said("other", 2)].map(found)).toEqual(["text", undefined, undefined]);
});

test("a text of ten thousand characters that a backtracking engine would choke on is looked at in no time", async () => {
  const { result } = await play({ onText: { regex: "(a+)+b$" } }, [says("a".repeat(10_000))]);
  expect(result.outcome).toBe("completed");
});

test("the same call so often within the window stops the run, one fewer does not", async () => {
  const answers = [looking(1), looking(2), looking(1), looking(3), looking(1), done];
  const { result, modelCalls } = await play({ loop: { calls: 3, window: 5 } }, answers);
  const seen = "look was asked for 3 times with the same input among the last 5 calls, the limit is 3";
  expect(result).toMatchObject(stoppedBy("loop", seen));
  expect(modelCalls).toBe(5);
  expect((await play({ loop: { calls: 4, window: 5 } }, answers)).result.outcome).toBe("completed");
  expect((await play({ loop: { calls: 3, window: 4 } }, answers)).result.outcome).toBe("completed");
});

test("another tool with the same input is another call; other order of keys is not", async () => {
  const mixed = [looking(1), failing(1), looking(2), done];
  expect((await play({ loop: { calls: 2, window: 5 } }, mixed)).result.outcome).toBe("completed");
  const keys = [
    callsTool("nobody", { a: 1, b: { c: 2, d: 3 } }),
    callsTool("nobody", { b: { d: 3, c: 2 }, a: 1 }),
    done,
  ];
  expect((await play({ loop: { calls: 2, window: 2 } }, keys)).result).toMatchObject({ code: "loop" });
});

test("repetitions within one step count, also when the step alone fills the window", async () => {
  const twice = callsTools(["look", { at: 1 }], ["look", { at: 1 }], ["look", { at: 2 }], ["look", { at: 3 }]);
  expect(await play({ loop: { calls: 2, window: 2 } }, [twice, done])).toMatchObject({
    result: { code: "loop" },
    modelCalls: 1,
  });
});

test("inputs that are not JSON are equal when their text is", async () => {
  const broken = (inputText: string) => ({ calls: [{ tool: "look", inputText }] });
  const loop = { calls: 2, window: 5 };
  expect((await play({ loop }, [broken("{1"), broken("{2"), done])).result.outcome).toBe("completed");
  expect((await play({ loop }, [broken("{1"), broken("{1"), done])).result).toMatchObject({ code: "loop" });
});

test("what the model asks for is compared, not what a person made of it", async () => {
  await using story = await given(
    anAgentThatStops({ loop: { calls: 2, window: 2 } }),
    aModelThat(callsTool("ask", { at: 1 }), callsTool("ask", { at: 1 }), done),
  );
  const run = await story.userSays("Go.");
  await story.edit(run, "ask", { at: 5 });
  await story.edit(run, "ask", { at: 6 });
  expect(await endOf(story, run)).toMatchObject({ result: { code: "loop" }, modelCalls: 2 });
});

test("all of the window is kept and nothing more, and steps without calls write nothing", async () => {
  const { journal } = await play({ loop: { calls: 200, window: 200 } }, steps(5));
  const writes = journal.flatMap((entry) => (entry.type === "state-changed" ? [entry] : []));
  expect(writes.map(({ change }) => "value" in change && (change.value as string[]).length)).toEqual([1, 2, 3, 4, 5]);
  const narrow = await play({ loop: { calls: 2, window: 3 } }, steps(5));
  const kept = narrow.journal.flatMap((entry) => (entry.type === "state-changed" ? [entry.change] : []));
  expect(kept.map((change) => "value" in change && (change.value as string[]).length)).toEqual([1, 2, 3, 3, 3]);
});
