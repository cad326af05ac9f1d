/** Live pieces between processes: one works, another without agents watches. */
import { spawn } from "node:child_process";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createRuntime } from "../../src/create-runtime.ts";
import { agent } from "../../src/domain/agent.ts";
import type { Model } from "../../src/ports/provider.ts";
import { postgres } from "../../src/postgres.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { Run, Runtime, WatchEvent } from "../../src/runtime/runtime.ts";
import { saidBy, slowTeller } from "../watch/children/slow-teller.ts";
import { type Client, durable, newClient, take } from "../watch/client.ts";
import { freshStore, query } from "./shared-server.ts";

const quiet = { warn: () => undefined, note: () => undefined };
const story = Array.from({ length: 1_000 }, (_, n) => `word${n} `).join("");
const fast = agent({
  name: "fast",
  instructions: "Tell.",
  model: scripted([{ text: story, pieces: Math.ceil(story.length / 1_000), pauseMs: 1 }]),
});

interface House {
  readonly worker: Runtime;
  readonly desk: Runtime;
  readonly url: string;
  readonly schema: string;
}

/** Polling is slow where only what is told can explain what is seen. */
async function open(teller: typeof fast, watchPollMs = 5_000): Promise<House> {
  const { url, schema } = await freshStore({ time: "database" });
  const notifyUrl = `${url}?application_name=${schema}`;
  const settings = { store: postgres({ url, schema, notifyUrl }), logger: quiet, pollMs: 200, watchPollMs };
  const worker = await createRuntime({ ...settings, agents: [teller] });
  onTestFinished(() => worker.close());
  const desk = await createRuntime(settings);
  onTestFinished(() => desk.close());
  await linesUp({ url, schema });
  return { worker, desk, url, schema };
}

/** Both listen, each on another connection than those. */
async function linesUp({ url, schema }: Pick<House, "url" | "schema">, gone: readonly number[] = []): Promise<void> {
  const sql = "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND query <> '' AND state = 'idle'";
  for (;;) {
    const pids = await query<{ pid: number }>(url, sql, [schema]);
    if (pids.filter(({ pid }) => !gone.includes(pid)).length >= 2) return;
  }
}

async function cutLines(house: House): Promise<void> {
  const sql = "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
  const cut = await query<{ pid: number }>(house.url, sql, [house.schema]);
  const pids = cut.map(({ pid }) => pid);
  await linesUp(house, pids);
}

/** Watches as a screen would; every text it shows must be a beginning of what the model says in that attempt. */
async function watched(
  events: AsyncIterable<WatchEvent>,
  said: (attempt: number) => string,
  seen: (client: Client) => unknown = () => undefined,
): Promise<Client> {
  const client = newClient();
  for await (const frame of events) {
    take(client, frame);
    for (const { attempt, text } of client.screen.values()) expect(said(attempt).startsWith(text)).toBe(true);
    seen(client);
    if (frame.type === "run-ended") return client;
  }
  return client;
}

function longest({ frames }: Client): number {
  let text = 0;
  for (const frame of frames) {
    if (frame.type === "message-partial") text = frame.text.length;
    if (frame.type === "text-delta") text += frame.text.length;
  }
  return text;
}

function pieces({ frames }: Client): readonly WatchEvent[] {
  return frames.filter(({ type }) => type === "message-partial" || type === "text-delta");
}

/** Everything on the channel that carries pieces of the run. */
async function countTold({ url, schema }: House, run: Run<unknown>): Promise<() => number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  let told = 0;
  client.on("notification", ({ payload = "" }) => {
    expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
    if (payload.includes('"told"') && payload.includes(run.id)) told += 1;
  });
  await client.query(`LISTEN "holdfast_${schema}"`);
  return () => told;
}

test("a process without agents sees text grow and then the message, in ten notifications a second, also who joins late", {
  timeout: 60_000,
}, async () => {
  const house = await open(fast);
  const since = performance.now();
  const run = await house.desk.start(fast, "Go", { thread: "t" });
  const told = await countTold(house, run);
  const late: Promise<Client>[] = [];
  const stop = new AbortController();
  const first = await watched(
    run.watch(),
    () => story,
    (client) => {
      if (late.length > 0 || longest(client) < 500) return;
      late.push(watched(run.watch(), () => story));
      late.push(watched(run.watch({ from: "now" }), () => story));
      late.push(watched(house.desk.watch({}, { signal: stop.signal }), () => story));
      late.push(watched(house.worker.runs.get(run.id).watch(), () => story));
    },
  );
  const most = (performance.now() - since) / 100 + 1;
  const clients = [first, ...(await Promise.all(late))];
  stop.abort();
  expect(clients).toHaveLength(5);
  for (const client of clients) {
    expect(pieces(client)[0]?.type).toBe("message-partial");
    expect(pieces(client).length).toBeGreaterThan(3);
    expect(longest(client)).toBeGreaterThan(story.length / 4);
    expect(client.screen.size).toBe(0);
    expect(client.frames.filter(({ type }) => type === "message-retracted")).toEqual([]);
  }
  expect(durable(first.frames).map(({ seq }) => seq)).toEqual(durable(first.frames).map((_, n) => n + 1));
  expect(JSON.stringify(first.frames.findLast(({ type }) => type === "message-appended"))).toContain(story);
  expect(told()).toBeGreaterThan(3);
  expect(told()).toBeLessThanOrEqual(most);
});

test("while nobody elsewhere watches the run, nothing of it is sent", async () => {
  const house = await open(fast);
  const other = await house.desk.start(fast, "Go too", { thread: "t2" });
  const run = await house.worker.start(fast, "Go", { thread: "t" });
  const told = await countTold(house, run);
  const stop = new AbortController();
  const here = watched(run.watch(), () => story);
  const elsewhere = watched(house.desk.watch({ runs: [other.id] }, { signal: stop.signal }), () => story);
  expect(longest(await here)).toBe(story.length);
  expect(longest(await elsewhere)).toBeGreaterThan(0);
  stop.abort();
  expect(told()).toBe(0);
});

test("lines cut again and again in the middle: no error, no wrong text, every event, and text again when they are back", {
  timeout: 60_000,
}, async () => {
  let goOn = (): void => undefined;
  const half = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const model: Model = {
    description: { provider: "test", model: "in two halves" },
    async *call(_request, signal) {
      const words = story.match(/.{10}/g) ?? [];
      for (const [n, text] of words.entries()) {
        if (n === 300) await half;
        signal.throwIfAborted();
        yield { type: "text-delta", text };
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
  const telling = agent({ name: "fast", instructions: "Tell.", model });
  const house = await open(telling, 50);
  const run = await house.desk.start(telling, "Go", { thread: "t" });
  let cuts = 0;
  const cut = async (): Promise<void> => {
    cuts += 1;
    await cutLines(house);
    if (cuts === 2) goOn();
  };
  const cutting: Promise<void>[] = [];
  let again = 0;
  const client = await watched(
    run.watch(),
    () => story,
    (each) => {
      if (cuts === 0 && longest(each) > 500) cutting.push(cut().then(cut));
      const last = each.frames.at(-1);
      if (cuts === 2 && last?.type === "text-delta" && longest(each) > 3_000) again += 1;
    },
  );
  await Promise.all(cutting);
  expect(cuts).toBe(2);
  expect(durable(client.frames).map(({ seq }) => seq)).toEqual(durable(client.frames).map((_, n) => n + 1));
  expect(client.frames.at(-1)?.type).toBe("run-ended");
  expect(client.screen.size).toBe(0);
  expect(again).toBeGreaterThan(0);
});

test("a real process is killed in the middle of a message, another goes on: the watcher is shown both attempts and keeps one", {
  timeout: 60_000,
}, async () => {
  const { url, schema } = await freshStore({ time: "database" });
  const desk = await createRuntime({ store: postgres({ url, schema }), logger: quiet, watchPollMs: 50 });
  onTestFinished(() => desk.close());
  const script = new URL("children/tell.ts", import.meta.url).pathname;
  const boot = () => {
    const child = spawn(process.execPath, [script, url, schema], { stdio: ["ignore", "ignore", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const run = await desk.start(slowTeller, "Go", { thread: "t" });
  const victim = boot();
  let killed = 0;
  const client = await watched(run.watch(), saidBy, (each) => {
    if (killed > 0 || longest(each) === 0) return;
    killed = longest(each);
    victim.kill("SIGKILL");
    boot();
  });
  expect(killed).toBeGreaterThan(0);
  const live = client.frames.filter(({ type }) => type.startsWith("message-"));
  const [shown, ...rest] = live.map((frame) => `${frame.type} ${"attempt" in frame ? frame.attempt : ""}`);
  expect(shown).toBe("message-appended "); // the input
  expect([...new Set(rest)]).toEqual([
    "message-partial 1",
    "message-retracted 1",
    "message-partial 2",
    "message-appended ",
  ]);
  expect(client.screen.size).toBe(0);
  expect(JSON.stringify(client.frames.findLast(({ type }) => type === "message-appended"))).toContain(saidBy(2));
});
