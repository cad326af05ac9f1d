/** Over HTTP, on the current package. The port is the first argument, 0 for any; the first line of its output says which. */
import { createServer, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { buildNow } from "./build-now.ts";
import { log } from "./world.ts";

const mcp = createMcpHandler(() => buildNow());

let calls = 0;

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const server = createServer(async (incoming, outgoing) => {
  if (process.env.TOKEN && incoming.headers.authorization !== `Bearer ${process.env.TOKEN}`) {
    outgoing.writeHead(401).end(`not with ${incoming.headers.authorization}`);
    return;
  }
  // Somebody on the way who lets only so many calls through.
  if (incoming.headers["mcp-method"] === "tools/call" && calls++ === Number(process.env.MOST_CALLS)) {
    outgoing.writeHead(429).end("too many");
    return;
  }
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const request = new Request(`http://127.0.0.1${incoming.url}`, {
    method: incoming.method ?? "GET",
    headers: new Headers(
      Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
    ),
    signal: gone.signal,
    ...(incoming.method === "POST" ? { body: new Uint8Array(await bodyOf(incoming)) } : {}),
  });
  // Somebody on the way who does not like streams that say nothing.
  if (process.env.CUT_STREAMS && incoming.headers["mcp-method"] === "subscriptions/listen") {
    log("stream cut");
    setTimeout(() => outgoing.destroy(), 100);
  }
  const response = await mcp.fetch(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  if (response.body)
    Readable.fromWeb(response.body as never)
      .on("error", () => outgoing.destroy())
      .pipe(outgoing);
  else outgoing.end();
});
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  log("listening");
  console.log((server.address() as { port: number }).port);
});
