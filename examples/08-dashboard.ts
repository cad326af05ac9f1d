// Every run, live, from one watch. With a file it shows what other processes do there, the chat for example:
// npx node --conditions=holdfast-source examples/08-dashboard.ts chat.db
// expect: 6 runs: 5 completed, 1 waiting on approval
import { setTimeout as sleep } from "node:timers/promises";
import { agent, createRuntime, type RunId, tool, type WatchEvent } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const file = process.argv[2];
const pace = process.stdout.isTTY ? 400 : 5; // slow enough to look at

const search = tool({
  name: "search",
  description: "Search the archive",
  input: z.object({ what: z.string() }),
  effect: "pure",
  // #region report
  execute: async ({ what }, { report }) => {
    for (const shelf of [1, 2, 3]) {
      report(`shelf ${shelf} of 3`); // only for those who watch right now
      await sleep(pace);
    }
    return `${what}: found`;
  },
  // #endregion report
});
const publish = tool({
  name: "publish",
  description: "Publish an article",
  input: z.object({ title: z.string() }),
  needsApproval: true,
  execute: ({ title }) => ({ published: title }),
});
const archivist = agent({
  name: "archivist",
  instructions: "Find things.",
  model: scripted([{ calls: [{ tool: "search", input: { what: "tide tables" } }] }, "Found."]),
  tools: [search],
});
const editor = agent({
  name: "editor",
  instructions: "Publish what was found.",
  model: scripted([{ calls: [{ tool: "publish", input: { title: "Tides" } }] }, "Published."]),
  tools: [publish],
});

// A process without agents runs nothing and still sees everything.
const options = file === undefined ? { agents: [archivist, editor] } : { store: sqlite(file) };
await using runtime = await createRuntime(options);

// #region dashboard
const agents = new Map<RunId, string>();
const rows = new Map<RunId, string>();

async function dashboard(isComplete: () => boolean): Promise<void> {
  for await (const event of runtime.watch()) {
    if (event.type === "run-created") agents.set(event.run, event.identity.agent);
    const state = stateAfter(event);
    if (state === undefined || event.type === "resync" || rows.get(event.run) === state) continue;
    rows.set(event.run, state);
    draw(event.run);
    if (isComplete()) break;
  }
}

/** What an event says about its run, if it changes the picture. */
function stateAfter(event: WatchEvent): string | undefined {
  switch (event.type) {
    case "run-created":
      return "created";
    case "step-started":
      return `step ${event.step}`;
    case "text-delta":
      return `step ${event.step}, writing`;
    case "tool-progress":
      return `step ${event.step}, ${event.progress}`;
    case "run-waiting":
      return `waiting on ${event.reasons.join(", ")}`;
    case "run-ended":
      return event.outcome.kind;
    default:
      return undefined;
  }
}
// #endregion dashboard

function draw(run: RunId): void {
  const line = (id: RunId): string => `${id.slice(-6)}  ${agents.get(id)?.padEnd(9)}  ${rows.get(id)}`;
  if (!process.stdout.isTTY) return console.log(line(run));
  console.clear();
  for (const id of rows.keys()) console.log(line(id));
}

if (file !== undefined) await dashboard(() => false); // until Ctrl-C

const watching = dashboard(
  () => rows.size === 6 && [...rows.values()].every((state) => /^(completed|waiting)/.test(state)),
);
for (const asker of [archivist, archivist, editor, archivist, archivist, archivist]) {
  await runtime.start(asker, "The tides, please");
  await sleep(pace);
}
await watching;

const states = [...rows.values()].sort();
const counts = [...new Set(states)].map((state) => `${states.filter((each) => each === state).length} ${state}`);
console.log(`${rows.size} runs: ${counts.join(", ")}`);
