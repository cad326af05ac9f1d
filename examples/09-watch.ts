// Watching: one run, again from a cursor, many runs by a filter, live pieces, a reader that is too slow.
// expect: 10 events, a break, 12 events: nothing twice, nothing left out
import { setTimeout as sleep } from "node:timers/promises";
import { agent, createRuntime, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const send = tool({
  name: "send",
  description: "Send the letter",
  input: z.object({ to: z.string() }),
  effect: "idempotent",
  needsApproval: true,
  execute: ({ to }) => `sent to ${to}`,
});
const writer = agent({
  name: "writer",
  instructions: "Write letters.",
  model: scripted([
    { calls: [{ tool: "send", input: { to: "Ada" } }] },
    { text: "The letter is on its way.", pieces: 5 },
  ]),
  tools: [send],
});
const teller = agent({
  name: "teller",
  instructions: "Tell stories.",
  model: scripted([{ text: "and so on ".repeat(300), pieces: 1, delayMs: 20 }]),
});

await using runtime = await createRuntime({ agents: [writer, teller] });

// #region one
const run = await runtime.start(writer, "Write to Ada");
let cursor = "";
let seen = 0;
for await (const event of run.watch({ until: "idle" })) {
  if (!("cursor" in event)) continue; // a live piece: shown now or never
  console.log(event.type);
  cursor = event.cursor; // keep it with what you have made of the event
  seen += 1;
}
// #endregion one

const [ticket] = await runtime.tickets.list({ tool: send, run: run.id, kind: "approval" });
await ticket?.approve({ by: "ana@example.com" });

// #region resume
let rest = 0;
for await (const event of run.watch({ after: cursor })) if ("cursor" in event) rest += 1;
// #endregion resume

// #region many
const stop = new AbortController();
for await (const event of runtime.watch({ agents: ["writer"], types: ["run-ended"] }, { signal: stop.signal })) {
  if (event.type !== "run-ended") continue;
  console.log(`${event.identity.agent}: ${event.outcome.kind}`);
  stop.abort(); // or break; a watch of many runs has no end of its own
}
// #endregion many

// #region pieces
const story = await runtime.start(teller, "Tell me a story");
let preview = "";
for await (const event of story.watch()) {
  if (event.type === "message-partial") preview = event.text; // so far, for whoever joins in the middle
  if (event.type === "text-delta") preview += event.text;
  if (event.type === "message-retracted") preview = ""; // that attempt came to nothing; the next begins anew
  if (event.type === "message-appended") preview = ""; // now it is durable: show the message instead
  draw(preview);
}
// #endregion pieces

// #region slow
const saga = await runtime.start(teller, "Tell me more");
for await (const event of saga.watch()) {
  if (event.type === "text-delta") await sleep(50); // meanwhile 3,000 more are written
  if (event.type === "resync") console.log(`${event.reason}: some pieces were left out, no event was`);
}
// #endregion slow

console.log(`${seen} events, a break, ${rest} events: nothing twice, nothing left out`);

function draw(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${text.slice(-60)}`);
}
