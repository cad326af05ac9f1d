/** The body of a chat completions request. */
import { HoldfastError } from "../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { ModelDescription } from "../../domain/model.ts";
import { present } from "../../domain/present.ts";
import type { ModelRequest, ModelTool } from "../../ports/provider.ts";
import { withMarks } from "./cache-marks.ts";
import { callNames } from "./call-names.ts";
import { cachingOf, keptAs, type OpenAiCompatibleOptions, settingsProblem } from "./options.ts";
import { wireMessages } from "./wire-messages.ts";

export function wireRequest(
  request: ModelRequest,
  options: OpenAiCompatibleOptions,
  description: ModelDescription,
): JsonObject {
  const { maxTokensField = "max_tokens", countTokens = true, returnReasoning = true } = options;
  const limit = request.maxOutputTokens ?? description.maxOutputTokens;
  const how = { keptAs: keptAs(options), returnReasoning, names: callNames(request.messages) };
  const caching = cachingOf(options);
  const conversation = {
    system: request.instructions === "" ? [] : [{ role: "system", content: request.instructions }],
    messages: wireMessages(request.messages, how),
  };
  return {
    ...(caching === "key" && request.cache ? { prompt_cache_key: request.cache.key } : {}),
    ...options.settings,
    ...named(request),
    ...checkedSettings(request, description),
    model: options.model,
    messages:
      caching === "marks"
        ? withMarks(conversation, request)
        : [...conversation.system, ...conversation.messages.flat()],
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(wireTool) }),
    ...(request.output && description.structuredOutput ? { response_format: format(request.output.schema) } : {}),
    ...(limit === undefined ? {} : { [maxTokensField]: limit }),
    stream: true,
    ...(countTokens ? { stream_options: { include_usage: true } } : {}),
  };
}

/** What every model can be told, by the names that these servers have for it. */
function named({ temperature, topP, reasoningEffort }: ModelRequest): JsonObject {
  return present({ temperature, top_p: topP, reasoning_effort: reasoningEffort }) as JsonObject;
}

/** Runs and plugins set them for one call. */
function checkedSettings({ settings }: ModelRequest, { provider, model }: ModelDescription): JsonObject {
  if (settings === undefined) return {};
  const problem = settingsProblem(settings);
  if (!problem) return settings;
  throw new HoldfastError("model-refused", `A call of ${provider}/${model} cannot be made: settings${problem}`);
}

function wireTool({ name, description, inputSchema }: ModelTool): JsonObject {
  return { type: "function", function: { name, description, parameters: inputSchema } };
}

function format(schema: JsonObject): JsonObject {
  return { type: "json_schema", json_schema: { name: "output", schema, strict: isStrict(schema) } };
}

/** Servers bind the answer to a schema strictly only if every object in it is closed and needs all that it names. */
export function isStrict(schema: JsonValue): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== "object" || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as { [key: string]: JsonValue | undefined };
  if (type === "object" || properties !== undefined) {
    const names = Object.keys((properties ?? {}) as object);
    const needed = Array.isArray(required) ? required : [];
    if (additionalProperties !== false || !names.every((name) => needed.includes(name))) return false;
  }
  return Object.values(schema).every(isStrict);
}
