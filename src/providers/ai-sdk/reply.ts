/**
 * What a model of the AI SDK streams, as our parts. Total: each type of part has its rule, and what is not known is said.
 *
 * R1 No tool is run by anybody but the engine: a call that the provider ran itself, its result or its wish for approval
 *    refuses the reply.
 * R2 A call is passed on only whole, as the `tool-call` that says so.
 * R3 An error in the stream fails the call, whatever comes after it.
 */
import type { ModelPart } from "../../ports/provider.ts";
import { createBlocks } from "./blocks.ts";
import type { Failures } from "./failures.ts";
import { finishOf } from "./finish.ts";
import { isRecord, kept, keptAsCustom } from "./kept.ts";
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

type Fields = Readonly<Record<string, unknown>>;

const alive: readonly ModelPart[] = [{ type: "ping" }];

export function openReply(rules: ReplyRules): Reply {
  const { failures, warnings } = rules;
  const texts = openTexts(rules);
  const calls = openCalls(rules, texts);
  return {
    take(part) {
      const { type, ...fields } = (isRecord(part) ? part : {}) as Fields;
      if (typeof type !== "string") throw failures.malformed("a part without a type");
      switch (type) {
        case "text-start":
        case "reasoning-start":
        case "text-delta":
        case "reasoning-delta":
        case "text-end":
        case "reasoning-end":
          return texts.take(type, fields);
        case "tool-input-start":
        case "tool-input-delta":
        case "tool-call":
          return calls.take(type, fields);
        case "tool-result":
        case "tool-approval-request":
          throw failures.ranItself(textIn(fields.toolName)); // R1
        case "custom":
          return texts.custom(fields);
        case "file":
          throw failures.refused(
            `answered with a file (${textIn(fields.mediaType)}), which cannot be kept; ask for text`,
          );
        case "error":
          throw failures.of(fields.error, "during"); // R3
        case "finish":
          return [...texts.end(), finishOf(fields, { calls: calls.count(), failures })];
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
    },
  };
}

interface Texts {
  take(type: string, fields: Fields): readonly ModelPart[];
  custom(fields: Fields): readonly ModelPart[];
  /** A call, in its place among the texts. */
  openCall(key: string): void;
  closeCall(key: string, part: ModelPart): readonly ModelPart[];
  end(): readonly ModelPart[];
}

function openTexts({ provider, failures }: ReplyRules): Texts {
  const blocks = createBlocks();
  /** Texts that have begun, but have no words yet: they become a part with their first one. */
  const wordless = new Map<string, unknown>();
  let customs = 0;

  function start(key: string, type: string, metadata: unknown): readonly ModelPart[] {
    blocks.open(key);
    if (type === "text") {
      wordless.set(key, metadata);
      return alive;
    }
    const begun = { type: "reasoning-delta", text: "", begins: true, metadata: kept(provider, metadata) } as const;
    return blocks.add(key, begun);
  }

  function write(key: string, type: string, piece: { readonly text: string; readonly metadata: unknown }) {
    const { text, metadata } = piece;
    const begins = wordless.has(key);
    if (begins && text === "") {
      wordless.set(key, metadata ?? wordless.get(key));
      return alive;
    }
    const said = metadata ?? (begins ? wordless.get(key) : undefined);
    wordless.delete(key);
    if (text === "" && said === undefined) return alive;
    return blocks.add(key, {
      type: type === "text" ? "text-delta" : "reasoning-delta",
      text,
      ...(begins ? { begins: true } : {}),
      ...(begins || said !== undefined ? { metadata: kept(provider, said) } : {}),
    });
  }

  return {
    take(whole, fields) {
      const [type = "", verb] = whole.split("-");
      const { id, delta, providerMetadata: metadata } = fields;
      const key = `${type}:${String(id)}`;
      if (verb === "start") return start(key, type, metadata);
      if (verb === "delta" && typeof delta !== "string") throw failures.malformed(`a ${whole} without a delta`);
      const begun = blocks.isOpen(key) || verb === "end" ? [] : start(key, type, undefined);
      const written = blocks.isOpen(key)
        ? write(key, type, { text: verb === "delta" ? (delta as string) : "", metadata })
        : [];
      if (verb === "delta") return [...begun, ...written];
      wordless.delete(key);
      return [...written, ...blocks.close(key)];
    },
    custom({ kind, providerMetadata }) {
      customs += 1;
      const key = `custom:${customs}`;
      const metadata = keptAsCustom(provider, textIn(kind), providerMetadata);
      blocks.open(key);
      const parts = blocks.add(key, { type: "reasoning-delta", text: "", begins: true, metadata });
      return [...parts, ...blocks.close(key)];
    },
    openCall: (key) => blocks.open(key),
    closeCall: (key, part) => [...blocks.add(key, part), ...blocks.close(key)],
    end: () => blocks.end(),
  };
}

interface Calls {
  take(type: string, fields: Fields): readonly ModelPart[];
  count(): number;
}

function openCalls({ provider, failures }: ReplyRules, texts: Texts): Calls {
  /** By the provider's id; a call that is whole is forgotten, so that a second one of the same id is another. */
  const open = new Map<string, { readonly index: number; readonly tool: string }>();
  let begun = 0;
  let whole = 0;

  function begin(id: string, tool: string): { readonly index: number; readonly tool: string } {
    const call = { index: begun, tool };
    begun += 1;
    open.set(id, call);
    texts.openCall(`call:${call.index}`);
    return call;
  }

  function finish(fields: Fields): readonly ModelPart[] {
    const { toolCallId: id, toolName: tool, input, providerMetadata } = fields;
    const isCall = [id, tool, input].every((word) => typeof word === "string");
    if (!isCall) throw failures.malformed("a tool-call that lacks its id, name or input");
    const { index } = open.get(id as string) ?? begin(id as string, tool as string);
    open.delete(id as string);
    whole += 1;
    return texts.closeCall(`call:${index}`, {
      type: "tool-call",
      alias: id as string,
      tool: tool as string,
      // Of a tool without parameters many providers send nothing.
      inputText: (input as string).trim() === "" ? "{}" : (input as string),
      metadata: kept(provider, providerMetadata),
    });
  }

  return {
    take(type, fields) {
      if (fields.providerExecuted === true) throw failures.ranItself(textIn(fields.toolName)); // R1
      if (type === "tool-call") return finish(fields);
      const id = String(fields.id);
      const call = type === "tool-input-start" ? begin(id, textIn(fields.toolName)) : open.get(id);
      if (!call) return alive;
      return [{ type: "tool-input-delta", index: call.index, tool: call.tool, text: textIn(fields.delta) }];
    },
    count: () => whole,
  };
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
