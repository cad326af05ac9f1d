import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { ServerNotification, ServerRequest } from "@modelcontextprotocol/sdk/types.js";
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

function doing(extra: RequestHandlerExtra<ServerRequest, ServerNotification>): Doing {
  const progressToken = extra._meta?.progressToken;
  return {
    signal: extra.signal,
    meta: { ...extra._meta },
    async progress(progress, total) {
      if (progressToken === undefined) return;
      await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress, total } });
    },
  };
}

export function buildBefore(): McpServer {
  const server = new McpServer({ name: "before", version: "1.0.0" });
  server.registerTool("add", { description: addDescription(), inputSchema: inputs.add.shape }, (input, extra) =>
    add(input, doing(extra)),
  );
  server.registerTool("work", { description: "Works for a while", inputSchema: inputs.work.shape }, (input, extra) =>
    work(input, doing(extra)),
  );
  server.registerTool("crash", { description: "Ends the server" }, () => crash());
  server.registerTool("fail", { description: "Fails" }, () => fail());
  server.registerTool("env", { description: "Its environment" }, () => environment());
  server.registerTool("picture", { description: "A picture" }, () => picture());
  server.registerTool("refund", { description: "Pays back" }, () => refund());
  server.registerTool("roots", { description: "Where it may work" }, async () => {
    const { roots } = await server.server.listRoots();
    return { content: [{ type: "text" as const, text: roots.map(({ uri }) => uri).join(" ") }] };
  });
  server.registerResource("notes", "notes://today", { description: "Notes", mimeType: "text/plain" }, (uri) => {
    log("read notes");
    return { contents: [{ uri: uri.href, mimeType: "text/plain", text: "Buy milk" }] };
  });
  return server;
}
