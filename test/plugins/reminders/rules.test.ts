/** When a rule comes true: which calls, and what they came to. */
import { expect, test } from "vitest";
import type { ReminderOutput, ReminderRule } from "../../../src/plugins.ts";
import { aModelThat, callsTool, callsTools, given, says } from "../../../src/testing/story.ts";
import { anAgentReminded, play, rule, saidIn, told, wordsOf } from "./stories.ts";

const done = says("Done.");
const writing = (path: string, lines = 1) => callsTool("write_file", { path, lines });
const reading = (path: string) => callsTool("read_file", { path });

test("after such a call the model is reminded at its next call, once", async () => {
  const { saidIn: said, journal } = await play([rule()], reading("a"), writing("a"), reading("b"));
  expect(said).toEqual([3]);
  const applied = journal.flatMap((entry) => (entry.type === "command-applied" ? [entry] : []));
  expect(applied.map(({ phase, commands }) => ({ phase, commands }))).toEqual([
    {
      phase: "after-tool",
      commands: [{ plugin: "reminders", command: { type: "add-context", key: "tests", text: told } }],
    },
  ]);
});

test("each time anew, and several such calls of one step say it once", async () => {
  const both = callsTools(["write_file", { path: "a" }], ["write_file", { path: "b" }]);
  const { saidIn: said, requests } = await play([rule()], both, writing("c"));
  expect(said).toEqual([2, 3]);
  expect(wordsOf(requests[1] as never).split(told)).toHaveLength(2);
});

test.each([
  ["write_file", [2]],
  ["read_file", [3]],
  ["*_file", [2, 3]],
  ["/^write/", [2]],
  ["delete_file", []],
  ['write_file(path ~ "src/*")', [2]],
  ['write_file(path ~ "test/*")', []],
  ['*_file(path = "x")', [3]],
] as const)("a tool pattern says which calls: %s", async (tool, expected) => {
  const played = await play([rule({ tool })], writing("src/a.ts"), reading("x"));
  expect(played.saidIn).toEqual(expected);
});

const warned = { path: "notes[*].level", op: "=", value: "warning" } as const;

const outputs: readonly (readonly [ReminderRule["output"], readonly number[]])[] = [
  [undefined, [2, 3, 4, 5]],
  ["any", [2, 3, 4, 5]],
  [{ status: "value" }, [2, 3, 4]],
  [{ status: "error" }, [5]],
  [{ content: "*warning*" }, [3]],
  [{ content: "warning" }, []],
  [{ content: "The contents of ?" }, [4]],
  [{ content: "*hidden*" }, []], // the model does not read it
  [{ content: "There is no file *" }, [5]],
  [{ content: "*", status: "error" }, [5]],
  [{ fields: [warned] }, [3]],
  [{ fields: [warned, { path: "written", op: "~", value: "a*" }] }, []],
  [{ fields: [{ path: "written", op: "~", value: "?" }] }, [2, 3]],
  [{ fields: [{ path: "notes[*].level", op: "!=", value: "warning" }] }, [2, 4]], // no error has fields
  [{ fields: [{ path: "lines", op: "=~", value: "^1$" }], content: "*a*", status: "value" }, [2]],
];

test.each(outputs)("an output says what they must have come to: %j", async (output, expected) => {
  const every = rule({ tool: "*", ...(output === undefined ? {} : { output }) });
  const played = await play([every], writing("a"), writing("b", 200), reading("c"), reading("missing"));
  expect(played.saidIn).toEqual(expected);
});

test("every part of an output is read: without it more comes true", async () => {
  const whole: ReminderOutput = { status: "value", content: "*b*", fields: [warned] };
  const answers = [writing("a", 200), writing("b"), writing("b", 200), reading("missing")];
  const steps = async (output: ReminderOutput) => (await play([rule({ tool: "*", output })], ...answers)).saidIn;
  const { status, content, fields } = whole as Required<ReminderOutput>;
  expect(await steps(whole)).toEqual([4]);
  expect(await steps({ status, content })).toEqual([3, 4]);
  expect(await steps({ status, fields })).toEqual([2, 4]);
  expect(await steps({ status })).toEqual([2, 3, 4]);
});

test("rules are independent: each says its own", async () => {
  const rules = [rule(), rule({ name: "other", tool: "read_file", message: { text: "AND THE DOCS" } })];
  const both = callsTools(["write_file", { path: "a" }], ["read_file", { path: "b" }]);
  const { requests } = await play(rules, both, writing("c"));
  const words = requests.map(wordsOf).map((text) => [text.includes(told), text.includes("AND THE DOCS")]);
  expect(words).toEqual([
    [false, false],
    [true, true],
    [true, false],
  ]);
});

test("calls that were not run remind of nothing: unknown, unfit, or refused by a person", async () => {
  await using story = await given(
    anAgentReminded([rule({ tool: "*" })]),
    aModelThat(callsTool("nobody"), callsTool("write_file", { path: 5 }), callsTool("send_file", { path: "a" }), done),
  );
  const run = await story.userSays("Go.");
  await story.reject(run, "send_file", "no");
  await story.expectReply(run, "Done.");
  expect(saidIn(story.modelSaw)).toEqual([]);
});

test("a call is looked at as it was run, with what a person made of it", async () => {
  const sending = () => callsTool("send_file", { path: "a" });
  await using story = await given(
    anAgentReminded([rule({ tool: 'send_file(path = "b")' })]),
    aModelThat(sending(), sending(), done),
  );
  const run = await story.userSays("Go.");
  await story.approve(run, "send_file");
  await story.edit(run, "send_file", { path: "b" });
  await story.expectReply(run, "Done.");
  expect(saidIn(story.modelSaw)).toEqual([3]);
});

test("what is to be said outlives the process that heard of it", async () => {
  const both = callsTools(["read_file", { path: "a" }], ["send_file", { path: "a" }]);
  await using story = await given(anAgentReminded([rule({ tool: "read_file" })]), aModelThat(both, done));
  const run = await story.userSays("Go.");
  await story.expectWaitingFor(run, "send_file");
  await story.restart();
  await story.approve(run, "send_file");
  await story.expectReply(run, "Done.");
  expect(saidIn(story.modelSaw)).toEqual([2]);
});
