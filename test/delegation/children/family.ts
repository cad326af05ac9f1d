/** Three levels, the last of which pays after approval; what is paid is kept in a folder, by key. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Agent, agent, delegate, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/testing.ts";

const task = { task: "Pay Ada." };

export function family(folder: string): Agent<string> {
  const pay = tool({
    name: "pay",
    description: "Pay",
    input: z.object({ to: z.string() }),
    effect: "idempotent",
    needsApproval: true,
    execute: async ({ to }, { idempotencyKey }) => {
      await delay(60);
      writeFileSync(join(folder, idempotencyKey), to);
      await delay(60);
      return `paid ${to}`;
    },
  });
  const slow = (answer: object | string) =>
    typeof answer === "string" ? { text: answer, delayMs: 60 } : { ...answer, delayMs: 60 };
  const clerk = agent({
    name: "clerk",
    model: scripted([slow({ calls: [{ tool: "pay", input: { to: "Ada" } }] }), slow("Paid.")]),
    instructions: "Pay.",
    tools: [pay],
  });
  const middle = agent({
    name: "middle",
    model: scripted([
      slow({
        calls: [
          { tool: "clerk", input: task },
          { tool: "clerk", input: task },
        ],
      }),
      slow("Both paid."),
    ]),
    instructions: "Delegate.",
    delegates: [delegate(clerk)],
  });
  return agent({
    name: "lead",
    model: scripted([slow({ calls: [{ tool: "middle", input: task }] }), slow("All done.")]),
    instructions: "Delegate.",
    delegates: [delegate(middle)],
  });
}
