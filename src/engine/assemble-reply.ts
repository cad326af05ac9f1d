/** From the parts that a provider yields to the parts of one message. A provider is foreign code: what it yields is checked. */
import type { FinishReason } from "../domain/entry.ts";
import { callId } from "../domain/ids.ts";
import { messageOf, shortened, toJson } from "../domain/json.ts";
import type { CallInput, Part, PartMetadata, ReasoningPart, TextPart } from "../domain/message.ts";
import { type PricedAnswerer, readAnsweredBy } from "../domain/model.ts";
import { readUsage, type Usage } from "../domain/run.ts";
import type { ModelPart } from "../ports/provider.ts";
import type { LivePlace } from "./live.ts";
import { fileProblem, type ReplyFiles } from "./reply-files.ts";

/** One reply with more calls would hold the process longer than a lease. */
const maxCalls = 256;

/** Text, reasoning and input together: several times what today's longest answers have. */
const maxCharacters = 4 * 1024 * 1024;

export interface Reply {
  readonly parts: readonly Part[];
  readonly finish: FinishReason;
  readonly usage?: Usage;
  readonly answeredBy?: PricedAnswerer;
}

export interface Assembly {
  /** Takes one part; answers what is wrong with it, if anything is. Throws at a file that cannot be kept. */
  add(part: ModelPart): string | undefined;
  /** The whole; undefined of a stream that has not come to its finish. */
  end(): Reply | undefined;
  /** What has come so far. */
  soFar(): readonly Part[];
}

export function openAssembly(place: Pick<LivePlace, "run" | "step">, files: ReplyFiles): Assembly {
  const parts: Part[] = [];
  let finish: Extract<ModelPart, { type: "finish" }> | undefined;
  let calls = 0;
  let characters = 0;
  return {
    add(part) {
      const problem = finish ? "a part after its finish" : problemOf(part);
      if (problem) return problem;
      characters += lengthOf(part);
      if (characters > maxCharacters) return `more than ${maxCharacters} characters in one reply`;
      switch (part.type) {
        case "finish":
          finish = part;
          return undefined;
        case "text-delta":
        case "reasoning-delta":
          addText(parts, part);
          return undefined;
        case "tool-call":
          if (calls === maxCalls) return `more than ${maxCalls} tool calls in one reply`;
          parts.push(callPart(part, callId(place.run, place.step, calls)));
          calls += 1;
          return undefined;
        case "file":
          parts.push(files.take(part));
          return undefined;
        case "tool-input-delta":
        case "ping":
          return undefined;
        default:
          return part satisfies never;
      }
    },
    end() {
      if (!finish) return undefined;
      const usage = readUsage(finish.usage);
      const answeredBy = readAnsweredBy(finish.answeredBy);
      return {
        parts: parts.map(wellFormed),
        finish: finish.reason,
        ...(usage ? { usage } : {}),
        ...(answeredBy ? { answeredBy } : {}),
      };
    },
    soFar: () => parts.map(whole),
  };
}

/** It says that it is whole, and has nothing in it that anybody could use. Thoughts are no answer. */
export function isEmpty({ parts, finish }: Reply): boolean {
  if (finish !== "stop" && finish !== "tool-calls") return false;
  return parts.every((part) => part.type === "reasoning" || (part.type === "text" && part.text.trim() === ""));
}

function lengthOf(part: ModelPart): number {
  if (part.type === "tool-call") return part.inputText.length;
  return part.type === "text-delta" || part.type === "reasoning-delta" ? part.text.length : 0;
}

const finishReasons: readonly string[] = [
  "stop",
  "tool-calls",
  "length",
  "content-filter",
  "error",
  "other",
] satisfies readonly FinishReason[];

function problemOf(part: ModelPart): string | undefined {
  switch (part?.type) {
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta":
      if (typeof part.text !== "string") return `a ${part.type} without text`;
      return part.type === "tool-input-delta" ? undefined : metadataProblem(part);
    case "tool-call": {
      const words = [part.tool, part.inputText, part.alias];
      if (!words.every((word) => typeof word === "string")) return "a tool-call that lacks text";
      return metadataProblem(part);
    }
    case "file":
      return fileProblem(part) ?? metadataProblem(part);
    case "ping":
      return undefined;
    case "finish":
      return finishReasons.includes(part.reason) ? undefined : `the finish reason ${messageOf(part.reason)}`;
    default:
      return `a part of the unknown type ${messageOf((part as { type?: unknown } | null)?.type)}`;
  }
}

/** It is stored: what is no JSON, or too large, would lose the whole message later. */
function metadataProblem({
  type,
  metadata,
}: {
  readonly type: string;
  readonly metadata?: unknown;
}): string | undefined {
  if (metadata === undefined) return undefined;
  const json = toJson(metadata);
  if (!json.ok) return `a ${type} whose metadata cannot be kept (${json.problem} at ${json.path})`;
  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
  const isKeyed = isObject(metadata) && Object.values(metadata as object).every(isObject);
  return isKeyed ? undefined : `a ${type} whose metadata is not an object of objects by provider`;
}

type TextDelta = Extract<ModelPart, { type: "text-delta" | "reasoning-delta" }>;

function addText(parts: Part[], delta: TextDelta): void {
  const type = delta.type === "text-delta" ? "text" : "reasoning";
  const last = parts.at(-1);
  const open = last?.type === type && !delta.begins ? last : undefined;
  const part = {
    ...(open ?? { type }),
    text: (open?.text ?? "") + delta.text,
    ...merged(open?.metadata, delta.metadata),
  } as TextPart | ReasoningPart;
  if (open) parts[parts.length - 1] = part;
  else parts.push(part);
}

function merged(before: PartMetadata | undefined, more: PartMetadata | undefined): { metadata?: PartMetadata } {
  if (!more) return {};
  const all: Record<string, PartMetadata[string]> = { ...before };
  for (const [provider, data] of Object.entries(more)) all[provider] = { ...all[provider], ...data };
  return { metadata: all };
}

function callPart(part: Extract<ModelPart, { type: "tool-call" }>, call: ReturnType<typeof callId>): Part {
  const { tool, alias, inputText } = part;
  return { type: "tool-call", call, tool, input: readInput(inputText), alias, ...merged(undefined, part.metadata) };
}

/** Raw JSON as written. What is not JSON, or not storable, is kept as text with the reason: never repaired. */
function readInput(text: string): CallInput {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    return { kind: "text", text: shortened(text), problem: messageOf(cause) };
  }
  const json = toJson(parsed);
  if (json.ok) return { kind: "json", value: json.value };
  return { kind: "text", text: "", problem: `${json.problem} at ${json.path}` };
}

/** A text that broke off may end with half a character. */
function whole(part: Part): Part {
  const isText = part.type === "text" || part.type === "reasoning";
  return wellFormed(isText ? { ...part, text: part.text.replace(/[\uD800-\uDBFF]$/, "") } : part);
}

/** Only of the whole: a stream may cut a pair of surrogates in two. */
function wellFormed(part: Part): Part {
  if (part.type === "text" || part.type === "reasoning") return { ...part, text: part.text.toWellFormed() };
  if (part.type !== "tool-call") return part;
  return { ...part, tool: shortened(part.tool), ...(part.alias ? { alias: shortened(part.alias) } : {}) };
}
