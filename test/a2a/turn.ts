/** Turns as the engine makes them. */
import { agent } from "holdfast";
import { type A2aEndpoint, a2a } from "holdfast/a2a";
import type { RemoteTask } from "../../src/domain/backend/result.ts";
import type { MessageId, RunId, ThreadId } from "../../src/domain/ids.ts";
import type { RemoteBackend, RemoteTurn } from "../../src/ports/backend.ts";

export function endpointAt(baseUrl: string, more: Partial<A2aEndpoint> = {}): A2aEndpoint {
  const options = { privateRanges: ["127.0.0.1"], pollInterval: 20, ...more.options };
  return { baseUrl, timeout: 10_000, ...more, options };
}

export function backendAt(baseUrl: string, more: Partial<A2aEndpoint> = {}): RemoteBackend {
  return a2a(endpointAt(baseUrl, more)).build();
}

let made = 0;

export interface Asked extends RemoteTurn {
  readonly tasks: RemoteTask[];
}

/** A turn that says `text`, with ids of its own. */
export function turn(text: string, more: Partial<RemoteTurn> = {}): Asked {
  made += 1;
  return turnOf(`m-${made}`, text, more);
}

export function turnOf(id: string, text: string, more: Partial<RemoteTurn> = {}): Asked {
  const tasks: RemoteTask[] = [];
  const message = id as MessageId;
  const said = { id: message, role: "user", parts: [{ type: "text", text }], visibility: "all" } as const;
  return {
    agent: "far",
    identity: { run: `run-${id}` as RunId, thread: `t-${id}` as ThreadId, agent: "far" } as RemoteTurn["identity"],
    message,
    context: `context-${id}`,
    step: 1,
    attempt: 1,
    messages: [said],
    newMessages: [said],
    text,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    onTask: async (task) => void tasks.push(task),
    ...more,
    tasks,
  };
}

/** The next turn of the same task. */
export function reply(to: Asked, text: string, answers: "input" | "auth" = "input"): Asked {
  const [task] = to.tasks;
  if (task === undefined) throw new Error("there is no task to continue");
  return turn(text, { context: to.context, task, answers });
}

/** An agent of ours whose runs execute there. */
export function farAgent(url: string, more: Partial<A2aEndpoint> = {}): ReturnType<typeof agent> {
  return agent({ name: "far", backend: a2a(endpointAt(url, more)) });
}
