/** Agents with reminders, and what their models were told. */
import { z } from "zod";
import type { Entry } from "../../../src/domain/entry.ts";
import { ToolFailure, tellModel, textOf, tool } from "../../../src/index.ts";
import { type ReminderMessage, type ReminderRule, reminders } from "../../../src/plugins.ts";
import type { ModelRequest } from "../../../src/ports/provider.ts";
import type { ScriptedAnswer } from "../../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, given, type StoryAgent, says } from "../../../src/testing/story.ts";

export const write = tool({
  name: "write_file",
  description: "Writes",
  input: z.object({ path: z.string(), lines: z.number().optional() }),
  effect: "idempotent",
  execute: ({ path, lines = 1 }) => ({ written: path, lines, notes: [{ level: lines > 100 ? "warning" : "info" }] }),
});
export const read = tool({
  name: "read_file",
  description: "Reads",
  input: z.object({ path: z.string() }),
  effect: "pure",
  execute: ({ path }) => {
    if (path === "missing") throw new ToolFailure("There is no file missing");
    return tellModel({ path, secret: "hidden" }, `The contents of ${path}`);
  },
});

export const send = tool({
  name: "send_file",
  description: "Sends, when a person has agreed",
  input: z.object({ path: z.string() }),
  effect: "idempotent",
  needsApproval: true,
  execute: ({ path }) => ({ sent: path }),
});

export const told = "REMEMBER THE TESTS";

export function rule(more: Partial<ReminderRule> = {}): ReminderRule {
  return { name: "tests", tool: "write_file", message: { text: told }, ...more };
}

export function saying(more: Partial<ReminderMessage>): ReminderRule {
  return rule({ message: { text: told, ...more } });
}

export function anAgentReminded(rules: readonly ReminderRule[]): StoryAgent {
  return { ...anAgentWith(write, read, send), plugins: [reminders({ rules })] };
}

interface Played {
  /** In which steps the words were said. */
  readonly saidIn: readonly number[];
  readonly requests: readonly ModelRequest[];
  readonly journal: readonly Entry[];
}

export async function play(rules: readonly ReminderRule[], ...answers: readonly ScriptedAnswer[]): Promise<Played> {
  await using story = await given(anAgentReminded(rules), aModelThat(...answers, says("Done.")));
  const run = await story.userSays("Go.");
  await story.expectReply(run, "Done.");
  return { saidIn: saidIn(story.modelSaw), requests: story.modelSaw, journal: await story.journal(run) };
}

export function saidIn(requests: readonly ModelRequest[]): readonly number[] {
  return requests.filter((request) => wordsOf(request).includes(told)).map(({ step }) => step);
}

export function wordsOf({ instructions, messages }: ModelRequest): string {
  return [instructions, ...messages.map(textOf)].join("\n");
}
