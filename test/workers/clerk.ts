/** One agent for all these processes: the message that starts a run is the list of calls that its model makes, step by step. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { note, noted } from "../../scripts/processes/notes.ts";
import { type Agent, agent } from "../../src/domain/agent.ts";
import { type Tool, type ToolContext, tool } from "../../src/domain/tool.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { type ScriptedAnswer, scripted } from "../../src/providers/scripted.ts";

/** act is idempotent · pay is once and cannot be asked for · book is once and can. */
export type ToolName = "act" | "pay" | "book";

export interface PlannedCall {
  readonly tool: ToolName;
  /** How long it takes. */
  readonly ms?: number;
  /** Not to be mistaken for another call with the same input. */
  readonly tag?: string;
}

/** What the world has seen: a line when an effect begins and one when it is done, by whichever process. */
export interface WorldLine {
  readonly kind: "begun" | "done";
  readonly tool: string;
  readonly pid: number;
  readonly run: string;
  readonly key: string;
  readonly fence: number;
  readonly tag?: string;
}

export interface ClerkOptions {
  readonly world: string;
  readonly timeoutMs?: number;
  /** Called inside each attempt, once it has begun. */
  readonly inTool?: (call: PlannedCall) => unknown;
  readonly tools?: readonly ToolName[];
}

export function planOf(...steps: readonly (readonly PlannedCall[])[]): string {
  return JSON.stringify(steps);
}

export function createClerk(options: ClerkOptions): Agent<string> {
  const { tools = ["act", "pay", "book"] } = options;
  return agent({
    name: "clerk",
    onUpgrade: "move",
    instructions: "Do what the message says.",
    tools: tools.map((name) => toolOf(name, options)),
    model: scripted(Array.from({ length: 20 }, () => answer)),
  });
}

function answer({ messages, step }: ModelRequest): ScriptedAnswer {
  const [part] = messages[0]?.parts ?? [];
  const steps = JSON.parse(part?.type === "text" ? part.text : "[]") as readonly (readonly PlannedCall[])[];
  const calls = steps[step - 1];
  return calls ? { calls: calls.map(({ tool: name, ...input }) => ({ tool: name, input })) } : "Done.";
}

function toolOf(name: ToolName, { world, timeoutMs = 20_000, inTool }: ClerkOptions): Tool {
  return tool({
    name,
    description: `To ${name}`,
    input: z.object({ ms: z.number().optional(), tag: z.string().optional() }),
    effect: name === "act" ? "idempotent" : "once",
    timeoutMs,
    async execute(input, context) {
      note(world, { kind: "begun", ...lineOf(name, input, context) } satisfies WorldLine);
      await inTool?.({ tool: name, ...(input as Omit<PlannedCall, "tool">) });
      if (input.ms !== undefined) await sleep(input.ms, undefined, { signal: context.signal });
      note(world, { kind: "done", ...lineOf(name, input, context) } satisfies WorldLine);
      return { did: context.idempotencyKey };
    },
    ...(name === "book" ? { reconcile: (key: string) => lookUp(world, key) } : {}),
  });
}

function lineOf(name: ToolName, { tag }: { tag?: string | undefined }, context: ToolContext): Omit<WorldLine, "kind"> {
  const { idempotencyKey: key, runId: run, fence } = context;
  return { tool: name, pid: process.pid, run, key, fence, ...(tag === undefined ? {} : { tag }) };
}

async function lookUp(
  world: string,
  key: string,
): Promise<{ status: "done"; result: { did: string } } | { status: "not-done" }> {
  const isDone = noted<WorldLine>(world).some((line) => line.kind === "done" && line.key === key);
  return isDone ? { status: "done", result: { did: key } } : { status: "not-done" };
}
