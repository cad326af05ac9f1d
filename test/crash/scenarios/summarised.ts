/** Threads that grow too long: what is old is summarised beside the steps. */
import { type Agent, agent } from "../../../src/index.ts";
import { type ScriptedAnswer, scripted } from "../../../src/providers/scripted.ts";
import type { World } from "../../../src/testing/crash-world.ts";
import { acting, calling, scenario } from "./pieces.ts";

/** The summariser is the same model: it is asked without tools. */
function unlessAsked(answer: ScriptedAnswer): ScriptedAnswer {
  return (request) => {
    if (request.tools.length === 0) return "They looked.";
    return typeof answer === "function" ? answer(request) : answer;
  };
}

function reader(world: World): Agent {
  return agent({
    name: "clerk",
    model: scripted([calling("look"), calling("refund"), calling("look"), "Seen."].map(unlessAsked)),
    instructions: "Be brief.",
    tools: [acting(world, { name: "look", effect: "pure" }), acting(world, { name: "refund", effect: "idempotent" })],
    history: { tokens: 600, recent: 2, compact: { at: 0.1, summaryTokens: 64, saves: 0, mode: "safe-frontier" } },
  });
}

export const summarised = [scenario({ name: "a summary beside the steps", agents: (world) => [reader(world)] })];
