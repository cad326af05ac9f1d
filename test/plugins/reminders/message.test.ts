/** What is said, where, in which order, and how often. */
import { expect, test } from "vitest";
import { textOf } from "../../../src/index.ts";
import type { ReminderMessage } from "../../../src/plugins.ts";
import { callsTool } from "../../../src/testing/story.ts";
import { play, rule, saying, told } from "./stories.ts";

const writing = () => callsTool("write_file", { path: "a" });

/** Where the words were in the request after the call: in the instructions, or at which message in whose name. */
async function placeOf(message: Partial<ReminderMessage>): Promise<string> {
  const { requests } = await play([saying(message)], writing());
  const [, request] = requests;
  if (request?.instructions.endsWith(`\n\n${told}`)) return "instructions";
  const at = request?.messages.findIndex((each) => textOf(each) === told) ?? -1;
  return `${at} of ${request?.messages.length}, ${request?.messages[at]?.role}`;
}

test("it is said after the instructions unless its target is another", async () => {
  expect(await placeOf({})).toBe("instructions");
  expect(await placeOf({ target: "system" })).toBe("instructions");
  expect(await placeOf({ target: "session" })).toBe("0 of 4, system");
  expect(await placeOf({ target: "conversation" })).toBe("0 of 4, user");
  expect(await placeOf({ target: "suffix" })).toBe("3 of 4, system");
});

test("it is no message of the thread", async () => {
  const { journal } = await play([saying({ target: "conversation" })], writing());
  const kept = journal.filter((entry) => entry.type === "message-appended");
  expect(JSON.stringify(kept)).not.toContain(told);
});

test("with a cooldown so many steps are left out before it is said again", async () => {
  const often = [writing(), writing(), writing(), writing(), writing()];
  expect((await play([saying({})], ...often)).saidIn).toEqual([2, 3, 4, 5, 6]);
  expect((await play([saying({ cooldown: 0 })], ...often)).saidIn).toEqual([2, 3, 4, 5, 6]);
  expect((await play([saying({ cooldown: 1 })], ...often)).saidIn).toEqual([2, 4, 6]);
  expect((await play([saying({ cooldown: 2 })], ...often)).saidIn).toEqual([2, 5]);
});

test("lower priorities come first; of equal ones the name decides", async () => {
  const two = async (first: Partial<ReminderMessage>, second: Partial<ReminderMessage>): Promise<string> => {
    const rules = [
      rule({ name: "a", message: { text: "ONE", ...first } }),
      rule({ name: "b", message: { text: "TWO", ...second } }),
    ];
    const { requests } = await play(rules, writing());
    return requests[1]?.instructions.split("\n\n").slice(-2).join(" ") ?? "";
  };
  expect(await two({}, {})).toBe("ONE TWO");
  expect(await two({ priority: 1 }, {})).toBe("TWO ONE");
  expect(await two({}, { priority: -1 })).toBe("TWO ONE");
  expect(await two({ priority: 1 }, { priority: 2 })).toBe("ONE TWO");
});
