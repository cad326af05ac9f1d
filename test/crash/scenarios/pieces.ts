/** What the scenarios are made of: one agent, tools that act on the world, scripts that begin again. */
import { z } from "zod";
import {
  type Agent,
  agent,
  type ConfiguredPlugin,
  type Message,
  type Tool,
  type ToolContext,
  tool,
} from "../../../src/index.ts";
import { type ScriptedAnswer, scripted } from "../../../src/providers/scripted.ts";
import type { Run, Ticket } from "../../../src/runtime/runtime.ts";
import type { CrashScenario, ScriptContext } from "../../../src/testing/crash-scenario.ts";
import type { World } from "../../../src/testing/crash-world.ts";
import { table } from "./expected.ts";

const order = z.object({ order: z.string() });
type Order = z.infer<typeof order>;

interface Acting {
  readonly name: string;
  readonly effect: "pure" | "idempotent" | "once";
  readonly reconciles?: boolean;
  readonly needsApproval?: boolean | ((input: Order) => Promise<boolean>);
  readonly passDecision?: boolean;
  readonly timeoutMs?: number;
  /** Its effect happens only so much later, even if its process has died. */
  readonly slowMs?: number;
  /** After its effect. */
  readonly after?: (context: ToolContext, world: World) => Promise<unknown>;
}

/** A tool whose effect is in the world before anything else of it can go wrong. */
export function acting(world: World, how: Acting): Tool {
  const { name, effect, needsApproval, timeoutMs } = how;
  return tool({
    name,
    description: name,
    input: order,
    effect,
    ...(needsApproval === undefined ? {} : { needsApproval }),
    ...(how.passDecision ? { resume: "pass-decision-to-tool" as const } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(how.reconciles ? { reconcile: (key: string) => world.find(key) } : {}),
    execute: async (input, context) => {
      const result = { done: input.order };
      if (effect === "idempotent") await world.actByKey(name, context, result);
      else if (how.slowMs !== undefined) await world.actSlowly(name, context, { result, ms: how.slowMs });
      else if (effect === "once") await world.act(name, context, result);
      return (await how.after?.(context, world)) ?? result;
    },
  });
}

/** A question to a person or a frontend: no code. */
export function asking(name: string): Tool {
  return tool({ name, description: name, input: order });
}

export function calling(...names: readonly string[]): ScriptedAnswer {
  return { calls: names.map((name, index) => ({ tool: name, input: { order: `${index + 1}` } })) };
}

/** Says what it has seen: after a cut a model must be shown the same as before. */
export function recalling(text: string): ScriptedAnswer {
  return ({ messages, continues }) => {
    const before = continues === undefined ? messages : messages.slice(0, -2); // it says the same when it goes on
    return `${text} (${before.map(seen).join(" > ")})`;
  };
}

function seen({ parts }: Message): string {
  const texts = parts.map((part) => {
    if (part.type === "tool-call") return `[${part.tool}]`;
    if (part.type !== "tool-result") return part.type === "text" ? part.text : part.type;
    return `${part.tool} ${part.result.kind === "value" ? "ok" : part.result.code}`;
  });
  return texts.join(" ");
}

interface Speaking {
  readonly answers: readonly ScriptedAnswer[];
  readonly tools?: readonly Tool[];
  readonly plugins?: readonly ConfiguredPlugin[];
  readonly wallTime?: number;
  readonly steps?: number;
}

export function clerk({ answers, tools = [], plugins = [], wallTime, steps }: Speaking): Agent {
  const budget = { ...(wallTime === undefined ? {} : { wallTime }), ...(steps === undefined ? {} : { steps }) };
  return agent({ name: "clerk", model: scripted(answers), instructions: "Be brief.", tools, plugins, budget });
}

export type Written = Omit<CrashScenario, "afterError" | "script"> & { readonly script?: CrashScenario["script"] };

/** A scenario with its row of the table; the script only starts one run unless said. */
export function scenario(written: Written): CrashScenario {
  const afterError = table[written.name]?.afterError;
  return {
    script: async (context) => {
      await begin(context);
    },
    ...written,
    ...(afterError ? { afterError } : {}),
  };
}

export function begin({ runtime, agents }: ScriptContext, key = "start"): Promise<Run<unknown>> {
  return runtime.start(agents[0] as Agent<unknown>, "Go.", { key, thread: "t" });
}

/** Decides every ticket that `decide` knows until the run has ended. */
export async function answerAll(
  run: Run<unknown>,
  decide: (ticket: Ticket) => Promise<unknown> | undefined,
): Promise<void> {
  for (;;) {
    const idle = await run.idle();
    if (idle.status === "done") return;
    const answers = idle.tickets.map((ticket) => decide(ticket)).filter((each) => each !== undefined);
    if (answers.length === 0) return;
    await Promise.all(answers);
  }
}

/** The run can no longer be moved by anything but an answer, or not at all. */
export async function rests({ rows }: ScriptContext): Promise<boolean> {
  return (await rows()).some(({ status, wake }) => status === "done" || (status === "waiting" && wake === undefined));
}

/** Some tool's effect is in the world, or there will be none. */
export async function underWay(context: ScriptContext): Promise<void> {
  await context.until(async () => context.world.effects().length > 0 || (await rests(context)));
}

export function key(ticket: Ticket): { readonly by: string; readonly key: string } {
  return { by: "ana", key: `decide ${ticket.id}` };
}
