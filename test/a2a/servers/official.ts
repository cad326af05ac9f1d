/**
 * An A2A agent on the official package, as a process of its own. Its tasks are in a folder, so that it can be killed and
 * started again; what it has done is in a log of its own. What it does is what the message says.
 *
 * FOLDER where tasks and log are; PORT 0 for any; VERSION 1.0 or 0.3; BINDING JSONRPC or HTTP+JSON; STREAMING yes or no.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SendMessageRequest, StreamResponse, Task, TaskState } from "@a2a-js/sdk";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { restStatusFor, toRestErrorBody } from "@a2a-js/sdk/errors";
import { DefaultRequestHandler, JsonRpcTransportHandler, ServerCallContext, type TaskStore } from "@a2a-js/sdk/server";
import { createActor } from "./actor.ts";

const { FOLDER = ".", PORT = "0", VERSION = "1.0", BINDING = "JSONRPC", STREAMING = "yes" } = process.env;
const folder = join(FOLDER, "tasks");
mkdirSync(folder, { recursive: true });
const log = (line: string): void => appendFileSync(join(FOLDER, "log"), `${line}\n`);

const taskFile = (id: string): string => join(folder, `${encodeURIComponent(id)}.json`);
const readTask = (file: string): Task => Task.fromJSON(JSON.parse(readFileSync(file, "utf8")));
const store: TaskStore = {
  async save(task) {
    if (!existsSync(taskFile(task.id))) log(`task ${task.id} ${task.history[0]?.messageId}`);
    writeFileSync(`${taskFile(task.id)}.new`, JSON.stringify(Task.toJSON(task)));
    renameSync(`${taskFile(task.id)}.new`, taskFile(task.id));
  },
  load: async (id) => (existsSync(taskFile(id)) ? readTask(taskFile(id)) : undefined),
  async list({ contextId }) {
    const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
    const tasks = files.map((name) => readTask(join(folder, name))).filter((task) => task.contextId === contextId);
    return { tasks, nextPageToken: "", pageSize: 50, totalSize: tasks.length };
  },
};

const streaming = STREAMING === "yes";
const server = createServer((request, response) => {
  // The package ends an older stream of a task by an error when the task is continued.
  answer(request, response).catch((error: unknown) => {
    log(`error ${error}`);
    response.destroy();
  });
});
server.listen(Number(PORT), "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));

function agentCard(): object {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a2a`;
  const common = {
    name: "official",
    description: "Does what it is told",
    version: "1",
    capabilities: { streaming, extensions: [] },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  };
  if (VERSION === "0.3") return { ...common, protocolVersion: "0.3.0", url, preferredTransport: "JSONRPC" };
  const supportedInterfaces = [{ url, protocolBinding: BINDING, protocolVersion: VERSION, tenant: "" }];
  return { ...common, supportedInterfaces, securitySchemes: {}, securityRequirements: [], signatures: [] };
}

const handler = new DefaultRequestHandler(
  { capabilities: { streaming, extensions: [] }, supportedInterfaces: [] } as never,
  store,
  createActor(log, FOLDER),
);
const rpc = VERSION === "0.3" ? new LegacyJsonRpcTransportHandler(handler) : new JsonRpcTransportHandler(handler);

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? "/", "http://a").pathname;
  if (path === "/.well-known/agent-card.json") {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(agentCard()));
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const context = new ServerCallContext({ requestedVersion: VERSION });
  const work = BINDING === "JSONRPC" ? rpc.handle(body, context) : rest(path.replace("/a2a", ""), body, context);
  const result = await work.catch((error: unknown) => ({
    status: restStatusFor(error),
    body: toRestErrorBody(error, restStatusFor(error)),
  }));
  if (Symbol.asyncIterator in result) return tell(response, result as AsyncIterable<unknown>);
  const { status = 200, body: json = result } = result as { status?: number; body?: unknown };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
}

/** Goes on to the end also when nobody listens any more: the package writes tasks down while they are read. */
async function tell(response: ServerResponse, events: AsyncIterable<unknown>): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for await (const event of events) {
    if (!response.destroyed) response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

async function rest(path: string, body: string, context: ServerCallContext): Promise<object> {
  const [, id, verb] = /^\/tasks\/([^:]+)(:cancel)?$/.exec(path) ?? [];
  if (path === "/message:stream") return streamed(handler.sendMessageStream(sent(body), context));
  if (path === "/message:send") {
    const result = await handler.sendMessage(sent(body), context);
    return { body: "messageId" in result ? { message: result } : { task: Task.toJSON(result) } };
  }
  if (id === undefined) return { body: { tasks: [] } };
  const task = verb
    ? await handler.cancelTask({ tenant: "", id, metadata: undefined }, context)
    : await handler.getTask({ tenant: "", id }, context);
  return { body: Task.toJSON(task) };
}

function sent(body: string): SendMessageRequest {
  return SendMessageRequest.fromJSON(JSON.parse(body));
}

async function* streamed(events: AsyncIterable<StreamResponse>): AsyncGenerator<unknown> {
  for await (const event of events) yield StreamResponse.toJSON(event);
}

log(`started ${TaskState.TASK_STATE_WORKING}`);
