/** What every model can be told, by the AI SDK's names for it. */
import type { AiSdkModel } from "../../domain/ai-sdk-model.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Overrides } from "../../domain/overrides.ts";
import { present } from "../../domain/present.ts";
import { settingsProblems } from "./settings.ts";

type Asked = Pick<Overrides, "temperature" | "topP" | "reasoningEffort" | "settings">;

/** What of it the model could not be called with, in words that begin with the field. */
export function askedProblems({ settings, reasoningEffort }: Asked, model: AiSdkModel): readonly string[] {
  const wrong = settings ? settingsProblems(settings, model.specificationVersion) : [];
  return [
    ...wrong.map((problem) => `settings.${problem}`),
    ...(reasoningEffort !== undefined && !reasoningOf(reasoningEffort, model)
      ? [`reasoningEffort: ${model.provider} of specification v3 has no name for it here; use settings.providerOptions`]
      : []),
  ];
}

export function namedSettings({ temperature, topP, reasoningEffort }: Asked, model: AiSdkModel): JsonObject {
  const reasoning = reasoningEffort === undefined ? {} : reasoningOf(reasoningEffort, model);
  return { ...(present({ temperature, topP }) as JsonObject), ...reasoning };
}

/** Specification v4 has a name for it; of v3 only the vendors that are known here do. */
function reasoningOf(effort: string, { specificationVersion, provider }: AiSdkModel): JsonObject | undefined {
  if (specificationVersion === "v4") return { reasoning: effort };
  const [vendor = ""] = provider.split(".");
  return vendor === "openai" ? { providerOptions: { openai: { reasoningEffort: effort } } } : undefined;
}
