/** The options of agent(). */
import { z } from "zod";
import type { BudgetOptions } from "../../../src/domain/budget.ts";
import type { Model } from "../../../src/index.ts";
import type { ScriptedAnswer } from "../../../src/providers/scripted.ts";
import { aModelThat, callsTool, type StoryAgent, type StoryModel, says } from "../../../src/testing/story.ts";
import { scripted } from "../../../src/testing.ts";
import { look, noting, slow } from "./pieces.ts";
import { after, declaredRow, type Play, type Rows, row } from "./told.ts";

const looks = [callsTool("look", { at: 1 }), callsTool("look", { at: 2 }), says("Done.")];

type Some = Partial<StoryAgent>;

function withAgent(agent: Some, answers: readonly ScriptedAnswer[] = looks): Play {
  return { agent: { tools: [look], ...agent }, answers };
}

/** A model with prices, ten tokens an answer. */
function priced(): StoryModel {
  const reply = (calls: boolean): ScriptedAnswer => ({
    ...(calls ? { calls: [{ tool: "look", input: { at: 1 } }] } : { text: "Done." }),
    inputTokens: 1_000,
    outputTokens: 10,
  });
  const prices = { inputPerMillion: 1, outputPerMillion: 1 };
  const { call } = scripted([reply(true), reply(true), reply(false)]);
  const { saw, model } = aModelThat();
  const description = { ...model.description, prices, maxOutputTokens: 10 };
  const noted: Model = {
    description,
    call(request, signal) {
      (saw as unknown[]).push(request);
      return call(request, signal);
    },
  };
  return { model: noted, saw };
}

const wrongTwice = [says("no JSON"), says("no JSON"), says("no JSON"), says("no JSON")];
const typed: Some = { output: z.object({ sum: z.number() }) as never };

const wrong = (agent: Some): Play => withAgent(agent, wrongTwice);
const paying = (budget: BudgetOptions): Play => ({ agent: { tools: [look], budget }, model: priced() });

export const agentRows: Rows = {
  "agent.name": row(withAgent, {}, { name: "another" }),
  "agent.version": declaredRow(withAgent, {}, { version: "2" }),
  "agent.onUpgrade": { elsewhere: "test/manifest/upgrade.test.ts" },
  "agent.model": row((text: string) => ({ answers: [says(text)] }), "One.", "Another."),
  "agent.instructions": row(withAgent, {}, { instructions: "Be quick." }),
  "agent.tools": row(withAgent, { tools: [] }, {}),
  "agent.delegates": { elsewhere: "test/delegation/local.test.ts" },
  "agent.handoffs": { elsewhere: "test/delegation/handoff.test.ts" },
  "agent.context": row(
    (agent: Some) => ({ agent, start: { context: {} } }),
    {},
    { context: z.object({ who: z.string().default("ada") }), instructions: (context) => JSON.stringify(context) },
  ),
  "agent.output": row(wrong, {}, typed),
  "agent.outputMode": row(wrong, typed, { ...typed, outputMode: "tool" }),
  "agent.repairs": row(wrong, typed, { ...typed, repairs: 1 }),
  "agent.onInvalid": row(wrong, typed, { ...typed, onInvalid: "stop" }),
  "agent.history": { elsewhere: "test/context/options.test.ts" },
  "agent.history.tokens": { elsewhere: "test/context/options.test.ts" },
  "agent.history.recent": { elsewhere: "test/context/options.test.ts" },
  "agent.history.resultTokens": { elsewhere: "test/context/options.test.ts" },
  "agent.history.compact": { elsewhere: "test/context/options.test.ts" },
  "agent.history.compact.mode": { elsewhere: "test/context/options.test.ts" },
  "agent.history.compact.at": { elsewhere: "test/context/options.test.ts" },
  "agent.history.compact.summaryTokens": { elsewhere: "test/context/options.test.ts" },
  "agent.history.compact.saves": { elsewhere: "test/context/options.test.ts" },
  "agent.history.compact.instructions": { elsewhere: "test/context/options.test.ts" },
  "agent.history.compact.model": { elsewhere: "test/context/options.test.ts" },
  "agent.plugins": row(withAgent, {}, { plugins: [noting()] }),
  "agent.budget": row(withAgent, {}, { budget: { steps: 2 } }),
  "agent.budget.steps": row(withAgent, { budget: {} }, { budget: { steps: 2 } }),
  "agent.budget.wallTime": row(
    (budget: BudgetOptions) => ({
      agent: { tools: [slow()], budget },
      answers: [callsTool("slow"), says("Done.")],
      during: after(5_000),
    }),
    {},
    { wallTime: 2_000 },
  ),
  "agent.budget.tokens": row(paying, {}, { tokens: 1_500 }),
  "agent.budget.usd": row(paying, {}, { usd: 0.0015 }),
  "agent.budget.depth": { elsewhere: "test/delegation/local.test.ts" },
  "agent.budget.children": { elsewhere: "test/delegation/local.test.ts" },
};
