/** Language models of the AI SDK, told by their shape: no package of theirs is needed to take one. */
import { carries } from "./json.ts";

/** What is asked of one; how it is called is the adapter's matter. `anthropic("…")` and `openai("…")` give such objects. */
export interface AiSdkModel {
  readonly specificationVersion: "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<unknown>;
}

const versions: readonly unknown[] = ["v3", "v4"];

/** Whether somebody means one, however wrong it is. */
export function looksLikeAiSdk(value: unknown): boolean {
  return ["specificationVersion", "doStream", "doGenerate"].some((key) => has(value, key));
}

/** What is wrong with one, in words; undefined when it can be called. */
export function aiSdkProblem(value: unknown): string | undefined {
  if (typeof value === "function") return "is a function; an AI SDK provider gives a model when called with a name";
  const version = read(value, "specificationVersion");
  if (!versions.includes(version)) {
    return `is of the AI SDK specification ${said(version)}; v3 and v4 are known, so install a provider of AI SDK 6 or 7`;
  }
  if (typeof read(value, "doStream") !== "function")
    return "is an AI SDK model without doStream, so nothing can call it";
  const names = [read(value, "provider"), read(value, "modelId")];
  const isNamed = names.every((name) => typeof name === "string" && name !== "");
  return isNamed ? undefined : "is an AI SDK model without provider or modelId";
}

function said(version: unknown): string {
  return typeof version === "string" ? JSON.stringify(version.slice(0, 20)) : "that it does not name";
}

function has(value: unknown, key: string): boolean {
  return typeof value === "function" ? key in value : carries(value, key);
}

/** A getter of foreign code may throw; then it has said nothing. */
function read(value: unknown, key: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  } catch {
    return undefined;
  }
}
