/**
 * What a model of the AI SDK streams, as our parts. Total: each type of part has its rule, and what is not known is said.
 *
 * R1 No tool is run by anybody but the engine: a call that the provider ran itself, its result or its wish for approval
 *    refuses the reply.
 * R2 A call is passed on only whole, as the `tool-call` that says so.
 * R3 An error in the stream fails the call, whatever comes after it.
 * R4 A call without a complete input counts only in a reply that was finished: packages give out what has come of a call
 *    when the stream ends early.
 */
import type { ModelPart } from "../../ports/provider.ts";
import { type Fields, recordIn, textIn } from "../shared/fields.ts";
import { alive } from "./alive.ts";
import { createBlocks } from "./blocks.ts";
import { openCalls } from "./calls.ts";
import type { Failures } from "./failures.ts";
import { fileOf } from "./files.ts";
import { finishOf } from "./finish.ts";
import { openTexts } from "./texts.ts";
import type { Warnings } from "./warnings.ts";

export interface Reply {
  /** One part of theirs; anything may come. The last part of ours is a finish. */
  take(part: unknown): readonly ModelPart[];
}

interface ReplyRules {
  /** The key under which parts keep what this provider wants back. */
  readonly provider: string;
  readonly failures: Failures;
  readonly warnings: Warnings;
}

export function openReply({ provider, failures, warnings }: ReplyRules): Reply {
  const blocks = createBlocks();
  const texts = openTexts(provider, blocks, failures);
  const calls = openCalls(provider, blocks, failures);
  let files = 0;

  function finished(finish: ModelPart): readonly ModelPart[] {
    return [...calls.end(), ...blocks.end(), finish];
  }

  /** In its place among the texts that are being written. */
  function takeFile(fields: Fields): readonly ModelPart[] {
    files += 1;
    const key = `file:${files}`;
    blocks.open(key);
    return [...blocks.add(key, fileOf(fields, provider, failures)), ...blocks.close(key)];
  }

  function takeText(type: string, fields: Fields): readonly ModelPart[] | undefined {
    switch (type) {
      case "text-start":
      case "reasoning-start":
      case "text-delta":
      case "reasoning-delta":
      case "text-end":
      case "reasoning-end":
        return texts.take(type, fields);
      case "custom":
        return texts.custom(fields);
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-call":
        return calls.take(type, fields);
      default:
        return undefined;
    }
  }

  function takeEnd(type: string, fields: Fields): readonly ModelPart[] | undefined {
    switch (type) {
      case "tool-result":
      case "tool-approval-request":
        throw failures.ranItself(textIn(fields.toolName)); // R1
      case "file":
        return takeFile(fields);
      case "error":
        throw failures.of(fields.error, "during"); // R3
      case "finish":
        return finished(finishOf(fields, { calls: calls.count, failures }));
      default:
        return undefined;
    }
  }

  return {
    take(part) {
      const { type, ...fields } = recordIn(part);
      if (typeof type !== "string") throw failures.malformed("a part without a type");
      const parts = takeText(type, fields) ?? takeEnd(type, fields) ?? takeNews(type, fields, warnings);
      return parts.length > 0 ? parts : alive; // what is held back is a sign of life too
    },
  };
}

/** What is no part of the answer. */
function takeNews(type: string, fields: Fields, warnings: Warnings): readonly ModelPart[] {
  switch (type) {
    case "stream-start":
      warnings.take(fields.warnings);
      return alive;
    case "tool-input-end":
    case "response-metadata":
    case "source":
    case "reasoning-file":
    case "raw":
    case "ping":
      return alive;
    default:
      warnings.say(`it sent a part of the unknown type ${type.slice(0, 50)}, which is not kept`);
      return alive;
  }
}
