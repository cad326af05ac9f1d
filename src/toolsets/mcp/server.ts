/**
 * An MCP server as a source of tools. What agents are defined with is data (pins) and stays the same as long as this object
 * lives; the connection belongs to the process and comes and goes.
 */
import { HoldfastError } from "../../domain/errors.ts";
import { messageOf } from "../../domain/json.ts";
import type { Tool } from "../../domain/tool.ts";
import type { Wire } from "./call.ts";
import { createConnection } from "./connection.ts";
import { hidingOf, placeOf } from "./hide.ts";
import { createListing } from "./listing.ts";
import { type MadeTools, type Making, makeTools } from "./make-tools.ts";
import { checkOptions, type McpServerOptions } from "./options.ts";
import { checkPins, type McpPins, pinTools } from "./pins.ts";
import { listResources, type McpResource, readResource, resourceTools, resultsOf } from "./resources.ts";
import { type McpResult, readResult } from "./result.ts";
import { createSlots } from "./slots.ts";
import type { McpStatus } from "./status.ts";

export interface McpServer {
  readonly name: string;
  /**
   * Reaches the server and takes its tools, unless pins were given: then it is only checked against them. Refused when it
   * cannot be reached, when its tools cannot be used, or when they are not the pinned ones.
   */
  connect(): Promise<readonly Tool[]>;
  /** For `agent({ tools })`. Known after connect(), or at once with pins. */
  tools(): readonly Tool[];
  /** The same as data, to be written down: `mcpServer({ …, pins })`. */
  pins(): McpPins;
  status(): McpStatus;
  resources(): Promise<readonly McpResource[]>;
  readResource(uri: string): Promise<McpResult>;
  /** Ends the connection and everything that was started. Calls that are with the server are lost. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function createMcpServer(options: McpServerOptions, making: Making): McpServer {
  const limits = checkOptions(options);
  const { name, only } = options;
  const hiding = hidingOf(options);
  let pins = options.pins ? checkPins(options.pins, { server: name, hash: making.hash }) : undefined;
  let made: MadeTools | undefined;

  const listing = createListing({
    limits,
    hash: making.hash,
    trusted: options.hints === "trust",
    pins: () => pins,
    onChange: tellStatus,
  });
  const connection = createConnection({
    options,
    limits,
    hiding,
    onOpened: listing.opened,
    onListChanged: listing.changed,
    onChange: tellStatus,
  });
  const wire: Wire = { server: name, connection, listing, slots: createSlots(limits.concurrency), limits, hiding };
  const never = new AbortController().signal;

  function status(): McpStatus {
    return { server: name, ...connection.state(), changed: listing.drift() };
  }

  function tellStatus(): void {
    try {
      options.onStatus?.(status());
    } catch {
      return; // whoever only looks cannot stop the connection
    }
  }

  function make(taken: McpPins): MadeTools {
    const own = options.resources ? resourceTools(wire, making.schemaOf) : [];
    const { tools, problems } = makeTools(taken, wire, { ...making, options });
    const names = tools.map(({ spec }) => spec.name);
    const twice = own
      .filter(({ spec }) => names.includes(spec.name))
      .map(({ spec }) => `two tools would be called ${spec.name}`);
    refuse("mcp-tools-refused", twice);
    return { tools: [...tools, ...own], problems };
  }

  function refuse(code: "mcp-tools-refused" | "mcp-tools-changed", problems: readonly string[]): void {
    if (problems.length === 0) return;
    const what = code === "mcp-tools-changed" ? "are not what was pinned" : "cannot be used";
    throw new HoldfastError(code, `The tools of MCP server ${name} ${what}`, { problems });
  }

  async function reached(): Promise<readonly unknown[]> {
    try {
      return (await connection.open()).listed;
    } catch (cause) {
      const where = hiding.words(placeOf(options));
      throw new HoldfastError(
        "mcp-unreachable",
        `MCP server ${name} (${where}) cannot be used: ${hiding.words(messageOf(cause))}`,
      );
    }
  }

  async function take(): Promise<readonly Tool[]> {
    const listed = await reached();
    const taken = pins ?? pinTools(listed, { server: name, only, mostTools: limits.tools, hash: making.hash });
    const tools = made ?? make(taken);
    refuse("mcp-tools-refused", await tools.problems());
    pins = taken;
    made = tools;
    listing.pinned();
    refuse("mcp-tools-changed", listing.drift());
    return made.tools;
  }

  if (pins) made = make(pins);

  return {
    name,
    async connect() {
      try {
        return await take();
      } catch (cause) {
        if (!made) await connection.rest(); // nothing can be done with it, so no program is left behind
        throw cause;
      }
    },
    tools() {
      if (made) return made.tools;
      throw notYet(name);
    },
    pins() {
      if (pins) return pins;
      throw notYet(name);
    },
    status,
    resources: () => listResources(wire, never),
    readResource: async (uri) => readResult(await readResource(uri, wire, never), resultsOf(wire)).value,
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

function notYet(name: string): HoldfastError {
  return new HoldfastError(
    "mcp-unreachable",
    `The tools of MCP server ${name} are not known yet: await connect(), or give pins`,
  );
}
