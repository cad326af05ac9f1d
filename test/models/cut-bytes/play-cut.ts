/** One run whose first reply is cut, watched from its beginning, and everything that can be said of it afterwards. */
import { expect } from "vitest";
import { z } from "zod";
import {
  type Agent,
  agent,
  type Message,
  type Model,
  type Runtime,
  textOf,
  tool,
  type WatchEvent,
} from "../../../src/index.ts";
import type { CutServer, Seen } from "./cut-server.ts";

export interface Played {
  readonly outcome: string;
  /** What ran, in the order in which it began. */
  readonly acted: readonly unknown[];
  readonly messages: readonly Message[];
  readonly requests: readonly Seen[];
}

/** What ran, by thread. */
export type Acted = Map<string, unknown[]>;

export function clerkOf(model: Model, acted: Acted): Agent<string> {
  const act = tool({
    name: "act",
    description: "Acts",
    input: z.strictObject({ letter: z.string(), note: z.string() }),
    execute: (input, { threadId: thread }) => {
      acted.set(thread, [...(acted.get(thread) ?? []), input]);
      return "done";
    },
  });
  return agent({ name: "clerk", model, instructions: "", tools: [act] });
}

export interface Stage {
  readonly runtime: Runtime;
  readonly clerk: Agent<string>;
  readonly acted: Acted;
  readonly server: CutServer;
}

export async function play({ runtime, clerk, acted, server }: Stage, name: string): Promise<Played> {
  const run = await runtime.start(clerk, name, { thread: name });
  const shown = new Map<string, string>();
  for await (const event of run.watch({ until: "end" })) fold(shown, event);
  const { outcome } = await run.result();
  const { items } = await runtime.threads.messages(name, { order: "oldest" });
  const messages = items.map(({ message }) => message).filter(({ role }) => role === "assistant");
  return { outcome, acted: acted.get(name) ?? [], messages, requests: server.requests(name) };
}

/** As a watcher shows it: by message, forgotten when it is retracted, and in the end what is stored. */
function fold(shown: Map<string, string>, event: WatchEvent): void {
  if (event.type === "text-delta") shown.set(event.message, (shown.get(event.message) ?? "") + event.text);
  if (event.type === "message-partial") shown.set(event.message, event.text);
  if (event.type === "message-retracted") shown.delete(event.message);
  if (event.type !== "message-appended") return;
  const { message } = event;
  if (message?.role !== "assistant" || textOf(message) === "") return;
  expect(shown.get(message.id), `what was shown of ${message.id}`).toBe(textOf(message));
}

/** The work of so many at once. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const lane = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
