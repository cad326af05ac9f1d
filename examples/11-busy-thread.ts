// A second message while the first is still at work: one choice after the other.
// expect: cancelled (superseded), then: I heard: Dinner for two. Today
import { agent, createRuntime, isHoldfastError, type Message, type RunResult, tool, type WatchEvent } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

let table = Promise.withResolvers<string>();
const findTable = tool({
  name: "find-table",
  description: "Find a free table",
  input: z.object({}),
  effect: "pure",
  execute: () => table.promise,
});
const confirm = tool({
  name: "confirm",
  description: "Confirm the booking",
  input: z.object({}),
  needsApproval: true,
  execute: () => "confirmed",
});
const waiter = agent({
  name: "waiter",
  instructions: "Find a table, then say what you heard.",
  model: scripted([{ calls: [{ tool: "find-table" }] }, ({ messages }) => heard(messages)]),
  tools: [findTable],
});
const owner = agent({
  name: "owner",
  instructions: "Ask before you confirm.",
  model: scripted([{ calls: [{ tool: "confirm" }] }, "Booked."]),
  tools: [confirm],
});
const greeter = agent({
  name: "greeter",
  instructions: "Say what you heard.",
  model: scripted([({ messages }) => heard(messages)]),
});
await using runtime = await createRuntime({ agents: [waiter, owner, greeter] });

// #region queue
const first = await runtime.start(waiter, "A table, please", { thread: "queue" });
const second = await runtime.start(greeter, "And a menu", { thread: "queue" }); // its turn comes when the first has ended
// #endregion queue
await atWork(first.watch());
free();
console.log(await first.output()); // I heard: A table, please
console.log(await second.output()); // I heard: A table, please. And a menu

// #region steer
const run = await runtime.start(waiter, "A table, please", { thread: "steer" });
const same = await runtime.start(waiter, "By the window", { thread: "steer", whenBusy: "steer" });
console.log(same.id === run.id); // true: no second run, the first one reads it at its next step
// #endregion steer
await atWork(run.watch());
free();
console.log(await run.output()); // I heard: A table, please. By the window

const booking = await runtime.start(waiter, "A table, please", { thread: "send" });
await atWork(booking.watch());
// #region send
const wish = await booking.send("For two", { by: "ana@example.com" });
await wish.edit("For three"); // as long as the run has not read it
const doubt = await booking.send("Or shall we stay at home?");
await doubt.withdraw();
// #endregion send
free();
console.log(await booking.output()); // I heard: A table, please. For three

// #region reject
const busy = await runtime.start(waiter, "A table, please", { thread: "reject" });
try {
  await runtime.start(waiter, "Hurry up", { thread: "reject", whenBusy: "reject" });
} catch (error) {
  if (!isHoldfastError(error, "thread-busy")) throw error;
  console.log(error.message); // details: { run, status, tickets }
}
// #endregion reject
await busy.cancel();
free();

// #region supersede
const old = await runtime.start(owner, "Dinner for two", { thread: "supersede" });
await old.idle(); // waits for an approval
const next = await runtime.start(greeter, "Today", { thread: "supersede", whenBusy: "supersede" });
const ended = await old.result(); // cancelled; its ticket is closed, its call has a result
// #endregion supersede
console.log(`${ended.outcome} (${reasonOf(ended)}), then: ${await next.output()}`);

function reasonOf(result: RunResult): string | undefined {
  return result.outcome === "cancelled" ? result.reason : undefined;
}

function heard(messages: readonly Message[]): string {
  const said = messages.filter(({ role }) => role === "user").flatMap(({ parts }) => parts);
  return `I heard: ${said.map((part) => (part.type === "text" ? part.text : "")).join(". ")}`;
}

/** Returns when the run's tool has begun. */
async function atWork(events: AsyncIterable<WatchEvent>): Promise<void> {
  for await (const event of events) if (event.type === "effect-intended" && event.kind === "tool") return;
}

/** A table is free: the tool that looks for one comes back. */
function free(): void {
  table.resolve("table 4");
  table = Promise.withResolvers<string>();
}
