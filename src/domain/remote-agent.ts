/** An agent whose runs execute elsewhere: no model, instructions or tools of its own, and everything else as of any agent. */
import { type Agent, type AgentOptions, agent } from "./agent.ts";
import type { DeclaredBackend } from "./backend/endpoint.ts";
import { type Adaptation, adaptations } from "./backend/negotiate.ts";
import { HoldfastError, isHoldfastError } from "./errors.ts";
import type { DescribedModel } from "./model.ts";
import { isFunction, Problems, shown } from "./problems.ts";
import type { OutputOf, StandardSchema } from "./standard-schema.ts";

/** What it was declared as, and how it is built; see ports/backend.ts. */
export interface AgentBackend extends DeclaredBackend {
  build(): unknown;
}

type Shared =
  | "name"
  | "version"
  | "onUpgrade"
  | "context"
  | "output"
  | "onInvalid"
  | "policy"
  | "plugins"
  | "budget"
  | "sinks";

export interface RemoteAgentOptions<
  ContextSchema extends StandardSchema,
  OutputSchema extends StandardSchema = StandardSchema<string>,
> extends Pick<AgentOptions<ContextSchema, OutputSchema>, Shared> {
  /** Where its runs execute, for example a2a({ … }). */
  readonly backend: AgentBackend;
  /**
   * What may be done in another way where the backend cannot do it: "transcript", earlier messages become part of one text;
   * "artifacts", those that cannot be kept are dropped. Otherwise such a turn is refused. The journal says what was adapted.
   */
  readonly adapt?: readonly Adaptation[];
}

const shared: readonly Shared[] = [
  "name",
  "version",
  "onUpgrade",
  "context",
  "output",
  "onInvalid",
  "policy",
  "plugins",
  "budget",
  "sinks",
];

export function remoteAgent<ContextSchema extends StandardSchema, OutputSchema extends StandardSchema>(
  options: RemoteAgentOptions<ContextSchema, OutputSchema>,
): Agent<OutputOf<OutputSchema>, OutputOf<ContextSchema>> {
  const problems = new Problems(options, [...shared, "backend", "adapt"]);
  problems.check("backend", isBackend, "must be a backend, for example a2a({ … })");
  problems.optional("adapt", isAdaptations, `must be a list of ${adaptations.join(", ")}`);
  const rest = (Object.keys(options) as (keyof typeof options)[]).filter((name) => (shared as string[]).includes(name));
  const given = Object.fromEntries(rest.map((name) => [name, options[name]])) as unknown as Given<
    ContextSchema,
    OutputSchema
  >;
  const local = defined({ ...given, ...standIns(options) }, problems);
  for (const { spec } of local?.tools ?? []) {
    problems.add(`plugins: tool ${spec.name} would never be called: the backend has tools of its own`);
  }
  problems.refuse("invalid-agent", `Agent ${shown(options?.name)} cannot be defined`);
  const adapt = adaptations.filter((each) => options.adapt?.includes(each));
  return { ...(local as Agent<OutputOf<OutputSchema>, OutputOf<ContextSchema>>), backend: options.backend, adapt };
}

type Given<C extends StandardSchema, O extends StandardSchema> = Pick<AgentOptions<C, O>, Shared>;

function isBackend(value: unknown): boolean {
  const { name, endpoint, build } = (value ?? {}) as Partial<AgentBackend>;
  return typeof name === "string" && name !== "" && typeof endpoint === "object" && isFunction(build);
}

function isAdaptations(list: unknown): boolean {
  return Array.isArray(list) && list.every((each) => adaptations.includes(each as Adaptation));
}

/** The other side's model is named as far as we know it; a turn is never repaired, for that would be another turn. */
function standIns({ backend, output, name }: RemoteAgentOptions<StandardSchema, StandardSchema>): {
  readonly model: DescribedModel;
  readonly instructions: string;
} {
  const refuse = (): never => {
    throw new HoldfastError("backend-execution-failed", `Agent ${name} executes elsewhere; it has no model here`);
  };
  const description = { provider: String(backend?.name), model: backend?.endpoint?.target ?? String(name) };
  const model = { description, call: refuse };
  return { model, instructions: "", ...(output === undefined ? {} : { repairs: 0, outputMode: "text" }) };
}

/** Its problems join those of the backend. */
function defined<C extends StandardSchema, O extends StandardSchema>(
  options: AgentOptions<C, O>,
  problems: Problems,
): Agent<OutputOf<O>, OutputOf<C>> | undefined {
  try {
    return agent(options);
  } catch (cause) {
    if (!isHoldfastError(cause, "invalid-agent")) throw cause;
    for (const problem of cause.problems) problems.add(problem);
    return undefined;
  }
}
