/** Agents that delegate, for the tests of delegation. */
import { z } from "zod";
import type { DelegateOptions } from "../../src/domain/delegate.ts";
import { type Agent, agent, delegate, tool } from "../../src/index.ts";
import { type ScriptedAnswer, scripted, type TestRuntime } from "../../src/testing.ts";

export const look = tool({
  name: "look",
  description: "Look",
  input: z.object({}),
  effect: "pure",
  execute: () => "seen",
});

export const pay = tool({
  name: "pay",
  description: "Pay",
  input: z.object({ to: z.string() }),
  needsApproval: true,
  execute: ({ to }) => `paid ${to}`,
});

export function tasks(...names: readonly string[]) {
  return { calls: names.map((each) => ({ tool: each, input: { task: `for ${each}` } })) };
}

interface Above {
  readonly name?: string;
  readonly answers?: readonly ScriptedAnswer[];
  readonly options?: DelegateOptions<never>;
}

/** An agent that gives one task to the other and then says done. */
export function above(child: Agent<unknown>, { name = "lead", answers, options = {} }: Above = {}): Agent<string> {
  const said = answers ?? [tasks(options.name ?? child.name), "done"];
  return agent({
    name,
    model: scripted(said),
    instructions: "Delegate.",
    delegates: [delegate(child as Agent<string>, options)],
  }) as Agent<string>;
}

export function helper(...answers: readonly ScriptedAnswer[]): Agent<string> {
  return agent({
    name: "helper",
    model: scripted(answers),
    instructions: "Help.",
    tools: [look, pay],
  }) as Agent<string>;
}

/** The runs of a test by agent, the oldest first. */
export async function runsOf({ runtime }: TestRuntime): Promise<readonly { agent: string; run: string }[]> {
  const { items } = await runtime.runs.list({ order: "oldest", limit: 1_000 });
  return items.map(({ agent, run }) => ({ agent, run }));
}

/** What the model was given as the result of a call. */
export async function resultOf({ runtime }: TestRuntime, call: string): Promise<unknown> {
  const run = runtime.runs.get(call.split(".").slice(0, -2).join("."));
  const { thread } = await run.status();
  const { items } = await runtime.threads.messages(thread, { limit: 1_000 });
  for (const { message } of items) {
    for (const part of message.parts) if (part.type === "tool-result" && part.call === call) return part.result;
  }
  return undefined;
}
