/** The agent at the other side as a real process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { A2aEndpoint } from "holdfast/a2a";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { RemoteBackend } from "../../src/ports/backend.ts";
import { backendAt } from "./turn.ts";

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

async function start(env: Env): Promise<{ child: ChildProcess; port: number }> {
  const file = join(import.meta.dirname, "servers", "official.ts");
  const child = spawn(process.execPath, ["--no-warnings", file], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  return { child, port: Number(line.toString()) };
}

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
