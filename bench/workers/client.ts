/**
 * The client process of the bench: node client.ts <setup>. Starts a batch that warms everybody up, waits for the word,
 * starts the batch that is timed, and takes its times from the store.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime, type Run, type RunView } from "holdfast";
import { type ClientNews, setupOf, storeAt, type Timed } from "./setup.ts";
import { createAgent } from "./workload.ts";

/** One small query each time: the client must not be what is measured. */
const lookMs = 20;
/** When no run ends for this long, none will. */
const patienceMs = 60_000;

const { place, workload, runs, steps } = setupOf(process.argv[2]);
process.once("disconnect", () => process.exit());
const runtime = await createRuntime({ store: storeAt(place) });
const agent = createAgent(workload, steps);
let ended = 0;

await doBatch(Math.ceil(runs / 2));
const word = once(process, "message");
tell({ kind: "warm" });
await word;
tell({ kind: "done", ...timesOf(await doBatch(runs)) });
await runtime.close();
process.disconnect?.();

async function doBatch(size: number): Promise<readonly RunView[]> {
  const started = await Promise.all(Array.from({ length: size }, () => runtime.start(agent, "Look.")));
  await allEnded(ended + size);
  ended += size;
  return Promise.all(started.map(checked));
}

async function allEnded(count: number): Promise<void> {
  let seen = 0;
  let giveUpAt = performance.now() + patienceMs;
  while (seen < count) {
    const done = await runtime.runs.count({ status: "done" });
    if (done > seen) giveUpAt = performance.now() + patienceMs;
    seen = done;
    if (performance.now() > giveUpAt) throw new Error(`${count - seen} of ${count} runs do not end`);
    await sleep(lookMs);
  }
}

/** Fast and wrong is no figure. */
async function checked(run: Run): Promise<RunView> {
  const view = await run.status();
  if (view.outcome?.kind === "completed" && view.steps === steps) return view;
  throw new Error(`Run ${run.id} took ${view.steps} of ${steps} steps: ${JSON.stringify(view.outcome ?? view.status)}`);
}

function timesOf(views: readonly RunView[]): Timed {
  const births = views.map(({ createdAt }) => createdAt);
  const first = Math.min(...births);
  const last = Math.max(...views.map(({ finishedAt = 0 }) => finishedAt));
  return { ms: Math.max(1, last - first), startsMs: Math.max(...births) - first };
}

function tell(news: ClientNews): void {
  process.send?.(news);
}
