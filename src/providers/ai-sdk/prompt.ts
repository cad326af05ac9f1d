/**
 * Our messages as a prompt of the AI SDK. Pure: the same messages give the same prompt, so providers can cache it.
 *
 * Q1 What a provider wanted back goes to that provider as it came, and to no other.
 * Q2 Every part has a place or is refused by name; nothing is lost on the way but another provider's thoughts.
 */
import { HoldfastError } from "../../domain/errors.ts";
import { type CallResult, type Message, type Part, type PartMetadata, textOf } from "../../domain/message.ts";
import { mark } from "./cache.ts";
import type { CallIds } from "./call-ids.ts";
import { type FileRules, promptFile } from "./files.ts";
import { keptCustom } from "./kept.ts";
import type {
  AssistantPart,
  DataV3,
  DataV4,
  PromptFile,
  PromptMessage,
  PromptResult,
  PromptText,
  ProviderOptions,
} from "./types.ts";

type Data = DataV3 | DataV4;

export interface PromptRules {
  /** The key under which parts keep what this provider wants back. */
  readonly provider: string;
  readonly ids: CallIds;
  readonly files: FileRules;
  /** Messages whose end is marked for the cache; with them, the end of the instructions is. */
  readonly marks?: ReadonlySet<number> | undefined;
}

export function promptOf(
  instructions: string,
  messages: readonly Message[],
  rules: PromptRules,
): PromptMessage<Data>[] {
  const prompt: PromptMessage<Data>[] = instructions === "" ? [] : [{ role: "system", content: instructions }];
  if (rules.marks) mark(prompt.at(-1));
  for (const [at, message] of messages.entries()) {
    add(prompt, message, rules);
    if (rules.marks?.has(at)) mark(prompt.at(-1));
  }
  return prompt;
}

function add(prompt: PromptMessage<Data>[], message: Message, rules: PromptRules): void {
  switch (message.role) {
    case "system":
      return addSystem(prompt, textOf(message));
    case "user": {
      const content = message.parts.flatMap((part) => userPart(part, rules));
      if (content.length > 0) prompt.push({ role: "user", content });
      return;
    }
    case "assistant": {
      const content = message.parts.flatMap((part) => assistantPart(part, rules));
      if (content.length > 0) prompt.push({ role: "assistant", content });
      return;
    }
    case "tool":
      return addResults(
        prompt,
        message.parts.flatMap((part) => resultPart(part, rules)),
      );
    default:
      return message.role satisfies never;
  }
}

/** Many providers take system messages at the beginning only. A later one goes where it belongs, marked for what it is. */
function addSystem(prompt: PromptMessage<Data>[], text: string): void {
  if (text === "") return;
  if (prompt.every(({ role }) => role === "system")) prompt.push({ role: "system", content: text });
  else prompt.push({ role: "user", content: [{ type: "text", text: `<system>\n${text}\n</system>` }] });
}

/** Results of one reply's calls belong together. */
function addResults(prompt: PromptMessage<Data>[], results: PromptResult[]): void {
  const last = prompt.at(-1);
  if (last?.role === "tool") last.content.push(...results);
  else if (results.length > 0) prompt.push({ role: "tool", content: results });
}

function userPart(part: Part, { files }: PromptRules): (PromptText | PromptFile<Data>)[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "data":
      return [{ type: "text", text: `${part.name}: ${JSON.stringify(part.data)}` }];
    case "image":
    case "file":
      return [promptFile(part, files)];
    case "reasoning":
    case "tool-call":
    case "tool-result":
      throw misplaced(part.type, "user");
    default:
      return part satisfies never;
  }
}

function assistantPart(part: Part, rules: PromptRules): AssistantPart<Data>[] {
  const { provider, ids } = rules;
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text, ...ownOptions(part.metadata, provider) }];
    case "reasoning":
      return reasoning(part.text, part.metadata?.[provider], rules);
    case "tool-call": {
      const { call, tool, metadata } = part;
      const named = { toolCallId: ids(call), toolName: tool };
      return [{ type: "tool-call", ...named, input: inputOf(part.input), ...ownOptions(metadata, provider) }];
    }
    case "file":
      return [{ ...promptFile(part, rules.files), ...ownOptions(part.metadata, provider) }];
    case "data":
    case "image":
      return userPart(part, rules);
    case "tool-result":
      throw misplaced(part.type, "assistant");
    default:
      return part satisfies never;
  }
}

/** Q1. Thoughts without a mark of this provider are another's, and mean nothing here. */
function reasoning(text: string, own: PartMetadata[string] | undefined, rules: PromptRules): AssistantPart<Data>[] {
  if (!own) return [];
  const custom = keptCustom(own);
  if (custom) return rules.files.version === "v4" ? [custom] : [];
  const isEmpty = text === "" && Object.keys(own).length === 0;
  return isEmpty ? [] : [{ type: "reasoning", text, ...options(own) }];
}

function ownOptions(metadata: PartMetadata | undefined, provider: string): { providerOptions?: ProviderOptions } {
  return options(metadata?.[provider] ?? {});
}

function options(own: PartMetadata[string]): { providerOptions?: ProviderOptions } {
  return Object.keys(own).length === 0 ? {} : { providerOptions: own as ProviderOptions };
}

/** Providers want an object. What is none, or no JSON, is shown to the model as it was, and not as if it had fitted. */
function inputOf(input: Extract<Part, { type: "tool-call" }>["input"]): unknown {
  if (input.kind === "text") return { rawInvalidInput: input.text };
  const { value } = input;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? value : { rawInvalidInput: value };
}

function resultPart(part: Part, { ids }: PromptRules): PromptResult[] {
  if (part.type !== "tool-result") throw misplaced(part.type, "tool");
  return [{ type: "tool-result", toolCallId: ids(part.call), toolName: part.tool, output: outputOf(part.result) }];
}

function outputOf(result: CallResult): PromptResult["output"] {
  if (result.kind === "error") return { type: "error-text", value: `Error (${result.code}): ${result.message}` };
  if (result.say !== undefined) return { type: "text", value: result.say };
  const { value } = result;
  return typeof value === "string" ? { type: "text", value } : { type: "json", value };
}

/** Q2. */
function misplaced(type: Part["type"], role: Message["role"]): HoldfastError {
  return new HoldfastError("model-refused", `A message of the role ${role} cannot hold a part of the type ${type}`);
}
