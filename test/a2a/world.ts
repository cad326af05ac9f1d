/** The agent at the other side as a real process, and turns as the engine makes them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type A2aEndpoint, a2a } from "holdfast/a2a";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { RemoteTask } from "../../src/domain/backend/result.ts";
import type { MessageId, RunId, ThreadId } from "../../src/domain/ids.ts";
import type { RemoteBackend, RemoteTurn } from "../../src/ports/backend.ts";

export interface Far {
  readonly folder: string;
  readonly port: number;
  readonly url: string;
  log(): readonly string[];
  count(start: string): number;
  kill(): Promise<void>;
  restart(): Promise<void>;
  backend(more?: Partial<A2aEndpoint>): RemoteBackend;
}

export type Env = Readonly<Record<string, string>>;

/** One for all tests of a block. */
export function shareFar(env: Env): () => Far {
  let far: Far | undefined;
  beforeAll(async () => {
    far = await startFar(env);
  });
  afterAll(() => far?.kill());
  return () => far!;
}

export async function openFar(env: Env = {}): Promise<Far> {
  const far = await startFar(env);
  onTestFinished(far.kill);
  return far;
}

async function startFar(env: Env): Promise<Far> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-a2a-"));
  let { child, port } = await start({ ...env, FOLDER: folder });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  const log = (): readonly string[] => {
    const file = join(folder, "log");
    return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
  };
  return {
    folder,
    port,
    url: `http://127.0.0.1:${port}`,
    log,
    count: (begin) => log().filter((line) => line.startsWith(begin)).length,
    kill,
    async restart() {
      await kill();
      ({ child, port } = await start({ ...env, FOLDER: folder, PORT: `${port}` }));
    },
    backend: (more = {}) => backendAt(`http://127.0.0.1:${port}`, more),
  };
}

export function endpointAt(baseUrl: string, more: Partial<A2aEndpoint> = {}): A2aEndpoint {
  const options = { privateRanges: ["127.0.0.1"], pollInterval: 20, ...more.options };
  return { baseUrl, timeout: 10_000, ...more, options };
}

export function backendAt(baseUrl: string, more: Partial<A2aEndpoint> = {}): RemoteBackend {
  return a2a(endpointAt(baseUrl, more)).build();
}

async function start(env: Env): Promise<{ child: ChildProcess; port: number }> {
  const file = join(import.meta.dirname, "servers", "official.ts");
  const child = spawn(process.execPath, ["--no-warnings", file], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  return { child, port: Number(line.toString()) };
}

let made = 0;

export interface Asked extends RemoteTurn {
  readonly tasks: RemoteTask[];
}

/** A turn that says `text`. */
export function turn(text: string, more: Partial<RemoteTurn> = {}): Asked {
  made += 1;
  const tasks: RemoteTask[] = [];
  const message = `m-${made}` as MessageId;
  const said = { id: message, role: "user", parts: [{ type: "text", text }], visibility: "all" } as const;
  return {
    agent: "far",
    identity: { run: `run-${made}` as RunId, thread: `t-${made}` as ThreadId, agent: "far" } as RemoteTurn["identity"],
    message,
    context: `context-${made}`,
    step: 1,
    attempt: 1,
    messages: [said],
    newMessages: [said],
    text,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    onTask: async (task) => void tasks.push(task),
    ...more,
    tasks,
  };
}

/** The next turn of the same task. */
export function reply(to: Asked, text: string, answers: "input" | "auth" = "input"): Asked {
  const [task] = to.tasks;
  if (task === undefined) throw new Error("there is no task to continue");
  return turn(text, { context: to.context, task, answers });
}

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
