/** kill -9 of our own process in the middle of a call: the outcome is unknown, and nobody calls again. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime, type Runtime, type Ticket } from "holdfast";
import type { McpServerOptions } from "holdfast/mcp";
import { sqlite } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { secretary } from "./secretary.ts";
import { kinds, script, startHttp, until } from "./world.ts";

// One of each way by default; HOLDFAST_MCP_KILLED=all has every server that the other tests have.
const killed = process.env.HOLDFAST_MCP_KILLED === "all" ? kinds : (["stdio-now", "http-before"] as const);

test.each(killed)("%s: the server's own log shows one call", async (kind) => {
  const { logFile, file, count } = place();
  const where = await whereOf(kind, logFile);

  await callAndDie(file, where, () => count("work begun") === 1);

  const { agent, server } = await secretary(where);
  await using runtime = await createRuntime({ agents: [agent], store: sqlite(file), leaseMs: 400 });
  onTestFinished(() => server.close());
  const run = await runtime.start(agent, "Work", { key: "work-1" });
  await run.idle();
  const ticket = await unknownTicket(runtime);
  await decidable(ticket);
  await ticket.markDone("500 steps", { by: "ana@example.com" });
  expect(await run.output()).toBe("It is done.");
  expect(count("work begun")).toBe(1);
});

test.each(["once", "idempotent"] as const)(
  "%s: a server that is gone when the call is made again leaves open whether it has run",
  async (effect) => {
    const { logFile, file, count } = place();
    const { child, port } = await startHttp("http-now", { LOG_FILE: logFile });
    onTestFinished(() => void child.kill("SIGKILL"));
    const where = { http: { url: `http://127.0.0.1:${port}/mcp` }, effect };
    const first = await secretary(where);
    const options = { ...where, pins: first.server.pins() };
    await first.server.close();
    await callAndDie(file, options, () => count("work begun") === 1);
    child.kill("SIGKILL");

    const { agent, server } = await secretary(options);
    onTestFinished(() => server.close());
    await using runtime = await createRuntime({ agents: [agent], store: sqlite(file), leaseMs: 400 });
    const run = await runtime.start(agent, "Work", { key: "work-1" });
    await run.idle();
    if (effect === "once") {
      const lost = await unknownTicket(runtime);
      await decidable(lost);
      await lost.runAgain({ by: "ana@example.com" });
      await run.idle();
      const again = await unknownTicket(runtime);
      expect(again.id).not.toBe(lost.id);
      expect(again.prompt).toContain("an earlier attempt may have run, this one did not: the server is not connected");
      await decidable(again);
      await again.markFailed("It has not", { by: "ana@example.com" });
    }
    expect(await run.output()).toBe("It is done.");
    const events: string[] = [];
    for await (const event of run.watch({ until: "end" })) events.push(JSON.stringify(event));
    expect(events.join()).toContain("an earlier attempt may have run, this one did not: the server is not connected");
    expect(events.join()).not.toContain("was not run");
  },
);

type UnknownOutcomeTicket = Extract<Ticket, { kind: "unknown-outcome" }>;

interface Place {
  readonly logFile: string;
  readonly file: string;
  count(line: string): number;
}

function place(): Place {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
  const logFile = join(folder, "log");
  const lines = (): readonly string[] => (existsSync(logFile) ? readFileSync(logFile, "utf8").split("\n") : []);
  return {
    logFile,
    file: join(folder, "runs.db"),
    count: (line) => lines().filter((each) => each === line).length,
  };
}

async function callAndDie(file: string, options: object, isBegun: () => boolean): Promise<void> {
  const caller = join(import.meta.dirname, "children/caller.ts");
  const args = ["--conditions=holdfast-source", caller, file, JSON.stringify(options)];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  await until(isBegun, "the call is with the server");
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function unknownTicket(runtime: Runtime): Promise<UnknownOutcomeTicket> {
  const [ticket] = await runtime.tickets.list({ status: "open" });
  if (ticket?.kind !== "unknown-outcome") throw new Error(`The run waits for ${ticket?.kind ?? "nothing"}`);
  return ticket;
}

/** What was lost may still be running until then. */
async function decidable({ decidableFrom = 0 }: UnknownOutcomeTicket): Promise<void> {
  await sleep(Math.max(0, decidableFrom - Date.now()) + 20);
}

async function whereOf(kind: string, logFile: string): Promise<Pick<McpServerOptions, "stdio" | "http">> {
  const env = { LOG_FILE: logFile };
  if (kind.startsWith("stdio")) return { stdio: { command: process.execPath, args: [script(kind)], env } };
  const { child, port } = await startHttp(kind, env);
  onTestFinished(() => void child.kill("SIGKILL"));
  return { http: { url: `http://127.0.0.1:${port}/mcp` } };
}
