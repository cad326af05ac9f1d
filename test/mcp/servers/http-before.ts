/** Over HTTP, on the package before, with sessions. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { buildBefore } from "./build-before.ts";
import { log } from "./world.ts";

const sessions = new Map<string, StreamableHTTPServerTransport>();

const server = createServer(async (incoming, outgoing) => {
  const id = incoming.headers["mcp-session-id"];
  if (incoming.method === "DELETE") log("session ended");
  const known = typeof id === "string" ? sessions.get(id) : undefined;
  if (typeof id === "string" && !known) {
    outgoing.writeHead(404).end("no such session");
    return;
  }
  const transport =
    known ??
    new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
  if (!known) await buildBefore().connect(transport as never);
  await transport.handleRequest(incoming, outgoing);
});
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  log("listening");
  console.log((server.address() as { port: number }).port);
});
