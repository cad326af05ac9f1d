/** Two runtimes on one schema, as in two processes: one works, one asks, decides and watches. */
import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { createRuntime } from "../../src/create-runtime.ts";
import { agent } from "../../src/domain/agent.ts";
import { tool } from "../../src/domain/tool.ts";
import { postgres } from "../../src/postgres.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { freshStore } from "./shared-server.ts";

const quiet = { warn: () => undefined, note: () => undefined };

const send = tool({
  name: "send",
  description: "Sends",
  input: z.object({ to: z.string() }),
  needsApproval: true,
  execute: ({ to }) => `sent to ${to}`,
});

const clerk = agent({
  name: "clerk",
  instructions: "Send.",
  tools: [send],
  model: scripted([{ calls: [{ tool: "send", input: { to: "Ada" } }] }, "Sent."]),
});

/** Polling is so slow here that only hints can explain what is quick. */
async function runtimeOn(options: { url: string; schema: string }, isWorker: boolean): Promise<Runtime> {
  const runtime = await createRuntime({
    ...(isWorker ? { agents: [clerk] } : {}),
    store: postgres(options),
    logger: quiet,
    pollMs: 60_000,
    watchPollMs: 5_000,
  });
  onTestFinished(() => runtime.close());
  return runtime;
}

test("a run started here is worked on there, watched and approved here, with a foreign transaction open all the while", {
  timeout: 60_000,
}, async () => {
  const fresh = await freshStore({ time: "database" });
  const options = { url: fresh.url, schema: fresh.schema };
  const foreign = new pg.Client({ connectionString: fresh.url });
  await foreign.connect();
  onTestFinished(() => foreign.end());
  await foreign.query("BEGIN; SELECT pg_current_xact_id()");
  await runtimeOn(options, true);
  const desk = await runtimeOn(options, false);
  await new Promise((resolve) => setTimeout(resolve, 500)); // both lines for hints are up
  const since = performance.now();
  const run = await desk.start(clerk, "Write to Ada", { thread: "t" });
  const types: string[] = [];
  const everything: string[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    for await (const event of desk.watch({}, { signal: stop.signal })) everything.push(event.type);
  })();
  for await (const event of run.watch({ until: "end" })) {
    types.push(event.type);
    if (event.type !== "run-waiting") continue;
    const [ticket] = await desk.tickets.list({ run: run.id, kind: "approval" });
    await ticket?.approve({ by: "ana" });
  }
  expect(performance.now() - since).toBeLessThan(20_000);
  expect(types[0]).toBe("run-created");
  expect(types.at(-1)).toBe("run-ended");
  expect(types).toContain("ticket-decided");
  await vi.waitFor(() => expect(everything).toContain("run-ended"), { timeout: 10_000 });
  stop.abort();
  await watching;
});
