/** The other side, reached: its card checked, and each of the protocol's requests as one call that fails in our terms. */
import type { AgentCard, Message, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { backendError } from "../../domain/backend/backend-error.ts";
import { isHoldfastError } from "../../domain/errors.ts";
import { createSafeFetch, type SafeFetch } from "../../platform/safe-fetch/safe-fetch.ts";
import { checkCard } from "./card.ts";
import { type Note, readFailure } from "./failure.ts";
import { type A2aSettings, wireBytes } from "./options.ts";

export interface Remote {
  readonly streaming: boolean;
  send(request: SendMessageRequest, signal: AbortSignal): Promise<Message | Task>;
  stream(request: SendMessageRequest, signal: AbortSignal): AsyncGenerator<StreamResponse, void, undefined>;
  get(task: string, signal: AbortSignal): Promise<Task>;
  list(context: string, signal: AbortSignal): Promise<readonly Task[]>;
  cancel(task: string, signal: AbortSignal): Promise<void>;
}

/** For a question about a task. A message may take as long as the turn, for some servers answer only when it is done. */
const askMs = 30_000;

/** Reads the card once; one that could not be read is asked for again by the next turn. */
export function createReach(settings: A2aSettings): (signal: AbortSignal) => Promise<Remote> {
  const fetches = openFetches(settings);
  let card: AgentCard | undefined;
  return async (signal) => {
    card ??= checkCard(await fetchCard(fetches.ask, settings, signal), settings);
    return createRemote(card, settings, fetches);
  };
}

interface Fetches {
  readonly ask: SafeFetch;
  readonly send: SafeFetch;
}

function openFetches({ rules, timeoutMs }: A2aSettings): Fetches {
  const limits = { bytes: wireBytes, streamBytes: 16 * wireBytes, timeoutMs: Math.min(askMs, timeoutMs) };
  return {
    ask: createSafeFetch({ ...rules, limits }),
    send: createSafeFetch({ ...rules, limits: { ...limits, timeoutMs } }),
  };
}

async function fetchCard(ask: SafeFetch, settings: A2aSettings, signal: AbortSignal): Promise<unknown> {
  const { card, auth } = settings;
  let status: number | undefined;
  try {
    const headers = { ...auth, accept: "application/json", "a2a-version": "1.0" };
    const response = await ask(card, { headers, signal });
    ({ status } = response);
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    const why = isHoldfastError(cause) ? cause.message : "it is no JSON";
    const more = isHoldfastError(cause) ? { cause } : {};
    throw backendError("backend-remote-error", `the agent card could not be read: ${settings.hide(why)}`, more);
  }
  const where = `${card.origin}${card.pathname}`;
  const code = status === 404 ? "backend-agent-not-found" : "backend-remote-error";
  throw backendError(code, `the agent card could not be read: ${where} answered with status ${status}`);
}

function createRemote(card: AgentCard, settings: A2aSettings, fetches: Fetches): Remote {
  const call = async <T>(by: SafeFetch, signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T> => {
    const note: Note = {};
    try {
      return await work(await openClient(card, noting(by, settings.auth, note)));
    } catch (error) {
      throw signal.aborted ? signal.reason : readFailure(error, note, settings.hide);
    }
  };
  return {
    streaming: card.capabilities?.streaming === true,
    send: (request, signal) => call(fetches.send, signal, (client) => client.sendMessage(request, { signal })),
    async *stream(request, signal) {
      const note: Note = {};
      try {
        const client = await openClient(card, noting(fetches.send, settings.auth, note));
        yield* client.sendMessageStream(request, { signal });
      } catch (error) {
        throw signal.aborted ? signal.reason : readFailure(error, note, settings.hide);
      }
    },
    get: (id, signal) => call(fetches.ask, signal, (client) => client.getTask({ tenant: "", id }, { signal })),
    list: (context, signal) => call(fetches.ask, signal, (client) => listed(client, context, signal)),
    cancel: (id, signal) =>
      call(fetches.ask, signal, async (client) => {
        await client.cancelTask({ tenant: "", id, metadata: undefined }, { signal });
      }),
  };
}

/** The newest page: a context of ours is one run's thread, and the task sought is its latest. */
async function listed(client: Client, contextId: string, signal: AbortSignal): Promise<readonly Task[]> {
  const page = { tenant: "", contextId, status: 0, pageSize: 50, pageToken: "", statusTimestampAfter: undefined };
  const { tasks } = await client.listTasks(page, { signal });
  return tasks;
}

/** One for each request: the notes of two never meet. */
function openClient(card: AgentCard, fetchImpl: typeof fetch): Promise<Client> {
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromAgentCard(card);
}

/** The package's fetch is ours (no request leaves by another way), with the endpoint's credentials. */
function noting(by: SafeFetch, auth: Readonly<Record<string, string>>, note: Note): typeof fetch {
  return async (input, init) => {
    const { method = "GET", headers, body, signal } = init ?? {};
    if (input instanceof Request || (body !== undefined && body !== null && typeof body !== "string")) {
      throw new TypeError("The protocol package sends something else than text");
    }
    try {
      const response = await by(input, {
        method,
        headers: { ...Object.fromEntries(new Headers(headers)), ...auth },
        ...(typeof body === "string" ? { body } : {}),
        ...(signal ? { signal } : {}),
      });
      if (!response.ok) note.status = response.status;
      return response;
    } catch (error) {
      note.error = error;
      throw error;
    }
  };
}
