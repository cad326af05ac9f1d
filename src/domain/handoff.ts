/** Handoff: the run goes on as another agent, until that one hands it back. Each is a tool that the model sees. */
import { hasPrices } from "./budget.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { isSame } from "./manifest-diff.ts";
import type { DescribedModel } from "./model.ts";
import { isRouted } from "./model-route.ts";
import type { AgentOutput } from "./output.ts";
import type { Problems } from "./problems.ts";
import type { RunBudget } from "./run.ts";
import type { StandardSchema } from "./standard-schema.ts";
import { type Tool, type ToolSpec, toolNamePattern } from "./tool.ts";

export const handBackName = "hand_back";

const inputJson: JsonObject = {
  type: "object",
  properties: { note: { type: "string", description: "What the other one has to know, if that was not said yet" } },
  additionalProperties: false,
};

const inputSchema: StandardSchema<{ readonly note?: string }> = {
  "~standard": {
    version: 1,
    vendor: "holdfast",
    validate: (value) => (isNote(value) ? { value } : { issues: [{ message: "must be {} or { note }, in words" }] }),
    jsonSchema: { input: () => inputJson, output: () => inputJson },
  },
};

function isNote(value: unknown): value is { readonly note?: string } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([name, note]) => name === "note" && typeof note === "string");
}

function toolOf(said: Pick<ToolSpec, "name" | "version" | "description">): Tool {
  const spec: ToolSpec = {
    ...said,
    inputSchema: inputJson,
    effect: "handoff",
    resume: "replay",
    gate: "never",
    timeoutMs: 0,
    concurrency: 1,
    onUnknown: "ask",
    reconciles: false,
  };
  return { spec, code: { schema: inputSchema } };
}

export const handBack: Tool = toolOf({
  name: handBackName,
  version: "1",
  description: "Hands the conversation back to the agent that it came from",
});

/** An agent that a run is handed to, as far as it is looked at here. */
interface Receiving {
  readonly name: string;
  readonly version: string;
  readonly model: DescribedModel;
  readonly tools: readonly Tool[];
  readonly delegates: readonly { readonly agent: Receiving; readonly grant: { readonly handoff?: boolean } }[];
  readonly context?: unknown;
  readonly backend?: unknown;
  readonly output?: AgentOutput;
}

/** The agent that makes them, the same way. */
interface Giving {
  readonly name: unknown;
  readonly names: readonly string[];
  readonly output: AgentOutput | undefined;
  readonly budget: RunBudget;
}

export function checkHandoffs<A extends Receiving>(
  given: unknown,
  of: Giving,
  problems: Problems,
): readonly Handoff<A>[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) {
    problems.add("handoffs: must be a list of agents");
    return [];
  }
  const names = new Set(of.names);
  const handoffs: Handoff<A>[] = [];
  for (const [index, agent] of (given as A[]).entries()) {
    const problem = problemOf(agent, of) ?? nameProblem(agent, names);
    if (problem) problems.add(`handoffs[${index}]: ${problem}`);
    else {
      handoffs.push(handoffTo(agent));
      names.add(toolName(agent));
    }
  }
  return handoffs;
}

function problemOf(agent: Receiving | undefined, { name, output, budget }: Giving): string | undefined {
  if (!Array.isArray(agent?.delegates)) return "must come from agent({ … })";
  if (isBelow(name, agent)) return `${String(name)} would be handed to itself; it gets the run back by ${handBackName}`;
  if (agent.context) return `agent ${agent.name} takes a context, and a run has only the one it was started with`;
  if (agent.backend) return `agent ${agent.name} executes elsewhere; give it work as a delegate`;
  if (!isSame(json(output?.spec.schema), json(agent.output?.spec.schema))) {
    return `agent ${agent.name} has another output, and a run has one`;
  }
  if (budget.microUsd === undefined || isRouted(agent.model) || hasPrices(agent.model)) return undefined;
  return `the budget is in dollars, and the model of ${agent.name} has no prices, so nobody could count`;
}

function nameProblem(agent: Receiving, names: ReadonlySet<string>): string | undefined {
  const name = toolName(agent);
  if (!toolNamePattern.test(name)) return `the tool ${name} must match ${toolNamePattern}`;
  if (names.has(name)) return `the name ${name} is used twice`;
  const own = agent.tools.some(({ spec }) => spec.name === handBackName);
  return own ? `agent ${agent.name} has a tool ${handBackName}, which is what hands a run back` : undefined;
}

/** Whoever is handed a run may hand it on: the same name twice on the way would be a circle. */
function isBelow(name: unknown, agent: Receiving): boolean {
  if (agent.name === name) return true;
  return agent.delegates.some((each) => each.grant.handoff && isBelow(name, each.agent));
}

function json(schema: JsonObject | undefined): JsonValue {
  return schema ?? null;
}

function toolName({ name }: Pick<Receiving, "name">): string {
  return `transfer_to_${name}`;
}

interface Handoff<A> {
  readonly tool: Tool;
  readonly agent: A;
  readonly grant: typeof grant;
}

const grant = { budget: {}, readOnly: false, ephemeral: false, background: false, handoff: true };

function handoffTo<A extends Receiving>(agent: A): Handoff<A> {
  const { name, version } = agent;
  const description = `Hands the conversation over to the agent ${name}`;
  return { tool: toolOf({ name: toolName(agent), version, description }), agent, grant };
}
