// An agent of somebody else, on the official A2A package: it refunds orders, and asks before it does.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AgentCard, Role, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from "@a2a-js/sdk/server";

const refunds: AgentExecutor = {
  async execute({ userMessage, task, taskId, contextId }, bus) {
    const say = (state: TaskState, text: string): void => {
      const parts = [
        {
          content: { $case: "text" as const, value: text },
          metadata: undefined,
          filename: "",
          mediaType: "text/plain",
        },
      ];
      const about = { taskId, contextId, metadata: undefined };
      const ids = { messageId: crypto.randomUUID(), role: Role.ROLE_AGENT, extensions: [], referenceTaskIds: [] };
      const status = { state, message: { ...about, ...ids, parts }, timestamp: new Date().toISOString() };
      bus.publish(AgentEvent.statusUpdate({ ...about, status }));
    };
    const working = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: new Date().toISOString() };
    const history = [...(task?.history ?? []), userMessage];
    bus.publish(
      AgentEvent.task({ id: taskId, contextId, status: working, artifacts: [], history, metadata: undefined }),
    );
    if (task === undefined) say(TaskState.TASK_STATE_INPUT_REQUIRED, "Refund order 42, $80?");
    else say(TaskState.TASK_STATE_COMPLETED, "Order 42 is refunded.");
  },
  async cancelTask(taskId, bus) {
    const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: "", status, metadata: undefined }));
  },
};

export interface Refunds {
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startRefunds(): Promise<Refunds> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const card = {
    name: "refunds",
    description: "Refunds orders",
    version: "1",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" }],
    capabilities: { streaming: false, extensions: [] },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  } as unknown as AgentCard;
  const rpc = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), refunds));
  server.on("request", async (request, response) => {
    if (request.method === "GET") {
      response.end(JSON.stringify(card));
      return;
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    response.end(JSON.stringify(await rpc.handle(body, new ServerCallContext({ requestedVersion: "1.0" }))));
  });
  return {
    url,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
