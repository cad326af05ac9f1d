/** Pins as tools of an agent: what the server says is shown to the model, what the operator says decides what may be done. */
import { HoldfastError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { StandardSchema } from "../../domain/standard-schema.ts";
import { type EffectClass, type Tool, type ToolContext, type ToolOptions, tool } from "../../domain/tool.ts";
import type { Hash } from "../../ports/hash.ts";
import { callTool, type Wire } from "./call.ts";
import { toolName } from "./names.ts";
import type { McpServerOptions } from "./options.ts";
import type { McpHints, McpPin, McpPins } from "./pins.ts";

export interface CheckedSchema extends StandardSchema {
  problem(): Promise<string | undefined>;
}

export interface Making {
  readonly hash: Hash;
  readonly schemaOf: (schema: JsonObject) => CheckedSchema;
}

export interface MadeTools {
  readonly tools: readonly Tool[];
  /** Every schema that cannot be used, in words. */
  readonly problems: () => Promise<readonly string[]>;
}

export function makeTools(
  { tools: pins }: McpPins,
  wire: Wire,
  about: Making & { readonly options: McpServerOptions },
): MadeTools {
  const { hash, schemaOf, options } = about;
  refuseUnknown(pins, options);
  const made = pins.map((pin) => {
    const schema = schemaOf(pin.inputSchema);
    return { pin, schema, tool: makeTool({ pin, schema, hash, options }, wire) };
  });
  return {
    tools: made.map((each) => each.tool),
    async problems() {
      const found = await Promise.all(made.map(async ({ pin, schema }) => [pin.name, await schema.problem()] as const));
      return found.flatMap(([name, problem]) =>
        problem ? [`${name}: its input schema cannot be used: ${problem}`] : [],
      );
    },
  };
}

/** L9: what is said about a tool that is not there would be read by nobody. */
function refuseUnknown(pins: readonly McpPin[], { name: server, tools = {} }: McpServerOptions): void {
  const names = pins.map(({ name }) => name);
  const unknown = Object.keys(tools).filter((name) => !names.includes(name));
  if (unknown.length === 0) return;
  const problems = unknown.map(
    (name) => `tools.${name}: is no tool of the server; it has ${names.join(", ") || "none"}`,
  );
  throw new HoldfastError("mcp-tools-refused", `The tools of MCP server ${server} cannot be used`, { problems });
}

interface Made {
  readonly pin: McpPin;
  readonly schema: StandardSchema;
  readonly hash: Hash;
  readonly options: McpServerOptions;
}

function makeTool({ pin, schema, hash, options }: Made, wire: Wire): Tool {
  const given = options.tools?.[pin.name] ?? {};
  const hints = options.hints === "trust" ? pin.hints : {};
  const effect = given.effect ?? effectOf(hints);
  const needsApproval = given.needsApproval ?? options.needsApproval ?? hints.destructive === true;
  const timeoutMs = given.timeoutMs ?? wire.limits.timeoutMs;
  const whole: ToolOptions<StandardSchema, unknown> = {
    name: toolName(options.name, pin.name, hash),
    description: pin.description,
    version: pin.version,
    input: schema,
    effect,
    timeoutMs,
    ...(needsApproval ? { needsApproval } : {}),
    ...(given.approval ? { approval: given.approval } : {}),
    ...(given.onUnknown ? { onUnknown: given.onUnknown } : {}),
    execute: (input: unknown, context: ToolContext) =>
      callTool({ pin, input: input as JsonObject, context, effect, timeoutMs, approved: needsApproval }, wire),
  };
  return tool(whole) as Tool;
}

function effectOf({ readOnly, idempotent }: McpHints): Exclude<EffectClass, "transactional" | "child" | "handoff"> {
  if (readOnly) return "pure";
  return idempotent ? "idempotent" : "once";
}
