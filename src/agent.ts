/** `agent()` as users call it: also with a model of the AI SDK as it is. The definition itself is the domain's. */
import { type Agent, type AgentOptions as Definition, agent as define } from "./domain/agent.ts";
import { type AiSdkModel, aiSdkProblem, looksLikeAiSdk } from "./domain/ai-sdk-model.ts";
import type { DescribedModel } from "./domain/model.ts";
import type { OutputOf, StandardSchema } from "./domain/standard-schema.ts";
import { fromAiSdk } from "./providers/ai-sdk/from-ai-sdk.ts";

export interface AgentOptions<
  ContextSchema extends StandardSchema,
  OutputSchema extends StandardSchema = StandardSchema<string>,
> extends Omit<Definition<ContextSchema, OutputSchema>, "model"> {
  /** A provider's model, or any language model of the AI SDK: `anthropic("…")`. More can be said of it by `fromAiSdk`. */
  readonly model: DescribedModel | AiSdkModel;
}

export function agent<
  ContextSchema extends StandardSchema = StandardSchema,
  OutputSchema extends StandardSchema = StandardSchema<string>,
>(options: AgentOptions<ContextSchema, OutputSchema>): Agent<OutputOf<OutputSchema>, OutputOf<ContextSchema>> {
  const model: unknown = options?.model;
  const isAiSdk = looksLikeAiSdk(model) && aiSdkProblem(model) === undefined;
  // What is wrong with one is named by the definition, with everything else.
  const given = isAiSdk ? { ...options, model: fromAiSdk(model as AiSdkModel) } : options;
  return define(given as Definition<ContextSchema, OutputSchema>);
}
