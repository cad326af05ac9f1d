// A run waits for a person while its agent is changed and deployed. What comes of it under each onUpgrade.
// expect: pinned: Answer politely, refund@1. move: Answer briefly, refund@2. refuse: it waits.
import { type Agent, agent, createRuntime, memory, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const asked: string[] = [];
const paid: string[] = [];
const answers = scripted([{ calls: [{ tool: "refund", input: { order: "42" } }] }, "Done."]);
const model: typeof answers = {
  ...answers,
  call: (request, signal) => {
    asked.push(request.instructions);
    return answers.call(request, signal);
  },
};

function refund(version: string) {
  const pay = (): string => {
    paid.push(`refund@${version}`);
    return "refunded";
  };
  const input = z.object({ order: z.string() });
  return tool({ name: "refund", version, description: "Refund an order", input, needsApproval: true, execute: pay });
}

// #region versions
const first = agent({ name: "support", model, instructions: "Answer politely", tools: [refund("1")] });

const changed = { name: "support", version: "2", model, instructions: "Answer briefly" };
const pinned = agent({ ...changed, tools: [refund("1")] }); // the default
const move = agent({ ...changed, tools: [refund("2")], onUpgrade: "move" });
const refuse = agent({ ...changed, tools: [refund("2")], onUpgrade: "refuse" });
// #endregion versions

async function deploy(next: Agent): Promise<string> {
  const store = memory();
  const before = await createRuntime({ store, agents: [first] });
  const { id } = await before.start(first, "Refund order 42");
  await before.runs.get(id).idle();
  await before.close(); // three days pass, and a deploy
  await using after = await createRuntime({ store, agents: [next] });
  const run = after.runs.get(id);
  // #region approve
  const tickets = await after.tickets.list({ kind: "approval", status: "open" });
  for (const ticket of tickets) await ticket.approve({ by: "ana@example.com" });
  await run.idle();
  // Under "move" the tool is another one now: what she said was about refund@1, so she is asked again.
  const again = await after.tickets.list({ kind: "approval", status: "open" });
  for (const ticket of again) await ticket.approve({ by: "ana@example.com" });
  // #endregion approve
  const idle = await run.idle();
  return idle.status === "done" ? `${asked.at(-1)}, ${paid.at(-1)}` : "it waits";
}

const [a, b, c] = [await deploy(pinned), await deploy(move), await deploy(refuse)];
console.log(`pinned: ${a}. move: ${b}. refuse: ${c}.`);
