/** What a call can be told besides the conversation, by the AI SDK's names. Everything wrong is named at once. */
import { type JsonObject, toJson } from "../../domain/json.ts";
import { Problems } from "../../domain/problems.ts";
import { isRecord } from "../shared/fields.ts";
import { headerProblems } from "../shared/headers.ts";
import { type CallSettings, reasoningLevels, type SpecificationVersion, type ToolChoice } from "./types.ts";

const numbers = ["temperature", "topP", "topK", "presencePenalty", "frequencyPenalty", "seed"] as const;
const names = [...numbers, "stopSequences", "toolChoice", "reasoning", "headers", "providerOptions"];

const isText = (value: unknown): boolean => typeof value === "string";

export function settingsProblems(settings: unknown, version: SpecificationVersion): readonly string[] {
  const json = toJson(settings);
  if (!json.ok) return [`${json.problem} at ${json.path}`];
  const problems = new Problems(settings, names);
  for (const name of numbers) problems.optional(name, Number.isFinite, "must be a number");
  problems.optional("stopSequences", (list) => Array.isArray(list) && list.every(isText), "must be a list of texts");
  problems.optional("toolChoice", isToolChoice, 'must be "auto", "none", "required" or { type: "tool", toolName }');
  problems.oneOf("reasoning", reasoningLevels);
  for (const problem of headerProblems(isRecord(settings) ? settings.headers : undefined)) problems.add(problem);
  problems.optional(
    "providerOptions",
    (value) => isRecord(value) && Object.values(value).every(isRecord),
    "must be an object of objects by provider, such as { anthropic: { … } }",
  );
  if (version === "v3" && isRecord(settings) && settings.reasoning !== undefined) {
    problems.add("reasoning: a model of specification v3 does not know it; use providerOptions");
  }
  return problems.found;
}

function isToolChoice(choice: unknown): boolean {
  if (!isRecord(choice)) return ["auto", "none", "required"].includes(choice as string);
  const { type, toolName } = choice;
  return type === "tool" ? isText(toolName) : ["auto", "none", "required"].includes(type as string);
}

/** Later ones count; headers and provider options field by field. Only of settings that have no problem. */
export function mergedSettings(all: readonly (JsonObject | undefined)[]): CallSettings {
  const merged: CallSettings = {};
  for (const settings of all) {
    const { headers, providerOptions, toolChoice, ...rest } = (settings ?? {}) as CallSettings;
    Object.assign(merged, rest);
    if (toolChoice !== undefined) merged.toolChoice = choiceOf(toolChoice);
    if (headers) merged.headers = { ...merged.headers, ...headers };
    for (const [provider, options] of Object.entries(providerOptions ?? {})) {
      const before = merged.providerOptions?.[provider];
      merged.providerOptions = { ...merged.providerOptions, [provider]: { ...before, ...options } };
    }
  }
  return merged;
}

function choiceOf(choice: ToolChoice | string): ToolChoice {
  return typeof choice === "string" ? { type: choice as "auto" | "none" | "required" } : choice;
}
