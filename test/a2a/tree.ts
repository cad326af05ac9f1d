/** Three levels: a lead of ours, a middle of ours below it, and a remote agent below that, whose tool is gated. */
import { type Agent, agent, delegate } from "holdfast";
import { scripted } from "holdfast/testing";
import { farAgent } from "./turn.ts";

export function lead(url: string, task = "refund order 42"): Agent<string> {
  const far = farAgent(url) as Agent<string>;
  const middle = above("middle", far, task) as Agent<string>;
  return above("lead", middle, "See to the refund") as Agent<string>;
}

function above(name: string, below: Agent<string>, task: string): ReturnType<typeof agent> {
  return agent({
    name,
    model: scripted([{ calls: [{ tool: below.name, input: { task } }] }, `${name} is done`]),
    instructions: "Delegate.",
    delegates: [delegate(below)],
  });
}
