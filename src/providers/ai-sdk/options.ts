/** What can be said of a model of the AI SDK that it does not say itself. */
import { type AiSdkModel, aiSdkProblem } from "../../domain/ai-sdk-model.ts";
import type { JsonObject } from "../../domain/json.ts";
import { descriptionProblems, type ModelDescription } from "../../domain/model.ts";
import { isFunction, Problems } from "../../domain/problems.ts";
import { type GivenHeaders, headerProblems } from "../shared/headers.ts";
import { type PromptCaching, promptCaches } from "../shared/prompt-cache.ts";
import { settingsProblems } from "./settings.ts";
import type { OnWarning } from "./warnings.ts";

export interface AiSdkOptions extends Omit<ModelDescription, "provider" | "model"> {
  /** Of every call, by the AI SDK's names: temperature, reasoning, providerOptions and so on. Plugins may change them. */
  readonly settings?: JsonObject;
  /** Sent with every call, where the provider speaks HTTP; values may be secrets. */
  readonly headers?: GivenHeaders;
  /**
   * How its prompt cache is used. "marks": tools, instructions and what comes again of the conversation end with Anthropic's
   * `cacheControl`. "key": calls of one conversation have the same `promptCacheKey` of OpenAI. "none": nothing is said of it.
   * By the package unless said: "marks" for Anthropic's, "key" for OpenAI's, "none" for every other.
   */
  readonly promptCache?: PromptCaching;
  /** Told what the provider could not do as it was asked, each once. A warning of the process unless said. */
  readonly onWarning?: OnWarning;
}

const described = ["accepts", "toolCalls", "structuredOutput", "prices", "contextWindow", "maxOutputTokens"] as const;
const own = ["settings", "headers", "promptCache", "onWarning"];

export function checkOptions(model: AiSdkModel, options: AiSdkOptions): void {
  const problems = new Problems(options, [...described, ...own]);
  const wrong = aiSdkProblem(model);
  if (wrong) problems.add(`model: ${wrong}`);
  for (const problem of descriptionProblems(descriptionIn(options))) problems.add(problem);
  problems.oneOf("promptCache", promptCaches);
  problems.optional("onWarning", isFunction, "must be a function of a text");
  const { settings, headers } = options ?? {};
  if (settings !== undefined && !wrong) {
    for (const problem of settingsProblems(settings, model.specificationVersion)) problems.add(`settings.${problem}`);
  }
  for (const problem of headerProblems(headers)) problems.add(problem);
  problems.refuse("invalid-options", "This AI SDK model cannot be used");
}

/** Every model of the AI SDK may be offered tools, unless somebody knows better. */
export function describe({ provider, modelId }: AiSdkModel, options: AiSdkOptions): ModelDescription {
  return { provider, model: modelId, toolCalls: true, ...descriptionIn(options) };
}

function descriptionIn(options: AiSdkOptions): Omit<ModelDescription, "provider" | "model"> {
  const given = described.filter((name) => options?.[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}
