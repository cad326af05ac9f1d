/** What a server says of a reply, chunk by chunk, as parts. Also reads a reply that came whole. */
import type { FinishReason } from "../../domain/entry.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PartMetadata } from "../../domain/message.ts";
import type { Usage } from "../../domain/run.ts";
import type { ModelPart } from "../../ports/provider.ts";
import { type Fields, isRecord, listIn, recordIn, textIn } from "../shared/fields.ts";
import { createCallPieces } from "./call-pieces.ts";
import type { Failures } from "./failures.ts";
import { createReasoningDetails } from "./reasoning-details.ts";
import { usageIn } from "./usage.ts";

export interface Answer {
  take(chunk: unknown): readonly ModelPart[];
  /** The stream is over: the rest, and how it finished. */
  end(): readonly ModelPart[];
  /** The server has said why it stopped: what is lost after that is not missed. */
  readonly isFinished: boolean;
}

/** Where vendors put the model's thoughts. */
const reasoningFields = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

export function openAnswer(keptAs: string, failures: Failures): Answer {
  const calls = createCallPieces(keptAs);
  const details = createReasoningDetails();
  let word: string | undefined;
  let usage: Usage | undefined;
  let refused = false;

  function takeChoice(choice: Fields): readonly ModelPart[] {
    const { delta, message, finish_reason } = choice;
    const said = isRecord(delta) ? delta : recordIn(message);
    const refusal = textIn(said.refusal);
    refused ||= refusal !== "";
    word = textIn(finish_reason) || word;
    details.take(listIn(said.reasoning_details));
    return [
      ...reasoningIn(said, keptAs),
      ...contentIn(said.content, keptAs),
      ...imagesIn(said.images),
      ...(refusal === "" ? [] : [{ type: "text-delta" as const, text: refusal }]),
      ...calls.take(listIn(said.tool_calls)),
      ...(!refused && isSuccess(finish_reason) ? calls.finished() : []),
    ];
  }

  return {
    get isFinished() {
      return word !== undefined;
    },
    take(chunk) {
      if (!isRecord(chunk)) throw failures.malformed("a chunk that is no object");
      if (chunk.error !== undefined && chunk.error !== null) throw failures.inStream(chunk);
      usage = usageIn(chunk) ?? usage;
      const choices = listIn(chunk.choices).filter(isRecord);
      return choices.filter(({ index = 0 }) => index === 0).flatMap(takeChoice);
    },
    end() {
      const reason = finishReason(word, { refused, calls: calls.count }, failures);
      const kept = details.list();
      const metadata = { [keptAs]: { details: kept } };
      return [
        ...(kept.length === 0 ? [] : [{ type: "reasoning-delta" as const, text: "", begins: true, metadata }]),
        ...calls.end(),
        { type: "finish", reason, ...(usage ? { usage } : {}) },
      ];
    },
  };
}

function reasoningIn(said: Fields, keptAs: string): readonly ModelPart[] {
  for (const field of reasoningFields) {
    const text = textIn(said[field]);
    if (text !== "") return [reasoning(text, { [keptAs]: { field } })];
  }
  return [];
}

function reasoning(text: string, metadata: PartMetadata): ModelPart {
  return { type: "reasoning-delta", text, metadata };
}

/** Text, or a list of parts, in which some vendors also put thoughts. */
function contentIn(content: unknown, keptAs: string): readonly ModelPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text-delta", text: content }];
  return listIn(content).flatMap((part): readonly ModelPart[] => {
    const { type, text, thinking } = recordIn(part);
    if (type === "text") return [{ type: "text-delta", text: textIn(text) }];
    if (type !== "thinking") return [];
    const words = listIn(thinking).map((each) => textIn(recordIn(each).text));
    return [reasoning(words.join(""), { [keptAs]: {} as JsonObject })];
  });
}

/** Where gateways put the images that a model has made: OpenAI's own chat completions have no place for them. */
function imagesIn(images: unknown): readonly ModelPart[] {
  return listIn(images).flatMap((image): readonly ModelPart[] => {
    const { image_url } = recordIn(image);
    const url = textIn(image_url) || textIn(recordIn(image_url).url);
    if (url === "") return [];
    const [, mediaType = "image/png"] = /^data:([^;,]+)/i.exec(url) ?? [];
    return [{ type: "file", mediaType, url }];
  });
}

/** Every word that servers are known to use. */
const finishWords: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  end_turn: "stop",
  eos: "stop",
  eos_token: "stop",
  stop_sequence: "stop",
  complete: "stop",
  tool_calls: "tool-calls",
  tool_use: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  content_filter: "content-filter",
  safety: "content-filter",
  refusal: "content-filter",
};

/** The reply is at its end, also when its count, or [DONE], never comes. */
function isSuccess(word: unknown): boolean {
  const reason = finishWords[textIn(word).toLowerCase()];
  return reason === "tool-calls" || reason === "stop";
}

const failedWords = ["error", "abort", "cancelled", "network_error"];
const busyWords = ["insufficient_system_resource", "overloaded"];

/** Total: a word that nobody knows is `other`, which is no success. */
function finishReason(
  word: string | undefined,
  reply: { readonly refused: boolean; readonly calls: number },
  failures: Failures,
): FinishReason {
  if (word === undefined) return "other";
  const lower = word.toLowerCase();
  if (busyWords.includes(lower)) throw failures.busy(word);
  if (failedWords.includes(lower)) throw failures.brokenOff(word);
  const reason = Object.hasOwn(finishWords, lower) ? (finishWords[lower] as FinishReason) : "other";
  if (reply.refused && reason === "stop") return "content-filter";
  return reason === "stop" && reply.calls > 0 ? "tool-calls" : reason;
}
