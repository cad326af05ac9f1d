/** One connection to a server, from the first byte to the list of its tools. What fails on the way leaves nothing behind. */
import { pathToFileURL } from "node:url";
import { Client, type PriorDiscovery, type StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { StandardSchema } from "../../domain/standard-schema.ts";
import { holdfastVersion } from "../../domain/version.ts";
import { createProgram, type ProgramTransport } from "./child-process.ts";
import { type Guarded, guard } from "./guard.ts";
import type { Hiding } from "./hide.ts";
import { createHttpTransport } from "./http-transport.ts";
import type { McpLimits } from "./limits.ts";
import type { McpServerOptions } from "./options.ts";
import { settleWithin } from "./within.ts";

export interface Opening {
  readonly options: McpServerOptions;
  readonly limits: McpLimits;
  readonly hiding: Hiding;
  /** The server says that its tools have changed. */
  readonly onListChanged: () => void;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

export interface Opened {
  readonly client: Client;
  readonly transport: Guarded;
  readonly listed: readonly unknown[];
  readonly isLegacy: boolean;
  /** Ends it; resolves when nothing of it is left. */
  close(): Promise<void>;
  /** Why it ended, in words. */
  why(): string;
}

/** A program that ends when it is asked something that it does not know is asked again in the old way. */
export async function openConnection(opening: Opening, isLegacy: boolean): Promise<Opened> {
  const program = opening.options.stdio !== undefined;
  try {
    return await openOnce(opening, program && isLegacy ? { kind: "legacy" } : undefined);
  } catch (failed) {
    if (!program || isLegacy || !(failed instanceof EndedWhileAsked)) throw failed;
    return await openOnce(opening, { kind: "legacy" });
  }
}

class EndedWhileAsked extends Error {}

async function openOnce(opening: Opening, prior: PriorDiscovery | undefined): Promise<Opened> {
  const { options, limits, hiding } = opening;
  const { transport, program } = transportFor(options, limits);
  const client = clientFor(opening);
  let problem = "";
  client.onerror = (error) => {
    problem = hiding.words(error);
  };
  const stderr = (): string => (program?.stderr ? `; it wrote: ${hiding.words(program.stderr.trim())}` : "");
  const why = (): string => (transport.broken ?? (problem || "the connection was closed")) + stderr();
  const steps = async (): Promise<readonly unknown[]> => {
    await client.connect(transport, { timeout: limits.connectMs, ...(prior ? { prior } : {}) });
    return client.getServerCapabilities()?.tools ? await listTools(client, limits) : [];
  };
  const within = await settleWithin(steps(), limits.connectMs, opening.signal);
  if (within.kind === "value") {
    const isLegacy = client.getProtocolEra() === "legacy";
    return { client, transport, listed: within.value, isLegacy, why, close: () => closeBoth(client, transport) };
  }
  const hasEnded = program?.hasEnded === true;
  if (within.kind === "late") program?.kill();
  await closeBoth(client, transport);
  if (opening.signal.aborted) throw new Error("it was closed");
  if (within.kind === "late") throw new Error(`it was not ready within ${limits.connectMs} ms${stderr()}`);
  const said = (transport.broken ?? hiding.words(spawnWords(within.cause))) + stderr();
  throw hasEnded && !prior ? new EndedWhileAsked(said) : new Error(said);
}

/** Node's own error carries the arguments, which may hold a key. */
function spawnWords(cause: unknown): unknown {
  const { code, syscall } = (cause ?? {}) as { code?: unknown; syscall?: unknown };
  return typeof syscall === "string" && syscall.startsWith("spawn")
    ? `the program cannot be started (${String(code)})`
    : cause;
}

interface Made {
  readonly transport: Guarded;
  readonly program?: ProgramTransport;
}

function transportFor({ stdio, http }: McpServerOptions, limits: McpLimits): Made {
  const { messagesPerSecond, messageBytes } = limits;
  if (http) {
    const inner = createHttpTransport(http, messageBytes);
    const kill = (): void => void inner.close().catch(() => undefined);
    return { transport: guard(inner, { messagesPerSecond, kill, close: () => leave(inner, limits.closeMs) }) };
  }
  const program = createProgram(stdio ?? { command: "" }, limits);
  const ends = { kill: () => program.kill(), close: () => program.close() };
  return { program, transport: guard(program, { messagesPerSecond, ...ends }) };
}

/** A server that keeps a session for us is told that it need not. */
async function leave(inner: StreamableHTTPClientTransport, withinMs: number): Promise<void> {
  if (inner.sessionId !== undefined) await settleWithin(inner.terminateSession(), withinMs);
  await inner.close();
}

function clientFor({ options, limits, onListChanged }: Opening): Client {
  const { roots } = options;
  const client = new Client(
    { name: "holdfast", version: holdfastVersion },
    {
      capabilities: roots ? { roots: {} } : {},
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.max(1, Math.floor(limits.connectMs / 2)) } },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onListChanged } },
    },
  );
  if (roots) client.setRequestHandler("roots/list", () => ({ roots: roots.map((root) => ({ uri: rootUri(root) })) }));
  return client;
}

function rootUri(root: string): string {
  return root.startsWith("file://") ? root : pathToFileURL(root).href;
}

async function closeBoth(client: Client, transport: Guarded): Promise<void> {
  await client.close().catch(() => undefined);
  await transport.close().catch(() => undefined);
}

const mostPages = 100;
/** The list is looked at tool by tool, with words for each problem; the protocol package would refuse it whole. */
const anything: StandardSchema<unknown, { readonly tools?: unknown; readonly nextCursor?: unknown }> = {
  "~standard": { version: 1, vendor: "holdfast", validate: (value) => ({ value: (value ?? {}) as object }) },
};

export async function listTools(client: Client, limits: McpLimits): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: "tools/list", params }, anything, { timeout: limits.connectMs });
    if (!Array.isArray(answer.tools)) throw new Error("it answered tools/list with something that is no list");
    all.push(...(answer.tools as unknown[]));
    if (all.length > limits.tools * 10) throw new Error(`it lists more than ${limits.tools * 10} tools`);
    if (typeof answer.nextCursor !== "string") return all;
    cursor = answer.nextCursor;
  }
  throw new Error(`its list of tools does not end after ${mostPages} pages`);
}
