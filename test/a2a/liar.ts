/** An agent at the other side that says what a test tells it to say, over JSON-RPC. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { A2aEndpoint } from "holdfast/a2a";
import { onTestFinished } from "vitest";
import type { RemoteBackend } from "../../src/ports/backend.ts";
import { backendAt } from "./turn.ts";

export interface Call {
  readonly method: string;
  readonly params: {
    readonly message?: { readonly messageId: string; readonly contextId: string };
    readonly id?: string;
  };
  /** A result, by itself. */
  result(value: unknown): void;
  error(code: number, message?: string): void;
  /** A stream: each value is one event's result; then it ends, unless it is to stay open. */
  events(values: readonly unknown[], end?: "end" | "break" | "stay"): void;
  status(code: number, headers?: Readonly<Record<string, string>>): void;
  readonly response: ServerResponse;
}

export interface Liar {
  readonly url: string;
  readonly calls: string[];
  readonly headers: IncomingMessage["headers"][];
  backend(more?: Partial<A2aEndpoint>): RemoteBackend;
}

export interface Lies {
  /** In place of the card; a function writes the answer itself. */
  readonly card?: object | ((response: ServerResponse) => void);
  readonly answer?: (call: Call) => void;
}

export async function openLiar({ card = {}, answer = () => undefined }: Lies = {}): Promise<Liar> {
  const calls: string[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    headers.push(request.headers);
    if (request.method === "GET") {
      if (typeof card === "function") return card(response);
      response.end(JSON.stringify({ ...honest(url), ...card }));
      return;
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body);
    calls.push(method);
    answer(callOf(response, { id, method, params }));
  }
  return { url, calls, headers, backend: (more) => backendAt(url, more) };
}

export function honest(url: string): object {
  return {
    name: "liar",
    description: "",
    version: "1",
    capabilities: { streaming: true, extensions: [] },
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" }],
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
}

function callOf(
  response: ServerResponse,
  { id, method, params }: { id: unknown } & Pick<Call, "method" | "params">,
): Call {
  const envelope = (more: object): string => JSON.stringify({ jsonrpc: "2.0", id, ...more });
  return {
    method,
    params,
    response,
    result: (value) => void response.end(envelope({ result: value })),
    error: (code, message = "no") => void response.end(envelope({ error: { code, message } })),
    status: (code, headers = {}) => void response.writeHead(code, headers).end("no"),
    events(values, end = "end") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const value of values)
        response.write(`data: ${typeof value === "string" ? value : envelope({ result: value })}\n\n`);
      if (end === "end") response.end();
      if (end === "break") setTimeout(() => response.destroy(), 10);
    },
  };
}

export function task(state: string, more: object = {}): { task: object } {
  return { task: { id: "task-1", contextId: "theirs", status: { state: `TASK_STATE_${state}` }, ...more } };
}

export function statusUpdate(state: string, more: object = {}): object {
  return { statusUpdate: { taskId: "task-1", contextId: "theirs", status: { state: `TASK_STATE_${state}`, ...more } } };
}

export function artifact(text: string, append = false): object {
  return {
    artifactUpdate: { taskId: "task-1", contextId: "theirs", append, artifact: { artifactId: "a", parts: [{ text }] } },
  };
}

export function says(text: string): object {
  return { message: { messageId: `said-${text}`, role: "ROLE_AGENT", parts: [{ text }] } };
}
