/**
 * The world outside, as a process of its own: takes requests over HTTP, logs each on disk before it answers, and is
 * never killed. What must be done once it does every time it is told. What is idempotent it does once per key.
 * A request that arrives later than its sender may still be running (`notAfter`) is refused, as a careful receiver
 * would: it closes the one gap that no runtime can, a freeze between its last look at the time and the send.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { noteDurably } from "../processes/notes.ts";
import { logs, machineTime, type ToolLine } from "./evidence.ts";

export interface ToolRequest extends Omit<ToolLine, "kind"> {
  readonly effect: "once" | "idempotent";
  readonly notAfter: number;
}

const log = logs.tools(process.argv[2] ?? ".");
const done = new Set<string>();
const travelMs = 10;

function kindOf(request: ToolRequest): ToolLine["kind"] {
  if (machineTime() > request.notAfter) return "late";
  return request.effect === "idempotent" && done.has(request.key) ? "repeat" : "effect";
}

async function act(request: ToolRequest): Promise<number> {
  await sleep(travelMs);
  const { tool, key, run, call } = request;
  const kind = kindOf(request);
  noteDurably(log, { kind, tool, key, run, call } satisfies ToolLine);
  if (kind === "late") return 409;
  done.add(key);
  done.add(call);
  await sleep(travelMs);
  return 201;
}

/** By key, or by call for an operator, who is shown no key. */
function lookUp(name: string): number {
  noteDurably(log, { kind: "lookup", tool: "", key: name, run: "", call: "" } satisfies ToolLine);
  return done.has(name) ? 200 : 404;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const isAct = request.method === "POST";
  const name = decodeURIComponent((request.url ?? "/").slice(1));
  const status = isAct ? await act(JSON.parse(await text(request)) as ToolRequest) : lookUp(name);
  response.writeHead(status).end();
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(500).end());
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.({ url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}` });
});
process.once("disconnect", () => process.exit());
