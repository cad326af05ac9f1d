/**
 * Tools as a server described them when somebody looked: data, to be written down, compared and bound to.
 *
 * P1 A pin's version is the hash of all that a model or a person is shown of the tool: name, description, schema. It is the
 *    version of the tool in the manifest.
 * P2 A list with anything wrong in it is refused whole, with every problem: a server that lies about one tool is not
 *    taken at its word about the others. What is not in `only` is not looked at.
 */
import { HoldfastError } from "../../domain/errors.ts";
import { type JsonObject, type JsonValue, toJson } from "../../domain/json.ts";
import type { Hash } from "../../ports/hash.ts";
import { toolName } from "./names.ts";

export interface McpHints {
  readonly readOnly?: boolean;
  readonly idempotent?: boolean;
  readonly destructive?: boolean;
}

export interface McpPin {
  /** As the server calls it. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly hints: McpHints;
  readonly version: string;
}

export interface McpPins {
  readonly format: 1;
  readonly server: string;
  readonly tools: readonly McpPin[];
}

const longestDescription = 16 * 1024;
const largestSchema = { maxBytes: 128 * 1024, maxDepth: 48 };
const longestName = 256;

/** P1. */
export function versionOf(tool: Pick<McpPin, "name" | "description" | "inputSchema">, hash: Hash): string {
  const { name, description, inputSchema } = tool;
  return hash.sha256(hash.canonical({ name, description, inputSchema })).slice(0, 32);
}

export interface Listing {
  readonly server: string;
  readonly only: readonly string[] | undefined;
  readonly mostTools: number;
  readonly hash: Hash;
}

/** P2. What a server listed, as pins. */
export function pinTools(listed: readonly unknown[], listing: Listing): McpPins {
  const { server, only, mostTools, hash } = listing;
  const problems: string[] = [];
  const taken = listed.filter((tool) => !only || only.includes((tool as { name?: unknown } | null)?.name as string));
  if (taken.length > mostTools) {
    problems.push(`it has ${taken.length} tools, the limit is ${mostTools}; choose some with \`only\``);
  }
  const tools = taken.slice(0, mostTools).flatMap((tool, index) => readTool(tool, { index, problems, hash }));
  for (const name of only ?? []) {
    if (!tools.some((tool) => tool.name === name)) problems.push(`only: it has no tool ${JSON.stringify(name)}`);
  }
  problems.push(...doubles(tools.map(({ name }) => name)).map((name) => `it has two tools called ${name}`));
  problems.push(...collisions(tools, listing));
  refuseProblems(server, problems);
  return { format: 1, server, tools };
}

/** One listed tool, or nothing if it cannot be read. */
export function readListed(tool: unknown, hash: Hash): McpPin | undefined {
  return readTool(tool, { index: 0, problems: [], hash })[0];
}

interface Reading {
  readonly index: number;
  readonly problems: string[];
  readonly hash: Hash;
}

function readTool(given: unknown, { index, problems, hash }: Reading): readonly McpPin[] {
  const { name, description, title, inputSchema, annotations } = (given ?? {}) as Record<string, unknown>;
  if (typeof name !== "string" || name === "" || name.length > longestName || !name.isWellFormed()) {
    problems.push(`tool ${index} has no name of 1 to ${longestName} characters`);
    return [];
  }
  const said = typeof description === "string" && description !== "" ? description : title;
  const words = typeof said === "string" && said !== "" ? said : `The tool ${name}`;
  if (words.length > longestDescription)
    problems.push(`${name}: its description is over ${longestDescription} characters`);
  const schema = toJson(inputSchema, largestSchema);
  if (!schema.ok) problems.push(`${name}: its input schema cannot be taken: ${schema.problem} at ${schema.path}`);
  else if (!isObjectSchema(schema.value)) problems.push(`${name}: its input schema is not that of an object`);
  else {
    const tool = { name, description: words.toWellFormed(), inputSchema: schema.value };
    return [{ ...tool, hints: readHints(annotations), version: versionOf(tool, hash) }];
  }
  return [];
}

function isObjectSchema(schema: JsonValue): schema is JsonObject {
  return (
    typeof schema === "object" &&
    schema !== null &&
    !Array.isArray(schema) &&
    "type" in schema &&
    schema.type === "object"
  );
}

function readHints(annotations: unknown): McpHints {
  const { readOnlyHint, idempotentHint, destructiveHint } = (annotations ?? {}) as Record<string, unknown>;
  return {
    ...(typeof readOnlyHint === "boolean" ? { readOnly: readOnlyHint } : {}),
    ...(typeof idempotentHint === "boolean" ? { idempotent: idempotentHint } : {}),
    ...(typeof destructiveHint === "boolean" ? { destructive: destructiveHint } : {}),
  };
}

function doubles(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

/** Two names of the server that would be one name of ours. */
function collisions(tools: readonly McpPin[], { server, hash }: Listing): readonly string[] {
  const names = [...new Set(tools.map(({ name }) => name))];
  return doubles(names.map((name) => toolName(server, name, hash))).map(
    (name) => `two of its tools would be called ${name}`,
  );
}

function refuseProblems(server: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new HoldfastError("mcp-tools-refused", `The tools of MCP server ${server} cannot be used`, { problems });
}

/** Pins that were written down; one that was changed by hand no longer has its version. */
export function checkPins(pins: McpPins, { server, hash }: Pick<Listing, "server" | "hash">): McpPins {
  const problems: string[] = [];
  const tools: readonly Partial<McpPin>[] = Array.isArray(pins?.tools) ? pins.tools : [];
  if (pins?.format !== 1 || !Array.isArray(pins.tools)) problems.push("pins: must come from server.pins()");
  else if (pins.server !== server) problems.push(`pins: are those of server ${pins.server}`);
  const read = tools.flatMap((tool, index) => {
    const annotations = Object.fromEntries(Object.entries(tool?.hints ?? {}).map(([hint, is]) => [`${hint}Hint`, is]));
    return readTool({ ...tool, annotations }, { index, problems, hash });
  });
  for (const { name, version } of read) {
    const written = tools.find((tool) => tool.name === name)?.version;
    if (written !== version) problems.push(`pins: ${name} is not what its version ${String(written)} stands for`);
  }
  problems.push(...doubles(read.map(({ name }) => name)).map((name) => `pins: ${name} is there twice`));
  refuseProblems(server, problems);
  return { format: 1, server, tools: read };
}
