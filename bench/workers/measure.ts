/** One measurement: so many worker processes and one client on an empty store, all up and warm before the clock starts. */
import { join } from "node:path";
import { type Child, startChild } from "../../scripts/processes/child.ts";
import type { ClientNews, Setup, Timed, WorkerNews, WorkerOrder } from "./setup.ts";

export interface Measurement extends Timed {
  /** What all workers used of the processors while the clock ran. */
  readonly cpuMs: number;
}

type Crew = readonly Child<WorkerNews>[];

export async function measure(setup: Setup, workers: number): Promise<Measurement> {
  const crew = Array.from({ length: workers }, () => start<WorkerNews>("worker", setup));
  try {
    const measured = await Promise.race([measureWith(crew, setup), firstDeath(crew)]);
    for (const worker of crew) worker.tell("close" satisfies WorkerOrder);
    await Promise.all(crew.map(({ exited }) => exited));
    return measured;
  } finally {
    await Promise.all(crew.map((worker) => worker.kill()));
  }
}

async function measureWith(crew: Crew, setup: Setup): Promise<Measurement> {
  await Promise.all(crew.map((worker) => worker.next()));
  const client = start<ClientNews>("client", setup);
  try {
    await client.next(({ kind }) => kind === "warm");
    const before = await cpuMsOf(crew);
    client.tell("go");
    const news = await client.next();
    const cpuMs = (await cpuMsOf(crew)) - before;
    await client.exited;
    return { ...timedOf(news), cpuMs };
  } finally {
    await client.kill();
  }
}

/** Others would take over the runs of a worker that died, and the figure would be of something else. */
function firstDeath(crew: Crew): Promise<never> {
  return Promise.race(
    crew.map(async ({ pid, exited }) => {
      const code = await exited;
      throw new Error(`Worker ${pid} ended with ${code} while it was measured; what it said is above`);
    }),
  );
}

function start<News>(role: "worker" | "client", setup: Setup): Child<News> {
  return startChild<News>({ script: join(import.meta.dirname, `${role}.ts`), args: [JSON.stringify(setup)] });
}

function timedOf(news: ClientNews): Timed {
  if (news.kind !== "done") throw new Error(`The client says ${news.kind} instead of its times`);
  return { ms: news.ms, startsMs: news.startsMs };
}

async function cpuMsOf(crew: Crew): Promise<number> {
  for (const worker of crew) worker.tell("cpu" satisfies WorkerOrder);
  const told = await Promise.all(crew.map((worker) => worker.next()));
  return told.reduce((sum, news) => sum + (news.kind === "cpu" ? news.ms : 0), 0);
}
