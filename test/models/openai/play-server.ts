/** A real HTTP server that answers as it is told, byte by byte, and remembers what it was sent. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";

export interface Play {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks: readonly (string | Uint8Array)[];
  /** After the last chunk: the answer ends, the connection breaks, or nothing more happens. */
  readonly after?: "end" | "cut" | "hang";
}

export interface Sent {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface PlayServer extends AsyncDisposable {
  readonly baseURL: string;
  readonly sent: readonly Sent[];
  /** Connections that are open. */
  readonly connections: () => Promise<number>;
}

/** One play for each request; the last one for every further request. */
export async function openPlayServer(plays: readonly Play[]): Promise<PlayServer> {
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { url = "", headers } = request;
    sent.push({ path: url, headers, body: Buffer.concat(pieces).toString("utf8") });
    await play(plays[Math.min(sent.length, plays.length) - 1] as Play, response);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    sent,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function play({ status = 200, headers, chunks, after = "end" }: Play, response: ServerResponse): Promise<void> {
  response.writeHead(status, { "content-type": "text/event-stream", ...headers });
  response.flushHeaders();
  for (const chunk of chunks) {
    if (response.destroyed) return;
    response.write(chunk);
    await turn();
  }
  if (after === "end") response.end();
  if (after === "cut") response.destroy();
}
