/**
 * What the checks of backends are written with. Whoever tests a backend plays turns at its other side: a script, a stub, a
 * server in another process. The turns here are in our words.
 */
import assert from "node:assert/strict";
import { composeRuntime, openPorts } from "../../compose.ts";
import type { Agent } from "../../domain/agent.ts";
import type { Capabilities } from "../../domain/backend/capabilities.ts";
import type { Adaptation } from "../../domain/backend/negotiate.ts";
import type { JsonValue } from "../../domain/json.ts";
import { bindAgent } from "../../runtime/bind-agent.ts";
import type { Run, Runtime, Ticket } from "../../runtime/runtime.ts";
import { memory } from "../../stores/memory/memory.ts";

/** One turn of the other side. What it says is text; a turn that waits says what it asks for. */
export interface PlayedTurn {
  readonly says?: string;
  readonly waits?: "input" | "auth";
  /** It ends with this error. */
  readonly fails?: string;
  readonly artifacts?: readonly { readonly name: string; readonly content: JsonValue }[];
  /** It has taken the message, and works until then. */
  readonly until?: Promise<unknown>;
}

export interface PlayedBackend extends AsyncDisposable {
  readonly capabilities: Capabilities;
  readonly agent: Agent<unknown>;
  /** What the other side was told, as text, one for each turn; undefined where there is no other side. */
  readonly heard?: () => readonly string[];
  /** How often it was asked to end its work. */
  readonly aborted?: () => number;
}

/** An agent named "checked" whose other side makes these turns, one for each message that it takes. */
export type PlayBackend = (turns: readonly PlayedTurn[], adapt?: readonly Adaptation[]) => Promise<PlayedBackend>;

export type BackendCheck = (play: PlayBackend) => Promise<void>;

/** Short, so that what a process leaves behind is soon taken up by the next. */
const quick = { leaseMs: 400, pollMs: 20, closeGraceMs: 1 } as const;

export interface Bench extends AsyncDisposable {
  readonly played: PlayedBackend;
  start(text: string, thread?: string): Promise<Run<unknown>>;
  /** Another process takes over: the one before is gone with what it had in hand. */
  restart(): Promise<void>;
  run(id: string): Run<unknown>;
  tickets(): Promise<readonly Ticket[]>;
}

export async function bench(played: PlayedBackend): Promise<Bench> {
  const store = memory();
  const boot = async (): Promise<Runtime> => {
    const ports = await openPorts({ store });
    return composeRuntime(ports, [bindAgent(played.agent)], quick);
  };
  let runtime = await boot();
  return {
    played,
    start: (text, thread) => runtime.start("checked", text, thread === undefined ? {} : { thread }),
    async restart() {
      await runtime.close();
      runtime = await boot();
    },
    run: (id) => runtime.runs.get(id),
    tickets: () => runtime.tickets.list({ status: "open" }),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      await played[Symbol.asyncDispose]();
    },
  };
}

/** Waits, without a clock of its own, until the check holds. */
export async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  const before = performance.now();
  while (!(await check())) {
    assert.ok(performance.now() - before < longestMs, "it never came about");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const longestMs = 30_000;

export async function oneTicket({ tickets }: Bench): Promise<Ticket> {
  await until(async () => (await tickets()).length > 0);
  const [ticket, ...others] = await tickets();
  assert.equal(others.length, 0);
  return ticket as Ticket;
}
