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
  const children: Child<unknown>[] = [...crew];
  try {
    const died = firstDeath(crew);
    await Promise.race([Promise.all(crew.map((worker) => worker.next())), died]);
    const client = start<ClientNews>("client", setup);
    children.push(client);
    const measured = await Promise.race([timeBatch(crew, client), died]);
    for (const worker of crew) worker.tell("close" satisfies WorkerOrder);
    await Promise.all(children.map(({ exited }) => exited));
    return measured;
  } finally {
    await Promise.all(children.map((child) => child.kill()));
  }
}

async function timeBatch(crew: Crew, client: Child<ClientNews>): Promise<Measurement> {
  await client.next(({ kind }) => kind === "warm");
  const before = await cpuMsOf(crew);
  client.tell("go");
  const timed = timedOf(await client.next());
  return { ...timed, cpuMs: (await cpuMsOf(crew)) - before };
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
