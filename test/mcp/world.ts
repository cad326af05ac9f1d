/** Servers as real processes, and calls of their tools as the engine makes them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Tool, ToolContext } from "holdfast";
import { type McpServer, type McpServerOptions, mcpServer } from "holdfast/mcp";
import { onTestFinished } from "vitest";

export type Kind = "stdio-now" | "stdio-before" | "http-now" | "http-before";
export const kinds: readonly Kind[] = ["stdio-now", "stdio-before", "http-now", "http-before"];

export function script(name: string): string {
  return join(import.meta.dirname, "servers", `${name}.ts`);
}

export interface World {
  readonly server: McpServer;
  /** The same server as another process would have it. */
  another(options?: Partial<McpServerOptions>): McpServer;
  readonly changeFile: string;
  /** What the server itself has written down. */
  log(): readonly string[];
  count(start: string): number;
  /** HTTP servers do not come back by themselves: another process on the same port. */
  restart(): Promise<void>;
  /** The server's process is killed; it does not get to say anything. */
  kill(): Promise<void>;
}

export async function world(
  kind: Kind,
  options: Partial<McpServerOptions> = {},
  more: Readonly<Record<string, string>> = {},
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
  const logFile = join(folder, "log");
  const changeFile = join(folder, "change");
  const env = { LOG_FILE: logFile, CHANGE_FILE: changeFile, ...more };
  const log = (): readonly string[] =>
    existsSync(logFile)
      ? readFileSync(logFile, "utf8")
          .split("\n")
          .filter((line) => line !== "")
      : [];
  const limits = { reconnectMs: 20, reconnectMaxMs: 200, ...options.limits };
  const isHttp = kind.startsWith("http");
  let http = isHttp ? await startHttp(kind, env) : undefined;
  const where = http
    ? { http: { url: `http://127.0.0.1:${http.port}/mcp` } }
    : { stdio: { command: process.execPath, args: [script(kind)], env } };
  const another = (changed: Partial<McpServerOptions> = {}): McpServer => {
    const server = mcpServer({ name: "w", ...where, ...options, ...changed, limits: { ...limits, ...changed.limits } });
    onTestFinished(() => server.close());
    return server;
  };
  const server = another();
  onTestFinished(() => void http?.child.kill("SIGKILL"));
  return {
    server,
    another,
    changeFile,
    log,
    count: (start) => log().filter((line) => line.startsWith(start)).length,
    async restart() {
      if (!http) return;
      if (http.child.exitCode === null && http.child.signalCode === null) http.child.kill("SIGKILL");
      http = await startHttp(kind, env, http.port);
    },
    async kill() {
      const pid = http
        ? http.child.pid
        : Number(
            log()
              .findLast((line) => line.startsWith("started"))
              ?.split(" ")[1],
          );
      process.kill(Number(pid), "SIGKILL");
      if (http) await once(http.child, "exit");
    },
  };
}

export interface HttpServer {
  readonly child: ChildProcess;
  readonly port: number;
}

export async function startHttp(kind: string, env: Readonly<Record<string, string>>, port = 0): Promise<HttpServer> {
  const child = spawn(process.execPath, [script(kind), String(port)], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [first] = (await once(child.stdout as NodeJS.EventEmitter, "data")) as [Buffer];
  return { child, port: Number(first.toString()) };
}

export function liar(wrong: readonly string[], options: Partial<McpServerOptions> = {}): McpServer {
  const limits = { reconnectMs: 20, reconnectMaxMs: 200, connectMs: 10_000, closeMs: 100, ...options.limits };
  const stdio = { command: process.execPath, args: [script("liar"), ...wrong] };
  const server = mcpServer({ name: "liar", stdio, ...options, limits });
  onTestFinished(() => server.close());
  return server;
}

let calls = 0;

export interface Calling {
  readonly signal?: AbortSignal;
  readonly report?: (progress: unknown) => void;
  readonly key?: string;
  readonly attempt?: number;
  /** Somebody has said "run again" of a call whose outcome was unknown. */
  readonly again?: boolean;
}

export function toolOf(tools: readonly Tool[], name: string): Tool {
  const found = tools.find(({ spec }) => spec.name.endsWith(`__${name}`));
  if (!found) throw new Error(`There is no ${name}`);
  return found;
}

/** What the engine does with a tool: input, and a context of which only this is used. */
export async function call({ code }: Tool, input: unknown, calling: Calling = {}): Promise<unknown> {
  calls += 1;
  const context = {
    idempotencyKey: calling.key ?? `key-${calls}`,
    signal: calling.signal ?? new AbortController().signal,
    report: calling.report ?? (() => undefined),
    attempt: calling.attempt ?? 1,
    decision: calling.again ? { decision: { kind: "run-again" }, by: "ana@example.com", at: 0 } : undefined,
  } as unknown as ToolContext;
  return await code.execute?.(input, context);
}

/** Ends like the engine reads it: with a value, with "nothing happened", or open. */
export async function end(promise: Promise<unknown>): Promise<{ kind: "value" | "failure" | "open"; said: string }> {
  try {
    const told = (await promise) as { say: string };
    return { kind: "value", said: told.say };
  } catch (cause) {
    const isFailure = typeof cause === "object" && cause !== null && "~toolFailure" in cause;
    return { kind: isFailure ? "failure" : "open", said: (cause as Error).message };
  }
}

export async function until(done: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    if (done()) return;
    await sleep(10);
  }
  throw new Error(`Not in time: ${what}`);
}
