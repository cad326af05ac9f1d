/** A model of the AI SDK as one of ours; anything else as it is. What is wrong with one is told where models are checked. */
import { type AiSdkModel, aiSdkProblem, looksLikeAiSdk } from "../../domain/ai-sdk-model.ts";
import { fromAiSdk } from "./from-ai-sdk.ts";

export function adoptAiSdk(given: unknown): unknown {
  const isAiSdk = looksLikeAiSdk(given) && aiSdkProblem(given) === undefined;
  return isAiSdk ? fromAiSdk(given as AiSdkModel) : given;
}
