/** What may go wrong over HTTP, with a server that answers as it is told: which calls may have happened, and where headers go. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { secret } from "holdfast";
import { type McpServer, mcpServer } from "holdfast/mcp";
import { expect, onTestFinished, test } from "vitest";
import { call, end, toolOf, until } from "./world.ts";

type Wrong = (response: ServerResponse, id: unknown) => void;

const echo = { name: "echo", description: "Says it again", inputSchema: { type: "object" } };
const json = { "content-type": "application/json" };
const events = { "content-type": "text/event-stream" };

/** Speaks the protocol of 2025 without sessions until a tool is called, then does what is wrong. */
async function wrongServer(
  wrong: Wrong,
  session?: string,
): Promise<{ server: McpServer; url: string; calls: () => number; sessions: () => number; seen: readonly string[] }> {
  let calls = 0;
  let sessions = 0;
  const seen: string[] = [];
  const http = createServer(async (request, response) => {
    seen.push(String(request.headers.authorization));
    const { id, method } = await bodyOf(request);
    const answer = (result: object): void => {
      response.writeHead(200, { ...json, ...(session ? { "mcp-session-id": session } : {}) });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    };
    if (method === "initialize") {
      sessions += 1;
      const serverInfo = { name: "wrong", version: "1" };
      answer({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo });
    } else if (method === "tools/list") answer({ tools: [echo] });
    else if (method === "tools/call") {
      calls += 1;
      wrong(response, id);
    } else response.writeHead(id === undefined ? 202 : 404).end();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const headers = { authorization: secret("Bearer canary-51c2") };
  const limits = { reconnectMs: 10, reconnectMaxMs: 50, messageBytes: 100_000 };
  const url = `http://127.0.0.1:${port}/`;
  const server = mcpServer({ name: "w", http: { url, headers }, limits });
  onTestFinished(async () => {
    await server.close();
    http.closeAllConnections();
    http.close();
  });
  return { server, url, calls: () => calls, sessions: () => sessions, seen };
}

async function bodyOf(request: IncomingMessage): Promise<{ id?: unknown; method?: string }> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? {} : (JSON.parse(text) as { id?: unknown; method?: string });
}

/** A right answer, but for its size. */
function large(id: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "x".repeat(1_000_000) }] } });
}

const refused =
  (status: number): Wrong =>
  (response) =>
    void response.writeHead(status).end("no, canary-51c2");

/** A refusal with an error of JSON-RPC in it: of the call, or of nobody's. */
function refusedWith(status: number, ofCall: boolean): Wrong {
  return (response, id) => {
    const error = { code: -32_000, message: "no, canary-51c2" };
    response.writeHead(status, json).end(JSON.stringify({ jsonrpc: "2.0", id: ofCall ? id : null, error }));
  };
}

test.each<[string, "failure" | "open", Wrong]>([
  ["400", "open", refused(400)],
  ["400 with an error of nobody's", "failure", refusedWith(400, false)],
  ["400 with an error of the call", "open", refusedWith(400, true)],
  ["404 with an error of nobody's", "failure", refusedWith(404, false)],
  ["404 with an error of the call", "open", refusedWith(404, true)],
  ["401", "failure", refused(401)],
  ["403", "failure", refused(403)],
  ["404", "failure", refused(404)],
  ["429", "failure", refused(429)],
  ["408", "open", refused(408)],
  ["500", "open", refused(500)],
  ["502", "open", refused(502)],
  ["503", "open", refused(503)],
  [
    "an answer of another kind",
    "open",
    (response) => void response.writeHead(200, { "content-type": "text/html" }).end("hi"),
  ],
  ["an answer that is no JSON", "open", (response) => void response.writeHead(200, json).end("{")],
  ["a connection that is cut before the answer", "open", (response) => void response.destroy()],
  [
    "a stream that ends without an answer",
    "open",
    (response) => void response.writeHead(200, events).end(": nothing\n\n"),
  ],
  [
    "a stream that is cut",
    "open",
    (response) => void response.writeHead(200, events).write("event: message\ndata: {", () => response.destroy()),
  ],
  ["an answer that is too large", "open", (response, id) => void response.writeHead(200, json).end(large(id))],
  [
    "a line that is too long",
    "open",
    (response, id) => void response.writeHead(200, events).end(`data: ${large(id)}\n\n`),
  ],
])("%s: sent once, and %s", async (_what, kind, wrong) => {
  const { server, calls } = await wrongServer(wrong);
  const tools = await server.connect();
  const ended = await end(call(toolOf(tools, "echo"), {}));
  expect(ended.kind).toBe(kind);
  expect(ended.said).not.toContain("canary-51c2");
  expect(calls()).toBe(1);
});

test.each([
  ["404", refused(404)],
  ["400 with an error of nobody's", refusedWith(400, false)],
])("a server that has forgotten our session is asked once more, in a new one: %s", async (_what, wrong) => {
  const { server, calls } = await wrongServer(wrong, "session-1");
  const tools = await server.connect();
  expect(await end(call(toolOf(tools, "echo"), {}))).toMatchObject({ kind: "failure" });
  expect(calls()).toBe(2);
});

test("a refusal that may be the tool's is not asked again; the next call begins another session", async () => {
  const { server, calls, sessions } = await wrongServer(refused(400), "session-1");
  const tools = await server.connect();
  for (const times of [1, 2]) {
    expect(await end(call(toolOf(tools, "echo"), {}))).toMatchObject({ kind: "open" });
    expect([calls(), sessions()]).toEqual([times, times]);
  }
});

test("a connection that is given up for one call lets the others on it end", async () => {
  let slow: (() => void) | undefined;
  const { server, calls } = await wrongServer((response, id) => {
    if (slow) return refused(404)(response, id);
    slow = () => response.writeHead(200, json).end(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } }));
  }, "session-1");
  const tools = await server.connect();
  const first = end(call(toolOf(tools, "echo"), {}));
  await until(() => calls() === 1, "the first call is with the server");
  expect(await end(call(toolOf(tools, "echo"), {}))).toMatchObject({ kind: "failure" });
  slow?.();
  expect(await first).toMatchObject({ kind: "value" });
});

test("a call follows no redirect to another place, and neither do headers", async () => {
  const other = await wrongServer(refused(500));
  const { server } = await wrongServer((response) => void response.writeHead(307, { location: other.url }).end());
  const ended = await end(call(toolOf(await server.connect(), "echo"), {}));
  expect(ended.kind).toBe("open");
  expect(other.seen).toEqual([]);
});
