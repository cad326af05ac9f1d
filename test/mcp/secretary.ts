/** An agent that calls `work` once, with its server. The same in every process. */
import { type Agent, agent } from "holdfast";
import { type McpServer, type McpServerOptions, type McpToolOptions, mcpServer } from "holdfast/mcp";
import { scripted } from "holdfast/testing";

export async function secretary(
  options: Pick<McpServerOptions, "stdio" | "http" | "pins"> & Pick<McpToolOptions, "effect">,
): Promise<{ agent: Agent; server: McpServer }> {
  const { effect = "once", ...where } = options;
  const server = mcpServer({ name: "w", ...where, tools: { work: { timeoutMs: 600, effect } } });
  const tools = where.pins ? server.tools() : await server.connect();
  const calls = [{ tool: "w__work", input: { steps: 50, ms: 10 } }];
  const model = scripted([{ calls }, "It is done."]);
  return { server, agent: agent({ name: "secretary", model, instructions: "Work.", tools }) };
}
