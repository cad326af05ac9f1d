/** The resources of a server: what it has to read. Reading is by the protocol's rules without effect, so it may be repeated. */
import type { Client } from "@modelcontextprotocol/client";
import { ToolFailure } from "../../domain/errors.ts";
import { type JsonObject, messageOf } from "../../domain/json.ts";
import { type Tool, tellModel, tool } from "../../domain/tool.ts";
import type { Wire } from "./call.ts";
import type { CheckedSchema } from "./make-tools.ts";
import { contentsAsAnswer, type Reading, readOutcome } from "./result.ts";

export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mediaType?: string;
}

const mostListed = 1_000;

export async function listResources(wire: Wire, signal: AbortSignal): Promise<readonly McpResource[]> {
  const clean = (text: string): string => wire.hiding.result(text.slice(0, 2_000).toWellFormed());
  const found = await reading(wire, signal, async (client, options) => {
    if (!client.getServerCapabilities()?.resources) return [];
    return (await client.listResources(undefined, { ...options, cacheMode: "bypass" })).resources;
  });
  return found.slice(0, mostListed).map(({ uri, name, description, mimeType }) => ({
    uri: clean(uri),
    name: clean(name),
    ...(description === undefined ? {} : { description: clean(description) }),
    ...(mimeType === undefined ? {} : { mediaType: clean(mimeType) }),
  }));
}

/** As an answer with parts; how large it may be is for whoever reads it. */
export async function readResource(uri: string, wire: Wire, signal: AbortSignal): Promise<unknown> {
  return contentsAsAnswer(
    await reading(wire, signal, (client, options) => client.readResource({ uri }, { ...options, cacheMode: "bypass" })),
  );
}

export function resultsOf({ limits, hiding }: Wire): Reading {
  return { maxBytes: limits.resultBytes, clean: (text) => hiding.result(text) };
}

interface Asking {
  readonly signal: AbortSignal;
  readonly timeout: number;
}

type Ask<T> = (client: Client, options: Asking) => Promise<T>;

async function reading<T>(wire: Wire, signal: AbortSignal, ask: Ask<T>): Promise<T> {
  const { server, connection, limits, hiding, slots } = wire;
  const leave = await slots.take(limits.waitMs, signal);
  try {
    if (!leave) throw new Error(`${limits.concurrency} calls are with the server already`);
    const { client } = await connection.ready(limits.waitMs, signal);
    return await ask(client, { signal, timeout: limits.timeoutMs });
  } catch (cause) {
    throw new ToolFailure(`MCP server ${server} could not be read: ${hiding.words(messageOf(cause))}`);
  } finally {
    leave?.();
  }
}

/** For a model that may look for itself. Their names are ours, so the server cannot change what they are. */
export function resourceTools(wire: Wire, schemaOf: (schema: JsonObject) => CheckedSchema): readonly Tool[] {
  const { server, limits } = wire;
  const common = { effect: "pure", timeoutMs: limits.timeoutMs + 2 * limits.waitMs } as const;
  const list = tool({
    ...common,
    name: `${server}__list_resources`,
    description: `Lists what can be read of ${server}, with the uri of each.`,
    input: schemaOf({ type: "object", properties: {}, additionalProperties: false }),
    execute: async (_input, { signal }) => {
      const found = await listResources(wire, signal);
      const words = found.map(({ uri, name, description }) => `${uri} ${name}${description ? `: ${description}` : ""}`);
      return tellModel(found, words.join("\n") || "There are none");
    },
  });
  const read = tool({
    ...common,
    name: `${server}__read_resource`,
    description: `Reads one resource of ${server}.`,
    input: schemaOf({
      type: "object",
      properties: { uri: { type: "string" } },
      required: ["uri"],
      additionalProperties: false,
    }),
    execute: async (input, { signal }) =>
      readOutcome(await readResource((input as { uri: string }).uri, wire, signal), resultsOf(wire)),
  });
  return [list, read] as readonly Tool[];
}
