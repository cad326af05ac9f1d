/** The options of tool(). */
import { z } from "zod";
import { type Reconciled, type Tool, type ToolOptions, tool } from "../../../src/index.ts";
import { callsTool, callsTools, says } from "../../../src/testing/story.ts";
import { count } from "./pieces.ts";
import { answerAll, declaredRow, type Play, type Rows, row } from "./told.ts";

type Options = Partial<ToolOptions<z.ZodObject<{ at: z.ZodOptional<z.ZodNumber> }>, unknown>>;

const input = z.object({ at: z.number().optional() });

function toolWith(options: Options): Tool {
  return tool({ name: "act", description: "Acts", input, execute: () => "acted", ...options }) as Tool;
}

function acting(options: Options): Play {
  return { agent: { tools: [toolWith(options)] }, answers: [callsTool("act", { at: 5 }), says("Done.")] };
}

/** Killed while the tool is at work. */
function killed(options: Options): Play {
  let isFirst = true;
  const execute = (): unknown => {
    const wasFirst = isFirst;
    isFirst = false;
    return wasFirst ? new Promise(() => undefined) : "acted";
  };
  return {
    ...acting({ ...options, execute }),
    during: async (story, run) => {
      await story.pass(0);
      await story.restart();
      await answerAll(story, run);
    },
  };
}

/** It answers after five seconds. */
function late(options: Options): Play {
  let answer: (value: string) => void = () => undefined;
  const execute = (): Promise<string> =>
    new Promise((resolve) => {
      answer = resolve;
    });
  return {
    ...acting({ effect: "pure", ...options, execute }),
    during: async (story, run) => {
      await story.pass(5_000);
      answer("late");
      await answerAll(story, run);
    },
  };
}

/** Two calls at once: each says how many there are. */
function twice(options: Options): Play {
  let inside = 0;
  const execute = async (): Promise<number> => {
    inside += 1;
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
    return inside;
  };
  return {
    agent: { tools: [toolWith({ effect: "pure", ...options, execute })] },
    answers: [callsTools(["act", {}], ["act", {}]), says("Done.")],
  };
}

function breaking(options: Options): Play {
  const execute = (): never => {
    throw new Error("the line is dead");
  };
  return acting({ ...options, execute });
}

function counting(options: Options): Play {
  return acting({
    ...options,
    effect: "pure",
    execute: (_input, { state }) => {
      state.update(count, 1);
      return "counted";
    },
  });
}

const decided: Options = {
  needsApproval: true,
  execute: (_input, { decision }) => (decision?.decision.kind === "approve" ? decision.decision : "no decision"),
};
const done: Reconciled = { status: "done", result: "it was done" };
const question: Tool = tool({ name: "act", description: "Acts", input });

export const toolRows: Rows = {
  "tool.name": row(acting, {}, { name: "another" }),
  "tool.description": row(acting, {}, { description: "Acts otherwise" }),
  "tool.input": row(acting, {}, { input: z.object({ at: z.number().max(3).optional() }) }),
  "tool.version": declaredRow(acting, {}, { version: "2" }),
  "tool.effect": row(killed, {}, { effect: "pure" }),
  "tool.needsApproval": row(acting, {}, { needsApproval: true }),
  "tool.resume": row(acting, decided, { ...decided, resume: "pass-decision-to-tool" }),
  "tool.timeoutMs": row(late, {}, { timeoutMs: 1_000 }),
  "tool.concurrency": row(twice, {}, { concurrency: 1 }),
  "tool.onUnknown": row(breaking, {}, { onUnknown: "tell-model" }),
  "tool.writes": row(counting, {}, { writes: [count] }),
  "tool.reconcile": row(breaking, {}, { reconcile: async () => done }),
  "tool.execute": row((act: Tool) => ({ ...acting({}), agent: { tools: [act] } }), question, toolWith({})),
};
