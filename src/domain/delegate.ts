/** delegate: an agent as a tool of another one. A call of it is a run of its own, under what its parent lends it. */
import type { Agent, Delegate } from "./agent.ts";
import { isReserved, reservedName } from "./answer-tool.ts";
import { type BudgetOptions, readBudget } from "./budget.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import { Problems, shown } from "./problems.ts";
import { type InputOf, isStandardSchema, type StandardSchema } from "./standard-schema.ts";
import { type ToolSpec, toolNamePattern } from "./tool.ts";

export interface DelegateOptions<Schema extends StandardSchema> {
  /** What the model calls it; the agent's name unless said. */
  readonly name?: string;
  /** When the model should use it, and what it gets. */
  readonly description?: string;
  /** What the model has to give; unless said, { task } in words. */
  readonly input?: Schema;
  /** The most that one run of it may use up. */
  readonly budget?: BudgetOptions;
  /** Of its tools only the pure ones, and it tells no sink; the same for what it delegates itself. */
  readonly readOnly?: boolean;
  /** Its journal and thread are dropped once this run has its result. */
  readonly ephemeral?: boolean;
  /** A call is answered with a handle at once, the run goes on, and how the task ended comes as a message. */
  readonly background?: boolean;
}

const optionNames = ["name", "description", "input", "budget", "readOnly", "ephemeral", "background"];
const mostCalls = 1_000;

export function delegate<Output, Schema extends StandardSchema = StandardSchema<Task>>(
  agent: Agent<Output>,
  options: DelegateOptions<Schema> = {},
): Delegate<InputOf<Schema>, Output> {
  const problems = new Problems(options, optionNames);
  const name = options?.name ?? agent?.name;
  const isName = typeof name === "string" && toolNamePattern.test(name);
  if (!isName) problems.add(`name: must match ${toolNamePattern}`);
  else if (isReserved(name)) problems.add(`name: ${reservedName}`);
  problems.optional("description", (text) => typeof text === "string" && text.length > 0, "must be a non-empty string");
  problems.optional("input", isStandardSchema, "must be a Standard Schema, for example z.object({ … })");
  for (const flag of ["readOnly", "ephemeral", "background"]) {
    problems.optional(flag, (value) => typeof value === "boolean", "must be true or false");
  }
  if (!Array.isArray(agent?.delegates)) problems.add("the first argument must come from agent({ … })");
  else if (agent.context) problems.add(`agent ${agent.name} takes a context, and a delegate cannot be given one`);
  const budget = readBudget(options?.budget, agent?.model, problems);
  const schema: StandardSchema = isStandardSchema(options?.input) ? options.input : taskSchema;
  const inputSchema = jsonSchemaOf(schema, "input", problems);
  problems.refuse("invalid-agent", `Delegate ${shown(name)} cannot be defined`);
  const { readOnly = false, ephemeral = false, background = false } = options;
  const { description = describe(agent.name, background) } = options;
  const spec = specOf({ name, version: agent.version, description, inputSchema });
  return {
    tool: { spec, code: { schema } },
    agent: agent as Agent<unknown>,
    grant: { budget, readOnly, ephemeral, background },
  };
}

function describe(name: string, background: boolean): string {
  const what = `Gives a task to the agent ${name}`;
  return background ? `${what}, which works beside you: what comes of it is told to you later` : what;
}

function specOf(said: Pick<ToolSpec, "name" | "version" | "description" | "inputSchema">): ToolSpec {
  return {
    ...said,
    effect: "child",
    resume: "replay",
    gate: "never",
    timeoutMs: 0, // a run has a budget of time instead
    concurrency: mostCalls,
    onUnknown: "ask",
    reconciles: false,
  };
}

export interface Task {
  readonly task: string;
}

const taskJson: JsonObject = {
  type: "object",
  properties: {
    task: { type: "string", description: "What is to be done, with everything that has to be known for it" },
  },
  required: ["task"],
  additionalProperties: false,
};

const taskSchema: StandardSchema<Task> = {
  "~standard": {
    version: 1,
    vendor: "holdfast",
    validate: (value) => (isTask(value) ? { value } : { issues: [{ message: "must be { task }, in words" }] }),
    jsonSchema: { input: () => taskJson, output: () => taskJson },
  },
};

function isTask(value: unknown): value is Task {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 1) return false;
  return typeof (value as Partial<Task>).task === "string";
}

/** What the child is told: a task in its own words, anything else as JSON. */
export function taskText(input: JsonValue): string {
  return isTask(input) ? input.task : JSON.stringify(input);
}
