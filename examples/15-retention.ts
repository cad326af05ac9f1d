// Finished runs are erased when they are old enough, by policy or by hand; a run that waits stays.
// expect: Erased by hand: 1. Left: 1, waiting.
import { setTimeout as delay } from "node:timers/promises";
import { agent, createRuntime, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const ask = tool({ name: "ask", description: "Asks a person", input: z.object({}) });
const clerk = agent({ name: "clerk", instructions: "File it.", model: scripted(["Filed.", "Filed too."]) });
const asker = agent({
  name: "asker",
  instructions: "Ask first.",
  model: scripted([{ calls: [{ tool: "ask" }] }]),
  tools: [ask],
});
const day = 24 * 60 * 60_000;

// #region policy
await using runtime = await createRuntime({ agents: [clerk, asker], retention: { keepFinishedMs: 30 * day } });
// #endregion policy

const first = await runtime.start(clerk, "File this");
await first.result();
await delay(5);
const noon = new Date();
await delay(5);
const second = await runtime.start(clerk, "And this");
await second.result();
const third = await runtime.start(asker, "Shall I?");
await third.idle();

// #region prune
const erased = await runtime.runs.prune({ finishedBefore: noon, limit: 100 }); // the ids, the oldest first
// #endregion prune

// #region erase
await runtime.runs.erase(second.id);
// #endregion erase

// #region evidence
for (const { kind, at, body } of await third.evidence()) console.log(kind, new Date(at).toISOString(), body);
// #endregion evidence

const left = await runtime.runs.list();
console.log(`Erased by hand: ${erased.length}. Left: ${left.items.length}, ${left.items[0]?.status}.`);
