/** The MCP client's door: `import { mcpServer } from "holdfast/mcp"`. Apart from the others, for it needs the protocol's package. */
import { foreignSchema } from "./platform/foreign-schema.ts";
import { nodeHash } from "./platform/node-hash.ts";
import type { McpServerOptions } from "./toolsets/mcp/options.ts";
import { createMcpServer, type McpServer } from "./toolsets/mcp/server.ts";

export type { McpLimits } from "./toolsets/mcp/limits.ts";
export type { McpHttp, McpServerOptions, McpStdio, McpToolOptions } from "./toolsets/mcp/options.ts";
export type { McpHints, McpPin, McpPins } from "./toolsets/mcp/pins.ts";
export type { McpResource } from "./toolsets/mcp/resources.ts";
export type { McpPart, McpResult } from "./toolsets/mcp/result.ts";
export type { McpServer } from "./toolsets/mcp/server.ts";
export type { McpStatus } from "./toolsets/mcp/status.ts";

/** A server whose tools agents can use. Nothing is started before `connect()` or, with pins, before the first call. */
export function mcpServer(options: McpServerOptions): McpServer {
  return createMcpServer(options, { hash: nodeHash, schemaOf: foreignSchema });
}
