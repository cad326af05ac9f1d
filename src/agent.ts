/** `agent()` as users call it: also with a model of the AI SDK as it is. The definition itself is the domain's. */
import { type Agent, type AgentOptions as Definition, agent as define } from "./domain/agent.ts";
import type { AiSdkModel } from "./domain/ai-sdk-model.ts";
import type { DescribedModel } from "./domain/model.ts";
import { type RemoteAgentOptions, remoteAgent } from "./domain/remote-agent.ts";
import type { OutputOf, StandardSchema } from "./domain/standard-schema.ts";
import { adoptAiSdk } from "./providers/ai-sdk/adopt.ts";

export interface AgentOptions<
  ContextSchema extends StandardSchema,
  OutputSchema extends StandardSchema = StandardSchema<string>,
> extends Omit<Definition<ContextSchema, OutputSchema>, "model"> {
  /**
   * A provider's model, or any language model of the AI SDK: `anthropic("…")`. More can be said of it by `fromAiSdk`. Or its
   * route among the runtime's providers: "openai/gpt-x".
   */
  readonly model: DescribedModel | AiSdkModel | string;
}

export function agent<
  ContextSchema extends StandardSchema = StandardSchema,
  OutputSchema extends StandardSchema = StandardSchema<string>,
>(options: RemoteAgentOptions<ContextSchema, OutputSchema>): Agent<OutputOf<OutputSchema>, OutputOf<ContextSchema>>;
export function agent<
  ContextSchema extends StandardSchema = StandardSchema,
  OutputSchema extends StandardSchema = StandardSchema<string>,
>(options: AgentOptions<ContextSchema, OutputSchema>): Agent<OutputOf<OutputSchema>, OutputOf<ContextSchema>>;
export function agent<
  ContextSchema extends StandardSchema = StandardSchema,
  OutputSchema extends StandardSchema = StandardSchema<string>,
>(
  options: AgentOptions<ContextSchema, OutputSchema> | RemoteAgentOptions<ContextSchema, OutputSchema>,
): Agent<OutputOf<OutputSchema>, OutputOf<ContextSchema>> {
  if (isRemote(options)) return remoteAgent(options);
  const model = adoptAiSdk(options?.model);
  // What is wrong with one is named by the definition, with everything else.
  const given = model === options?.model ? options : { ...options, model };
  return define(given as Definition<ContextSchema, OutputSchema>);
}

function isRemote<C extends StandardSchema, O extends StandardSchema>(
  options: AgentOptions<C, O> | RemoteAgentOptions<C, O>,
): options is RemoteAgentOptions<C, O> {
  return (options as Partial<RemoteAgentOptions<C, O>> | undefined)?.backend !== undefined;
}
