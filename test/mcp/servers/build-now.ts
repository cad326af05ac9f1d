/** A server on the current package. */
import { watchFile } from "node:fs";
import { inputRequired, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import {
  add,
  addDescription,
  crash,
  type Doing,
  environment,
  fail,
  inputs,
  log,
  picture,
  refund,
  work,
} from "./world.ts";

function doing(context: ServerContext): Doing {
  const { mcpReq } = context;
  const progressToken = mcpReq._meta?.progressToken;
  return {
    signal: mcpReq.signal,
    meta: { ...mcpReq._meta },
    async progress(progress, total) {
      if (progressToken === undefined) return;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total } });
    },
  };
}

/** With a file, the server tells its clients at once when `add` has become another tool. */
export function buildNow(changeFile?: string): McpServer {
  const server = new McpServer({ name: "now", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } } });
  const adding = server.registerTool(
    "add",
    { description: addDescription(), inputSchema: inputs.add, annotations: { readOnlyHint: true } },
    (input, context) => add(input, doing(context)),
  );
  if (changeFile) {
    const tell = (): void => adding.update({ description: addDescription() });
    watchFile(changeFile, { interval: 20, persistent: false }, tell);
  }
  server.registerTool("work", { description: "Works for a while", inputSchema: inputs.work }, (input, context) =>
    work(input, doing(context)),
  );
  server.registerTool(
    "crash",
    { description: "Ends the server", inputSchema: inputs.none, annotations: { destructiveHint: true } },
    () => crash(),
  );
  server.registerTool(
    "fail",
    { description: "Fails", inputSchema: inputs.none, annotations: { idempotentHint: true } },
    () => fail(),
  );
  server.registerTool("env", { description: "Its environment", inputSchema: inputs.none }, () => environment());
  server.registerTool("picture", { description: "A picture", inputSchema: inputs.none }, () => picture());
  server.registerTool("refund", { description: "Pays back", inputSchema: inputs.none }, () => refund());
  server.registerTool("roots", { description: "Where it may work", inputSchema: inputs.none }, (_input, context) => {
    const { inputResponses } = context.mcpReq;
    log("roots");
    if (!inputResponses) return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
    const { roots } = inputResponses.roots as { roots: { uri: string }[] };
    return { content: [{ type: "text" as const, text: roots.map(({ uri }) => uri).join(" ") }] };
  });
  server.registerResource("notes", "notes://today", { description: "Notes", mimeType: "text/plain" }, (uri) => {
    log("read notes");
    return { contents: [{ uri: uri.href, mimeType: "text/plain", text: "Buy milk" }] };
  });
  return server;
}
